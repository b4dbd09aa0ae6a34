// Recorders in real time on storage that is slow or broken in ways that are known exactly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "cli/harness.h"
#include "real/sink_mount.h"
#include "real/slow_mount.h"

namespace streamsim::tests {
namespace {

using ::testing::IsEmpty;
namespace fs = std::filesystem;

constexpr std::uint64_t kFrameBytes = 8192 + 256 * 64 * 4;

/// Everything below a directory: what it is, how long, and what it holds.
std::map<std::string, std::string> tree_of(const std::string& root) {
    std::map<std::string, std::string> out;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
        std::ostringstream content;
        if (entry.is_regular_file() && entry.file_size() > 0)
            content << std::ifstream(entry.path(), std::ios::binary).rdbuf();
        out[entry.path().string()] = entry.is_directory() ? "a directory" : content.str();
    }
    return out;
}

class Record : public ::testing::Test {
protected:
    void SetUp() override {
        if (const auto reason = no_slowfs_because()) GTEST_SKIP() << *reason;
        write_text(results_ / "small.json", R"({"schema": "streamsim.media-format", "version": 1,
            "name": "small", "title": "small", "container": "sequence", "codec": "dpx",
            "raster": {"width": 256, "height": 64}, "rate": [24, 1],
            "dpx": {"bits": 10, "packing": "filled-a", "byte_order": "big", "image_offset": 8192},
            "sources": [{"what": "all", "basis": "as small as it goes"}]})");
    }

    std::vector<std::string> line(const std::string& target, const std::vector<std::string>& options) {
        std::vector<std::string> args = {"--format", results_ / "small.json", "--quiet", "--json",
                                         results_ / "result.json"};
        args.insert(args.end(), options.begin(), options.end());
        args.push_back(target);
        return args;
    }
    Json record(const std::string& target, const std::vector<std::string>& options) {
        finished_ = streamsim(line(target, options));
        EXPECT_TRUE(finished_.exit_code == 0 || finished_.exit_code == 1) << finished_.text();
        Json result = read_json(results_ / "result.json");
        EXPECT_THAT(result_problems(result), IsEmpty());
        EXPECT_EQ(finished_.exit_code, exit_code_of(result));
        return result;
    }

    TempDir results_;
    Finished finished_;
};

std::vector<std::uint64_t> slots_of(const Json& result, const std::string& kind, int error = 0) {
    std::vector<std::uint64_t> slots;
    for (const Json& drop : result["drops"]) {
        if (drop["kind"] == kind && drop["errno"] == error) slots.push_back(drop["frame"]);
    }
    return slots;
}

TEST_F(Record, AWriteThatHangsLosesWhatTheBufferCannotHold) {
    // One frame at once, ten a second. The frame of slot 15 takes 650 ms longer: slots 16 to 18 fill the
    // buffer; those 400, 500 and 600 ms after it find no place, and the one 700 ms after it does.
    SinkMount mount("write frame.0000016.dpx delay=650ms\n");
    const Json result = record(mount.path(), {"--record", "1", "--inflight", "1", "--readahead", "4", "--fps",
                                              "10", "--frames", "30"});
    EXPECT_THAT(slots_of(result, "dropped"), ::testing::ElementsAre(19, 20, 21)) << finished_.text();
    EXPECT_EQ(result["totals"]["frames_on_time"], 27);
    EXPECT_EQ(result["totals"]["bytes_written"], 27 * kFrameBytes);
    EXPECT_EQ(mount.count("create"), 27U);
    EXPECT_EQ(mount.count("remove"), 27U) << "recordings are removed after the run";
    EXPECT_THAT(tree_of(mount.path()), IsEmpty());
}

TEST_F(Record, ACreateAndAnFsyncAreOfTheFrame) {
    SinkMount mount("create frame.0000006.dpx delay=450ms\nfsync frame.0000016.dpx delay=450ms\n");
    const Json result = record(mount.path(), {"--record", "1", "--durable", "--inflight", "1", "--readahead",
                                              "2", "--fps", "10", "--frames", "24"});
    // The slow frame and the next one fill the buffer; those 200, 300 and 400 ms after it are lost.
    EXPECT_THAT(slots_of(result, "dropped"), ::testing::ElementsAre(7, 8, 9, 17, 18, 19)) << finished_.text();
    EXPECT_EQ(mount.count("fsync"), 18U);
    EXPECT_GE(result["streams"][0]["sync_ns"]["max"], 450'000'000);
}

TEST_F(Record, WithoutDurableNothingIsSynced) {
    SinkMount mount("");
    const Json result = record(mount.path(), {"--record", "2", "--frames", "24"});
    EXPECT_EQ(result["totals"]["frames_on_time"], 48);
    EXPECT_EQ(mount.count("fsync"), 0U);
}

TEST_F(Record, ErrorsAreFailedFramesAndTheNextOnesAreTried) {
    SinkMount mount(
        "write frame.0000020.dpx error=EIO\ncreate frame.0000022.dpx error=EACCES\n"
        "fsync frame.0000024.dpx error=EIO\n");
    const Json result = record(mount.path(), {"--record", "1", "--durable", "--frames", "48"});
    EXPECT_THAT(slots_of(result, "failed", EIO), ::testing::ElementsAre(19, 23));
    EXPECT_THAT(slots_of(result, "failed", EACCES), ::testing::ElementsAre(21));
    EXPECT_EQ(result["totals"]["frames_failed"], 3);
    EXPECT_EQ(result["totals"]["frames_on_time"], 45);
    EXPECT_EQ(finished_.exit_code, 1);
}

/// Starts a recording of 96 frames, sends SIGINT when `frames` of them were created or removed, and waits for
/// the end.
Finished interrupt_recording(const SinkMount& mount,
                             const std::vector<std::string>& args,
                             const std::string& verb,
                             std::size_t frames) {
    Spawn spawn;
    spawn.args = args;
    Process process(streamsim_binary(), spawn);
    while (process.running() && mount.count(verb) < frames) sleep_ms(5);
    EXPECT_TRUE(process.running()) << "it ended before it could be interrupted";
    process.send(SIGINT);
    return process.wait();
}

TEST_F(Record, AnInterruptedRemovalLeavesTheResultAndTheRestToClean) {
    for (const bool while_it_plays : {true, false}) {
        SinkMount mount("remove frame.* delay=30ms\n");  // 96 frames: 2.9 s
        const auto args =
            line(mount.path(), {"--record", "1", "--fps", "48", "--frames", "96", "--no-probes", "--yes"});
        const Finished finished =
            interrupt_recording(mount, args, while_it_plays ? "create" : "remove", while_it_plays ? 60 : 1);
        const Json result = read_json(results_ / "result.json");
        EXPECT_THAT(result_problems(result), IsEmpty());
        EXPECT_EQ(finished.exit_code, while_it_plays ? 130 : exit_code_of(result)) << finished.text();
        EXPECT_EQ(result["interrupted"], while_it_plays);
        EXPECT_GE(result["totals"]["frames_on_time"], while_it_plays ? 50 : 90);
        EXPECT_THAT(result["notices"].dump(), ::testing::HasSubstr("streamsim clean " + mount.path()));
        EXPECT_FALSE(tree_of(mount.path()).empty());
        EXPECT_EQ(streamsim({"clean", "--quiet", mount.path()}).exit_code, 0);
        EXPECT_THAT(tree_of(mount.path()), IsEmpty());
    }
}

/// FUSE has leases, which are renewed every 10 s. All frames would be removed in 29 s.
TEST_F(Record, ACleanThatHasLostItsLeaseRemovesNothingMore) {
    SinkMount mount("remove frame.* delay=300ms\n");
    record(mount.path(),
           {"--record", "1", "--fps", "48", "--frames", "96", "--no-probes", "--yes", "--keep-recordings"});
    Spawn spawn;
    spawn.args = {"clean", mount.path()};
    Process clean(streamsim_binary(), spawn);
    while (clean.running() && mount.count("remove") < 1) sleep_ms(5);
    std::vector<fs::path> leases;
    for (const auto& entry : fs::directory_iterator(mount.path() + "/streamsim-media")) {
        if (entry.path().extension() == ".lease") leases.push_back(entry.path());
    }
    ASSERT_EQ(leases.size(), 1U);
    fs::remove(leases.front());  // as another process does that takes it over
    const Finished finished = clean.wait();
    EXPECT_EQ(finished.exit_code, 3) << finished.text();
    EXPECT_THAT(finished.err, ::testing::HasSubstr("another process has taken over the lock"));
    EXPECT_LT(mount.count("remove"), 60U);
    EXPECT_TRUE(fs::exists(mount.path() + "/streamsim-media/recordings"));
}

TEST_F(Record, ARemovalThatHangsTakesNoResultWithIt) {
    SinkMount mount("remove frame.* delay=2500ms\n");
    const auto args =
        line(mount.path(), {"--record", "1", "--fps", "48", "--frames", "48", "--no-probes", "--yes"});
    const Finished finished = interrupt_recording(mount, args, "remove", 1);
    EXPECT_EQ(finished.exit_code, 130) << finished.text();
    const Json result = read_json(results_ / "result.json");
    EXPECT_EQ(result["interrupted"], true);
    EXPECT_GE(result["totals"]["frames_on_time"], 40);
}

TEST_F(Record, AFullDiskIsCountedAndHarmsNothing) {
    TempDir dir;
    // There is space enough before: what runs out is inodes.
    ASSERT_EQ(mount("tmpfs", dir.path().c_str(), "tmpfs", 0, "size=100M,nr_inodes=56"), 0) << errno;
    write_text(dir / "mine", "as it was");
    fs::create_directory(dir / "others");
    const auto before = tree_of(dir.path().string());
    const Json result = record(dir.path().string(), {"--record", "1", "--fps", "48", "--frames", "96"});
    EXPECT_THAT(tree_of(dir.path().string()), before);
    umount2(dir.path().c_str(), MNT_DETACH);
    const auto failed = slots_of(result, "failed", ENOSPC);
    ASSERT_GE(failed.size(), 50U) << finished_.text();
    EXPECT_EQ(result["totals"]["frames_on_time"].get<std::uint64_t>() + failed.size() +
                  slots_of(result, "dropped").size(),
              96U);
    EXPECT_GE(result["totals"]["frames_on_time"], 35);
    EXPECT_EQ(finished_.exit_code, 1);
}

TEST_F(Record, WhatDoesNotFitIsRefusedAndWhatIsMuchIsAskedFor) {
    TempDir dir;
    ASSERT_EQ(mount("tmpfs", dir.path().c_str(), "tmpfs", 0, "size=3M"), 0) << errno;
    const auto recorded = [&](std::vector<std::string> options) {
        finished_ = streamsim(line(dir.path().string(), std::move(options)));
        EXPECT_TRUE(fs::is_empty(dir.path())) << finished_.text();
        return finished_.exit_code;
    };
    EXPECT_EQ(recorded({"--record", "1", "--fps", "48", "--frames", "96"}), 3);
    EXPECT_THAT(finished_.text(), ::testing::HasSubstr("of it are recordings"));
    EXPECT_EQ(recorded({"--record", "1", "--fps", "48", "--duration", "10m", "--yes"}), 3);
    EXPECT_EQ(recorded({"--record", "1", "--fps", "48", "--frames", "40"}), 3);
    EXPECT_THAT(finished_.text(), ::testing::HasSubstr("--yes allows it"));
    EXPECT_EQ(recorded({"--record", "1", "--fps", "48", "--frames", "40", "--yes"}), 0) << finished_.text();
    umount2(dir.path().c_str(), MNT_DETACH);
}

TEST_F(Record, ADirectoryThatVanishesIsCountedAndHarmsNothing) {
    TempDir dir;
    write_text(dir / "mine", "as it was");
    const auto before = tree_of(dir.path().string());
    Spawn spawn;
    spawn.args =
        line(dir.path().string(), {"--record", "1", "--fps", "48", "--frames", "96", "--no-probes", "--yes"});
    Process process(streamsim_binary(), spawn);
    std::uint64_t there = 0;
    while (process.running() && there < 24) {
        there = 0;
        std::error_code error;
        for (const auto& entry : fs::recursive_directory_iterator(dir.path(), error))
            there += entry.path().extension() == ".dpx" ? 1U : 0U;
        sleep_ms(5);
    }
    std::error_code not_empty = std::make_error_code(std::errc::directory_not_empty);
    while (not_empty) fs::remove_all(dir.path() / "streamsim-media", not_empty);  // it goes on to write there
    const Finished finished = process.wait();
    EXPECT_EQ(finished.exit_code, 1) << finished.text();
    const Json result = read_json(results_ / "result.json");
    EXPECT_THAT(result_problems(result), IsEmpty());
    EXPECT_GE(result["totals"]["frames_on_time"], 24);
    EXPECT_GE(slots_of(result, "failed", ENOENT).size(), 40U);
    EXPECT_EQ(result["totals"]["frames_scheduled"], 96);
    EXPECT_THAT(tree_of(dir.path().string()), before);
}

}  // namespace
}  // namespace streamsim::tests
