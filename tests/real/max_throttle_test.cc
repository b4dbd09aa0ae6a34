// The largest number of streams on a disk whose rate is known, because the kernel holds it there: a loop device
// with direct I/O below it, throttled by its control group (v1). The number that is found has to be what
// division gives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cli/harness.h"
#include "real/throttled_disk.h"

namespace streamsim::tests {
namespace {

/// A DPX format whose streams need a good 8 MB a second.
constexpr int kWidth = 512;
constexpr int kHeight = 166;
constexpr double kStreamBytesPerS = (8192.0 + 4.0 * kWidth * kHeight) * 24;

class ThrottledMax : public ::testing::TestWithParam<double> {};

TEST_P(ThrottledMax, IsWhatDivisionGives) {
    if (const auto reason = no_throttled_disk_because()) GTEST_SKIP() << *reason;
    const ThrottledDisk disk;
    ASSERT_EQ(disk.problem(), "");
    Json format = read_json(STREAMSIM_SOURCE_DIR "/formats/media/dpx10.json");
    format["name"] = "throttled";
    format["raster"] = {{"width", kWidth}, {"height", kHeight}};
    const TempDir place;
    write_text(place / "format.json", format.dump());
    disk.throttle(static_cast<std::uint64_t>(GetParam() * kStreamBytesPerS));
    const Finished done =
        disk.streamsim({"max", "--format", place / "format.json", "--duration", "5s", "--clip-duration", "5s",
                        "--confirm", "15s", "--json", place / "max.json", disk.path()});
    EXPECT_EQ(done.exit_code, 0) << done.text();
    const Json found = read_json(place / "max.json")["formats"][0];
    EXPECT_NEAR(found["streams"].get<double>(), std::floor(GetParam()), 1) << done.text();
    EXPECT_EQ(found["fails_at"], found["streams"].get<int>() + 1);
    EXPECT_EQ(found["confirmed"], true);
    EXPECT_EQ(found["at_least"], false);
}

INSTANTIATE_TEST_SUITE_P(Rates, ThrottledMax, ::testing::Values(1.5, 6.5, 13.5));

}  // namespace
}  // namespace streamsim::tests
