// Places that do not want us: no permission, no space, no io_uring, little locked memory. Each is said, and
// what is not fatal does not stop the play.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <fstream>

#include "cli/fixture.h"

namespace streamsim::tests {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uid_t kNobody = 65534;
constexpr std::uint64_t kOrdinaryMemlock = 8 << 20;

class Hardship : public CliTest {
protected:
    void SetUp() override {
        if (!is_root()) GTEST_SKIP() << "becoming another user, and mounting, need root";
        // A copy, because the build folder may be closed to others.
        std::filesystem::create_directories(dir_ / "bin");
        binary_ = dir_ / "bin/streamsim";
        std::filesystem::copy(streamsim_binary(), binary_);
        launcher_ = dir_ / "bin/noring";
        std::filesystem::copy(NORING_BINARY, launcher_);
    }

    Spawn as_nobody(std::vector<std::string> args) const {
        Spawn spawn;
        spawn.args = std::move(args);
        spawn.args.insert(spawn.args.end(), {"--format", small()});
        spawn.user = kNobody;
        spawn.memlock_bytes = kOrdinaryMemlock;
        spawn.directory = "/";
        return spawn;
    }

    // The result may be anywhere that nobody can write to.
    std::string nobodys_json() const { return target() + "/result.json"; }

    std::string binary_;
    std::string launcher_;
};

TEST_F(Hardship, AnOrdinaryUserPlays) {
    for (const char* how : {"--direct", "--buffered"}) {
        const Finished done =
            run(binary_, as_nobody({"--quiet", how, "--streams", "4", "--duration", "2s", "--clip-duration",
                                    "1s", "--json", nobodys_json(), target()}));
        EXPECT_THAT(done.exit_code, AnyOf(0, 1)) << done.text();
        const Json result = read_json(nobodys_json());
        EXPECT_THAT(result_problems(result), IsEmpty());
        EXPECT_EQ(result["totals"]["frames_failed"], 0);
        EXPECT_GE(result["totals"]["frames_on_time"], 180);
    }
}

TEST_F(Hardship, WithoutIoUringItPlaysWithThreadsAndSaysSo) {
    Spawn spawn = as_nobody({});
    spawn.args = {binary_,           "--format", small(),  "--duration",   "1s",
                  "--clip-duration", "1s",       "--json", nobodys_json(), target()};
    spawn.env.emplace_back("UV_THREADPOOL_SIZE", "4");
    const Finished done = run(launcher_, spawn);
    EXPECT_THAT(done.exit_code, AnyOf(0, 1)) << done.text();
    const Json result = read_json(nobodys_json());
    EXPECT_THAT(result_problems(result), IsEmpty());
    EXPECT_EQ(result["target"]["io"], "threads");
    EXPECT_EQ(result["totals"]["frames_failed"], 0);
    EXPECT_THAT(done.err, HasSubstr("io_uring"));
    EXPECT_THAT(result["notices"].dump(), HasSubstr("io_uring"));
    EXPECT_THAT(result["notices"].dump(), HasSubstr("the thread pool has 4 threads"));
}

TEST_F(Hardship, WhatCannotBeLockedIsSaid) {
    // Buffers of 16 frames of 8.9 MB: more than may be locked.
    const std::string large = write_format("large", 2048, 1080);
    Spawn spawn = as_nobody({});
    spawn.args = {"--quiet",    "--format", large,          "--readahead", "16",
                  "--duration", "1s",       "--io",         "uring",       "--clip-duration",
                  "500ms",      "--json",   nobodys_json(), target()};
    const Finished done = run(binary_, spawn);
    EXPECT_THAT(done.exit_code, AnyOf(0, 1)) << done.text();
    const Json result = read_json(nobodys_json());
    EXPECT_EQ(result["totals"]["frames_failed"], 0);
    EXPECT_THAT(result_problems(result), IsEmpty());
    EXPECT_FALSE(result["notices"].empty()) << "16 frames of 8.9 MB were registered within 8 MiB?";
}

TEST_F(Hardship, MediaThatMayNotBeReadFailsToStartOrFailsItsFrames) {
    prepare(1);
    std::filesystem::permissions(target(), std::filesystem::perms::owner_all);
    Finished done = run(binary_, as_nobody({"--quiet", "--duration", "1s", target()}));
    EXPECT_EQ(done.exit_code, 3) << done.text();
    EXPECT_THAT(done.err, HasSubstr(target()));
    EXPECT_THAT(done.err, HasSubstr("ermission"));
}

TEST_F(Hardship, MediaThatMayNotBeWrittenIsNotMade) {
    std::filesystem::permissions(target(), std::filesystem::perms::owner_all |
                                               std::filesystem::perms::others_read |
                                               std::filesystem::perms::others_exec);
    const Finished done = run(binary_, as_nobody({"prepare", "--quiet", target()}));
    EXPECT_EQ(done.exit_code, 3) << done.text();
    EXPECT_THAT(done.err, HasSubstr("ermission"));
    EXPECT_TRUE(std::filesystem::is_empty(target()));
}

// A file system in memory that is as small as it is told to be.
class SmallDisk {
public:
    SmallDisk(std::string where, const std::string& options) : where_(std::move(where)) {
        if (mount("tmpfs", where_.c_str(), "tmpfs", 0, options.c_str()) != 0) {
            throw std::runtime_error("cannot mount a tmpfs");
        }
    }
    ~SmallDisk() { umount2(where_.c_str(), MNT_DETACH); }
    void grow(const std::string& options) const {
        if (mount("tmpfs", where_.c_str(), "tmpfs", MS_REMOUNT, options.c_str()) != 0) {
            throw std::runtime_error("cannot grow a tmpfs");
        }
    }

private:
    std::string where_;
};

TEST_F(Hardship, TooLittleSpaceIsSaidBeforeAnythingIsWritten) {
    const SmallDisk disk(target(), "size=1m");
    const std::vector<std::string> args{"prepare", "--quiet",         "--format", small(), "--streams",
                                        "2",       "--clip-duration", "1s",       target()};
    const Finished refused = streamsim(args);
    EXPECT_EQ(refused.exit_code, 3) << refused.text();
    EXPECT_THAT(refused.err, HasSubstr("space"));
    EXPECT_TRUE(clip_directories().empty());
    disk.grow("size=64m");
    const Finished done = streamsim(args);
    EXPECT_EQ(done.exit_code, 0) << done.text();
    EXPECT_EQ(clip_directories().size(), 2U);
}

TEST_F(Hardship, ADiskThatFillsUpMeanwhileLeavesMediaThatIsCompletedLater) {
    // There is space, but only for so many files: it ends in the middle.
    const SmallDisk disk(target(), "size=64m,nr_inodes=30");
    const std::vector<std::string> args{"prepare", "--quiet",         "--format", small(), "--streams",
                                        "2",       "--clip-duration", "1s",       target()};
    const Finished failed = streamsim(args);
    EXPECT_EQ(failed.exit_code, 3) << failed.text();
    EXPECT_THAT(failed.err, HasSubstr("pace"));
    const Finished player = streamsim({"--quiet", "--duration", "1s", "--format", small(), "--json",
                                       json_path(), "--streams", "2", target()});
    EXPECT_EQ(player.exit_code, 3) << "what is not whole was played\n" << player.text();
    disk.grow("size=64m,nr_inodes=1000");
    const Finished done = streamsim(args);
    EXPECT_EQ(done.exit_code, 0) << done.text();
    ASSERT_EQ(clip_directories().size(), 2U);
    for (const std::string& clip : clip_directories()) EXPECT_EQ(frames_in(clip).size(), 24U);
    const Json result = play_small({"--streams", "2", "--duration", "1s"});
    EXPECT_EQ(result["totals"]["frames_failed"], 0);
    EXPECT_EQ(finished().exit_code, 0) << finished().text();
}

/// A set of an older version, or from a backup, has no lock file, and there is no room for one.
TEST_F(Hardship, WhatIsOnAFullDiskPlays) {
    const SmallDisk disk(target(), "size=64m,nr_inodes=100");
    prepare(1);
    std::size_t removed = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(target()))
        if (entry.path().extension() == ".lock") removed += std::filesystem::remove(entry.path()) ? 1u : 0u;
    EXPECT_EQ(removed, 1U);
    for (int i = 0; std::ofstream(target() + "/" + std::to_string(i)).is_open(); ++i) ASSERT_LT(i, 100);
    const Json result = play_small({"--duration", "1s"});
    EXPECT_EQ(finished().exit_code, 0) << finished().text();
    EXPECT_EQ(result["totals"]["frames_failed"], 0);
}

TEST_F(Hardship, CleanMakesRoomWhereNoFileCanBeMade) {
    const SmallDisk disk(target(), "size=64m,nr_inodes=100");
    prepare(1);
    for (int i = 0; std::ofstream(target() + "/" + std::to_string(i)).is_open(); ++i) ASSERT_LT(i, 100);
    const Finished done = streamsim({"clean", target()});
    EXPECT_EQ(done.exit_code, 0) << done.text();
    EXPECT_FALSE(std::filesystem::exists(target() + "/streamsim-media"));
}

TEST_F(Hardship, MediaThatTakeTheLastFileOfADiskPlay) {
    for (int files = 32; files <= 38; ++files) {
        const SmallDisk disk(target(), fmt::format("size=64m,nr_inodes={}", files));
        const auto play = [this] {
            return streamsim(
                {"--quiet", "--format", small(), "--clip-duration", "1s", "--duration", "500ms", target()});
        };
        const Finished made = play(), again = play();
        EXPECT_EQ(made.exit_code == 3, again.exit_code == 3) << files << " files\n" << made.text();
    }
}

TEST_F(Hardship, AFileSystemInMemoryIsNoColdStorage) {
    const SmallDisk disk(target(), "size=64m");
    prepare(1);
    const Finished done = streamsim({"--quiet", "--format", small(), "--duration", "1s", "--direct",
                                     "--require-cold", "--json", json_path(), target()});
    EXPECT_EQ(done.exit_code, 1) << done.text();
    const Json result = read_json(json_path());
    EXPECT_EQ(result["target"]["direct"], false);
    EXPECT_EQ(result["client"]["page_cache_bytes"], result["totals"]["bytes_read"]);
}

TEST_F(Hardship, AResultThatCannotBeWrittenIsNotLostSilently) {
    prepare(1);
    const Finished done = streamsim({"--quiet", "--format", small(), "--duration", "1s", "--json",
                                     dir_ / "no/such/folder/r.json", target()});
    EXPECT_THAT(done.exit_code, AnyOf(2, 3)) << done.text();
    EXPECT_THAT(done.err, HasSubstr("no/such/folder"));
}

TEST_F(Hardship, ADiskThatIsFullOfResultsIsSaid) {
    const SmallDisk disk(target(), "size=4k");
    for (const char* kind : {"--json", "--csv", "--html", "--trace", "--junit"}) {
        const Finished done =
            streamsim({"--quiet", "--prores-hd", "--duration", "10s", "--fps", "max", "--frames", "20000",
                       "--streams", "8", kind, target() + "/result", "sim:null"});
        if (std::string(kind) == "--junit" && done.exit_code == 0) continue;  // it is small
        EXPECT_EQ(done.exit_code, 3) << kind << done.text();
        EXPECT_THAT(done.err, HasSubstr("No space left on device")) << kind;
        std::filesystem::remove(target() + "/result");
        EXPECT_TRUE(std::filesystem::is_empty(target())) << kind << ": what is not whole is left behind";
    }
}

// Shortages of the system itself. Whatever is missing: an exit code of the contract and a sentence, never a
// signal, never a wait without end.
class Shortage : public CliTest {
protected:
    /// As a shell runs it, with `first` before it: "ulimit -n 6;", and `streams` behind it: ">&-".
    Finished in_shell(const std::string& first,
                      const std::vector<std::string>& args,
                      const std::string& streams = "") const {
        std::string line = first + " exec \"$0\" \"$@\" " + streams;
        Spawn spawn;
        spawn.args = {"-c", line, streamsim_binary()};
        spawn.args.insert(spawn.args.end(), args.begin(), args.end());
        spawn.timeout_s = 60;
        return run("/bin/sh", spawn);
    }

    /// Every command, with little to do.
    std::vector<std::vector<std::string>> commands() {
        prepare(1);
        write_text(dir_ / "scenario.json", R"({"schema": "streamsim.scenario"})");
        write_text(dir_ / "r.json", R"({"schema": "streamsim.result"})");
        const std::string clip = clip_directories().at(0);
        return {
            {"formats"},
            {"--version"},
            {"--quiet", "--format", small(), "--duration", "200ms", target()},
            {"--quiet", "--format", small(), "--io", "threads", "--duration", "200ms", target()},
            {"--quiet", "--duration", "200ms", "null:"},
            {"--quiet", "--duration", "200ms", "sim:h500"},
            {"prepare", "--quiet", "--format", small(), "--streams", "2", "--clip-duration", "1s", target()},
            {"max", "--quiet", "--streams", "1", "--duration", "1100ms", "--confirm", "1100ms", "null:"},
            {"run", "--quiet", dir_ / "scenario.json"},
            {"report", dir_ / "r.json"},
            {"inspect", clip},
            {"clean", "--quiet", dir_ / "none"}};
    }

    static void expect_an_ordinary_end(const Finished& done, const std::string& what) {
        EXPECT_EQ(done.signal, 0) << what << "\n" << done.text();
        EXPECT_FALSE(done.timed_out) << what;
        EXPECT_THAT(done.exit_code, AnyOf(0, 1, 2, 3)) << what << "\n" << done.text();
        if (done.exit_code == 3) EXPECT_THAT(done.err, HasSubstr("streamsim: ")) << what;
    }
};

TEST_F(Shortage, OfDescriptorsIsSaid) {
    const auto all = commands();
    for (const int most : {6, 8, 12, 20, 27, 32}) {
        for (const auto& command : all) {
            const std::string limit = fmt::format("ulimit -n {};", most);
            const Finished done = in_shell(limit, command);
            expect_an_ordinary_end(done, limit + command.front());
            if (most < 24) EXPECT_EQ(done.exit_code, 3) << limit << done.text();
            if (most < 24) EXPECT_THAT(done.err, HasSubstr("ulimit -n")) << limit;
        }
    }
}

TEST_F(Shortage, OfAddressSpaceIsSaid) {
    const auto all = commands();
    const Finished least = in_shell("ulimit -v 2000000;", {"--version"});
    if (least.exit_code != 0) GTEST_SKIP() << "this build needs more addresses than that by itself";
    std::uint64_t loads_kib = 40'000;  // below, the system's loader ends it (127)
    while (in_shell(fmt::format("ulimit -v {};", loads_kib), {"--version"}).exit_code == 127)
        loads_kib += 10'000;
    for (std::uint64_t kib = loads_kib; kib < loads_kib + 260'000; kib += 37'000) {
        for (const auto& command : all) {
            const std::string limit = fmt::format("ulimit -c 0; ulimit -v {};", kib);
            expect_an_ordinary_end(in_shell(limit, command), limit + command.front());
        }
    }
}

TEST_F(Shortage, OfAddressSpaceIsSaidWhereverItIsMet) {
    if (in_shell("ulimit -v 2000000;", {"--version"}).exit_code != 0)
        GTEST_SKIP() << "this build needs more addresses than that by itself";
    std::uint64_t kib = 40'000;
    const auto play = [this, &kib] {
        return in_shell(fmt::format("ulimit -c 0; ulimit -v {};", kib),
                        {"--prores-hd", "--streams", "20", "--duration", "200ms", "sim:null"});
    };
    Finished done = play();
    for (; done.exit_code != 0 && kib < 2'000'000; kib += 8'000) {
        if (done.exit_code != 127) expect_an_ordinary_end(done, fmt::format("{} KiB", kib));
        done = play();
    }
}

TEST_F(Shortage, OfThreadsIsSaid) {
    if (!is_root()) GTEST_SKIP() << "a user without other processes is needed: root becomes one";
    const std::string play = "exec setpriv --reuid=54321 --clear-groups \"$0\" --quiet --duration 200ms null:";
    for (int most = 1; most < 8; ++most) {
        Spawn spawn;
        spawn.args = {"-c", fmt::format("ulimit -c 0; ulimit -u {}; {}", most, play), streamsim_binary()};
        expect_an_ordinary_end(run("/bin/sh", spawn), fmt::format("{} threads", most));
    }
}

TEST_F(Shortage, ClosedDescriptorsAreNoFilesOfTheUser) {
    for (const char* closed : {"<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", ">&- 2>&-", "<&- >&- 2>&-"}) {
        const bool no_output =
            std::string(closed).find(" >&-") != std::string::npos || std::string(closed).starts_with(">&-");
        const bool no_error = std::string(closed).find("2>&-") != std::string::npos;
        std::filesystem::remove(json_path());
        const Finished quiet = in_shell(
            "", {"--quiet", "--prores-hd", "--duration", "200ms", "--json", json_path(), "null:"}, closed);
        EXPECT_EQ(quiet.exit_code, 0) << closed << quiet.text();
        EXPECT_EQ(read_json(json_path())["schema"], "streamsim.result") << closed;
        for (const std::vector<std::string>& args :
             {std::vector<std::string>{"formats"}, {"--prores-hd", "--duration", "200ms", "null:"}}) {
            const Finished done = in_shell("", args, closed);
            EXPECT_EQ(done.signal, 0) << closed;
            EXPECT_EQ(done.exit_code, no_output ? 3 : 0) << closed << done.text();
            if (no_output && !no_error) EXPECT_THAT(done.err, HasSubstr("standard output is closed")) << closed;
        }
    }
}

TEST_F(Shortage, OfRoomForStandardOutputIsSaid) {
    if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
    const std::vector<std::string> play{"--prores-hd", "--duration", "200ms", "null:"};
    std::vector<std::string> document = play;
    document.insert(document.begin(), {"--json", "-"});
    for (const auto& args : {std::vector<std::string>{"--version"}, {"formats"}, play, document}) {
        const Finished full = in_shell("", args, "> /dev/full");
        EXPECT_EQ(full.exit_code, 3) << full.text();
        EXPECT_THAT(full.err, HasSubstr("standard output")) << args.front();
        Spawn spawn;  // whoever reads is gone before there is something to read
        spawn.args = {"-c", "{ sleep 0.3; \"$0\" \"$@\"; echo \"code $?\" >&2; } | true", streamsim_binary()};
        spawn.args.insert(spawn.args.end(), args.begin(), args.end());
        const Finished gone = run("/bin/sh", spawn);
        EXPECT_THAT(gone.err, HasSubstr("code 3")) << args.front() << gone.text();
    }
}

}  // namespace
}  // namespace streamsim::tests
