// `calibrate` on storage whose truth is known: a throttled disk, and a file system whose reads take planned
// times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cmath>
#include <filesystem>

#include "cli/harness.h"
#include "real/sink_mount.h"
#include "real/slow_mount.h"
#include "real/throttled_disk.h"

namespace streamsim::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A DPX format whose streams need a good 8 MB a second.
constexpr int kWidth = 512;
constexpr int kHeight = 166;
constexpr double kStreamBytesPerS = (8192.0 + 4.0 * kWidth * kHeight) * 24;

class Calibrate : public ::testing::Test {
protected:
    Calibrate() {
        Json format = read_json(STREAMSIM_SOURCE_DIR "/formats/media/dpx10.json");
        format["name"] = "small";
        format["raster"] = {{"width", kWidth}, {"height", kHeight}};
        write_text(place_ / "small.json", format.dump());
    }

    std::string model() const { return place_ / "model.json"; }
    std::string rows() const { return place_ / "model.measured.json"; }

    /// Brief probes, and a brief search for the held-back run.
    std::vector<std::string> words(const std::string& target,
                                   const std::vector<std::string>& more = {},
                                   const std::string& duration = "200ms") const {
        std::vector<std::string> all = {"calibrate",           target,       "-o",     model(),      "--format",
                                        place_ / "small.json", "--duration", duration, "--set-size", "64MiB",
                                        "--clip-duration",     "2s"};
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }

    const TempDir place_;
};

/// Nanoseconds of a time in a model document.
double time_of(const Json& number) {
    const std::string text = number["value"];
    EXPECT_THAT(text, HasSubstr("ns"));
    return std::stod(text);
}

/// Minutes each: for tools/test --all.
class CalibrateVariants : public Calibrate {};

TEST_F(CalibrateVariants, FindsTheRateOfAThrottledDisk) {
    if (const auto reason = no_throttled_disk_because()) GTEST_SKIP() << *reason;
    const ThrottledDisk disk;
    ASSERT_EQ(disk.problem(), "");
    constexpr double kStreams = 6.5;
    disk.throttle(static_cast<std::uint64_t>(kStreams * kStreamBytesPerS));
    const Finished done = disk.streamsim(words(disk.path(), {}, "1s"));
    EXPECT_EQ(done.exit_code, 0) << done.text();
    const Json document = read_json(model());
    const Json& check = document["calibration"]["held_back"];
    EXPECT_NEAR(check["streams_measured"].get<double>(), std::floor(kStreams), 1) << done.text();
    EXPECT_NEAR(check["predicted"].get<double>(), std::floor(kStreams), 1) << done.text();
    EXPECT_EQ(check["rejected"], false);
}

TEST_F(CalibrateVariants, FindsTheTimeOfAReadAndRejectsASlowerStorage) {
    if (const auto reason = no_slowfs_because()) GTEST_SKIP() << *reason;
    constexpr double kReadNs = 10e6;
    const SinkMount mount("blocks 1\ntimes 10ms*1\nrate 60000000\n");
    const Finished done = streamsim(words(mount.path()));
    ASSERT_EQ(done.exit_code, 0) << done.text();
    const Json document = read_json(model());
    // Its bytes take 17.5 ms at the rate.
    const double read_ns = time_of(document["node"]["response"]["median"]) +
                           time_of(document["drive"]["access"]["p50"]) +
                           1048576 *
                               (document["node"]["cpu_s_per_byte"]["value"].get<double>() +
                                8 / document["node"]["front_end"]["bits_per_s"]["value"].get<double>()) *
                               1e9;
    EXPECT_NEAR(read_ns, kReadNs + 17.5e6, 6e6) << done.text();
    mount.plan("blocks 1\ntimes 10ms*1\nrate 25000000\n");
    const Finished checked = streamsim(words(mount.path(), {"--check"}));
    EXPECT_EQ(checked.exit_code, 1) << checked.text();
    EXPECT_THAT(checked.out, HasSubstr("REJECTED"));
    EXPECT_EQ(read_json(model())["calibration"]["held_back"]["rejected"], true);
}

TEST_F(CalibrateVariants, GoesOnAfterAnInterruptAndOverwritesNothing) {
    if (const auto reason = no_slowfs_because()) GTEST_SKIP() << *reason;
    const SinkMount mount("blocks 1\ntimes 2ms*1\nrate 60000000\n");
    Spawn spawn;
    spawn.args = words(mount.path());
    {
        Process process(streamsim_binary(), spawn);
        while (process.running() && process.err_so_far().find("ladder-1:") == std::string::npos) sleep_ms(20);
        process.send(SIGINT);
        const Finished interrupted = process.wait();
        EXPECT_EQ(interrupted.exit_code, 130) << interrupted.text();
        EXPECT_THAT(interrupted.err, HasSubstr(rows()));
    }
    EXPECT_FALSE(std::filesystem::exists(model()));
    const std::size_t measured = read_json(rows())["rows"].size();
    EXPECT_GT(measured, 0u);
    const Finished done = run(streamsim_binary(), spawn);
    EXPECT_EQ(done.exit_code, 0) << done.text();
    EXPECT_THAT(done.err, HasSubstr("goes on from the " + std::to_string(measured) + " probes"));
    EXPECT_THAT(done.err, Not(HasSubstr("latency-4k")));
    const std::string text = read_text(model());
    const Finished again = run(streamsim_binary(), spawn);
    EXPECT_EQ(again.exit_code, 2) << again.text();
    EXPECT_THAT(again.err, HasSubstr(model() + ": is there already"));
    EXPECT_EQ(read_text(model()), text);
}

TEST_F(Calibrate, LeavesOutWhatWouldLoadTheStorageTooMuch) {
    if (const auto reason = no_slowfs_because()) GTEST_SKIP() << *reason;
    const SinkMount mount("blocks 1\ntimes 5ms*1\nrate 400000000\n");
    // One read in flight has 130 MB/s; many would have more than the limit.
    const Finished done = streamsim(words(mount.path(), {"--max-load", "60"}));
    EXPECT_THAT(done.err, HasSubstr("above 60 % of "));
    EXPECT_THAT(done.err, HasSubstr("left out (--yes does it)"));
    bool highest = false;
    for (const Json& row : read_json(rows())["rows"]) highest = highest || row["probe"]["id"] == "ladder-64";
    EXPECT_FALSE(highest) << done.text();
}

}  // namespace
}  // namespace streamsim::tests
