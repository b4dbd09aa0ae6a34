// Several streamsims on one media set: who goes together, who waits, who is refused, and what is left when one
// of them is killed.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <sstream>

#include "cli/fixture.h"

namespace streamsim::tests {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TwoAtOnce : public CliTest {
protected:
    static Spawn spawn(std::vector<std::string> args) {
        Spawn spawn;
        spawn.args = std::move(args);
        return spawn;
    }
    static bool within_20_s(const std::function<bool()>& holds) {
        for (int i = 0; i < 2000 && !holds(); ++i) sleep_ms(10);
        return holds();
    }
    /// Until somebody holds the lock of the set so that clean would be refused.
    bool is_locked() const { return is_locked(set()); }
    static bool is_locked(const std::string& set) {
        const std::string path = set + "/streamsim-media.lock";
        const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
        if (file < 0) return false;
        struct flock range {};
        range.l_type = F_WRLCK;
        range.l_len = 1;
        const bool asked = fcntl(file, F_OFD_GETLK, &range) == 0;
        ::close(file);
        return asked && range.l_type != F_UNLCK;
    }
    std::string set() const { return target() + "/streamsim-media"; }
    /// A workload document of this name with one user.
    std::string workload(const std::string& name, const Json& operations) const {
        const Json document = {{"schema", "streamsim.workload"},
                               {"version", 1},
                               {"name", name},
                               {"title", "A load"},
                               {"duration", "60s"},
                               {"report", "modes"},
                               {"meters",
                                {{{"name", name},
                                  {"users", 1},
                                  {"operations", operations},
                                  {"blocks", {{{"bytes", "4KiB"}, {"weight", 1}}}},
                                  {"operations_per_s", 50},
                                  {"files", {{"count", 2}, {"bytes", "64KiB"}}}}}}};
        std::string path = dir_ / (name + ".json");
        write_text(path, document.dump());
        return path;
    }
    std::vector<std::string> long_play() const {
        return {"--format", small(), "--duration", "60s", "--quiet", target()};
    }
    static std::string name_of(const Process& process) { return "process " + std::to_string(process.pid()); }
};

TEST_F(TwoAtOnce, NothingIsTakenFromAPlayThatGoesOn) {
    prepare(1);
    Process play(streamsim_binary(), spawn(long_play()));
    ASSERT_TRUE(within_20_s([this] { return is_locked(); }));
    const Finished clean = streamsim({"clean", target()});
    EXPECT_EQ(clean.exit_code, 3) << clean.text();
    EXPECT_THAT(clean.err, HasSubstr("streamsim-media: \"streamsim --format"));
    EXPECT_THAT(clean.err, HasSubstr(name_of(play)));
    EXPECT_THAT(clean.err, HasSubstr("--wait"));
    const Finished prepare =
        streamsim({"prepare", "--format", small(), "--streams", "2", "--clip-duration", "1s", target()});
    EXPECT_EQ(prepare.exit_code, 3) << prepare.text();
    EXPECT_THAT(prepare.err, HasSubstr(name_of(play)));
    // Commands that need not write work beside the play.
    EXPECT_EQ(streamsim({"prepare", "--format", small(), target()}).exit_code, 0);
    EXPECT_EQ(streamsim({"--format", small(), "--duration", "1s", target()}).exit_code, 0) << "two plays";
    EXPECT_EQ(clip_directories().size(), 1U);
    play.send(SIGTERM);
    EXPECT_EQ(play.wait().exit_code, 130);
    EXPECT_EQ(streamsim({"clean", target()}).exit_code, 0);
    EXPECT_FALSE(fs::exists(set()));
}

TEST_F(TwoAtOnce, AScenarioHoldsTheSetsOfAllItsTargets) {
    prepare(1);
    const std::string other = dir_ / "other";
    fs::create_directory(other);
    const Finished made =
        streamsim({"prepare", "--quiet", "--format", small(), "--clip-duration", "1s", other});
    ASSERT_EQ(made.exit_code, 0) << made.text();
    const Json stream = {{"format", small()}, {"count", 1}};
    const Json streams = Json::array({stream});
    const Json document = {
        {"schema", "streamsim.scenario"},
        {"version", 1},
        {"duration", "60s"},
        {"seats", {{{"target", target()}, {"streams", streams}}, {{"target", other}, {"streams", streams}}}}};
    write_text(dir_ / "scenario.json", document.dump());
    Process play(streamsim_binary(), spawn({"run", "--quiet", dir_ / "scenario.json"}));
    EXPECT_TRUE(within_20_s([&] { return is_locked(other + "/streamsim-media"); }));
    for (const std::string& each : {target(), other}) {
        const Finished clean = streamsim({"clean", each});
        EXPECT_EQ(clean.exit_code, 3) << clean.text();
        EXPECT_THAT(clean.err, HasSubstr(name_of(play)));
    }
    play.send(SIGTERM);
    EXPECT_EQ(play.wait().exit_code, 130);
    EXPECT_EQ(streamsim({"clean", other}).exit_code, 0);
}

TEST_F(TwoAtOnce, ACutListHoldsTheSetThatItsClipsAreIn) {
    prepare(1);
    write_text(dir_ / "list.edl",
               "TITLE: one\nFCM: NON-DROP FRAME\n\n"
               "001  AX       V     C        00:00:00:01 00:00:00:11 00:00:00:00 00:00:00:10\n"
               "* FROM CLIP NAME: clip-0001\n");
    Process play(streamsim_binary(),
                 spawn({"--cuts", dir_ / "list.edl", "--duration", "60s", "--quiet", target()}));
    EXPECT_TRUE(within_20_s([this] { return is_locked(); }));
    const Finished clean = streamsim({"clean", target()});
    EXPECT_EQ(clean.exit_code, 3) << clean.text();
    EXPECT_THAT(clean.err, HasSubstr(name_of(play)));
    play.send(SIGTERM);
    EXPECT_EQ(play.wait().exit_code, 130);
}

TEST_F(TwoAtOnce, AClipThatIsNotWholeIsNamedAndNothingIsLockedForIt) {
    prepare(3);
    std::fstream(frames_in(clip_directories().front()).front(), std::ios::in | std::ios::out) << "other bytes";
    Process other(streamsim_binary(), spawn(long_play()));
    ASSERT_TRUE(within_20_s([this] { return is_locked(); }));
    Spawn beside = spawn({"--format", small(), "--streams", "2", "--duration", "1s", "--quiet", target()});
    const Finished two = streamsim(beside);
    EXPECT_EQ(two.exit_code, 0) << two.text();
    EXPECT_THAT(two.err, HasSubstr("clip-0001: does not count as whole"));
    other.send(SIGTERM);
    EXPECT_EQ(other.wait().exit_code, 130);
    if (!is_root()) return;
    fs::permissions(target(), fs::perms(0755));
    beside.user = 65534;
    const Finished reader = streamsim(beside);
    EXPECT_EQ(reader.exit_code, 0) << reader.text();
}

TEST_F(TwoAtOnce, CleanWaitsForTheEndOfARecording) {
    Process record(streamsim_binary(), spawn({"--format", small(), "--record", "1", "--duration", "60s",
                                              "--keep-recordings", "--quiet", target()}));
    ASSERT_TRUE(within_20_s([this] { return is_locked() && fs::exists(set() + "/recordings"); }));
    EXPECT_EQ(streamsim({"clean", target()}).exit_code, 3);
    Process clean(streamsim_binary(), spawn({"clean", "--wait", target()}));
    ASSERT_TRUE(within_20_s([&clean] { return clean.err_so_far().find("waiting") != std::string::npos; }));
    EXPECT_THAT(clean.err_so_far(), HasSubstr(name_of(record)));
    EXPECT_TRUE(clean.running());
    record.send(SIGTERM);
    EXPECT_EQ(record.wait().exit_code, 130);
    const Finished cleaned = clean.wait();
    EXPECT_EQ(cleaned.exit_code, 0) << cleaned.text();
    EXPECT_FALSE(fs::exists(set()));
}

TEST_F(TwoAtOnce, CleanTakesNothingFromASearchThatRecordsBesideClipsOfOthers) {
    copy_clip_of_others();
    ASSERT_FALSE(fs::exists(set()));
    Spawn records = spawn({"max", "--record", "1", "--duration", "20s", "--confirm", "0", "--quiet", target()});
    records.env = {{"STREAMSIM_FORMATS", formats_with_small_default()}};
    Process search(streamsim_binary(), records);
    EXPECT_TRUE(within_20_s([this] { return is_locked() && fs::exists(set() + "/recordings"); }));
    const Finished clean = streamsim({"clean", target()});
    EXPECT_EQ(clean.exit_code, 3) << clean.text();
    EXPECT_THAT(clean.err, HasSubstr(name_of(search)));
    search.send(SIGTERM);
    EXPECT_EQ(search.wait().exit_code, 130);
    EXPECT_FALSE(fs::exists(set()));
}

TEST_F(TwoAtOnce, ASignalEndsTheWaitAtOnce) {
    prepare(1);
    Process play(streamsim_binary(), spawn(long_play()));
    ASSERT_TRUE(within_20_s([this] { return is_locked(); }));
    const std::vector<std::vector<std::string>> commands = {
        {"clean", "--wait", target()},
        {"prepare", "--wait", "--format", small(), "--streams", "2", "--clip-duration", "1s", target()},
        {"--wait", "--format", small(), "--streams", "2", "--clip-duration", "1s", target()}};
    for (const auto& command : commands) {
        Process waiting(streamsim_binary(), spawn(command));
        ASSERT_TRUE(within_20_s([&] { return waiting.err_so_far().find("waiting") != std::string::npos; }));
        const std::int64_t sent_ns = monotonic_ns();
        waiting.send(SIGTERM);
        EXPECT_EQ(waiting.wait().exit_code, 130) << command.front();
        EXPECT_LT(monotonic_ns() - sent_ns, 2'000'000'000);
    }
    EXPECT_TRUE(play.running());
}

TEST_F(TwoAtOnce, MediaOfTheUserAreNotLocked) {
    prepare(1);
    const std::string own = dir_ / "own";
    fs::copy(clip_directories().at(0), own, fs::copy_options::recursive);
    Process play(streamsim_binary(), spawn({"--duration", "2s", "--quiet", own}));
    EXPECT_EQ(play.wait().exit_code, 0);
    EXPECT_FALSE(fs::exists(own + "/streamsim-media"));
    // A clip of ours that is given by its own name is one of a set all the same.
    Process inside(streamsim_binary(), spawn({"--duration", "60s", "--quiet", clip_directories().at(0)}));
    EXPECT_TRUE(within_20_s([this] { return is_locked(); }));
    EXPECT_EQ(streamsim({"clean", target()}).exit_code, 3);
}

TEST_F(TwoAtOnce, AReadOnlySetIsPlayedAndProtected) {
    if (!is_root()) GTEST_SKIP() << "needs root, to become another user";
    prepare(1);
    fs::permissions(target(), fs::perms(0755));
    for (const bool with_lock : {true, false}) {
        if (!with_lock) fs::remove(set() + "/streamsim-media.lock");
        Spawn reader =
            spawn({"--format", small(), "--duration", with_lock ? "60s" : "1s", "--quiet", target()});
        reader.user = 65534;
        Process play(streamsim_binary(), reader);
        if (with_lock) {
            EXPECT_TRUE(within_20_s([this] { return is_locked(); }));
            const Finished clean = streamsim({"clean", target()});
            EXPECT_EQ(clean.exit_code, 3) << clean.text();
            EXPECT_THAT(clean.err, HasSubstr("another streamsim"));
            play.send(SIGTERM);
        }
        const Finished done = play.wait();
        EXPECT_EQ(done.exit_code, with_lock ? 130 : 0) << done.text();
    }
    EXPECT_FALSE(fs::exists(set() + "/streamsim-media.lock"));
}

TEST_F(TwoAtOnce, AHolderInAnotherMountIsNamed) {
    if (!is_root()) GTEST_SKIP() << "needs root, to mount";
    prepare(1);
    const std::string other = dir_ / "other";
    fs::create_directory(other);
    const pid_t child = fork();
    if (child == 0) {
        if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            mount(target().c_str(), other.c_str(), nullptr, MS_BIND, nullptr) != 0)
            _exit(77);
        const std::string binary = streamsim_binary();
        execl(binary.c_str(), binary.c_str(), "--format", small().c_str(), "--duration", "60s", "--quiet",
              other.c_str(), nullptr);
        _exit(78);
    }
    int status = 0;
    const bool locked = within_20_s([&] { return is_locked() || waitpid(child, &status, WNOHANG) == child; });
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77 && status != 0)
        GTEST_SKIP() << "mounts are forbidden here";
    EXPECT_TRUE(locked);
    const Finished clean = streamsim({"clean", target()});
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_EQ(clean.exit_code, 3) << clean.text();
    EXPECT_THAT(clean.err, HasSubstr("process " + std::to_string(child)));
    EXPECT_THAT(clean.err, HasSubstr(other));
    EXPECT_EQ(streamsim({"clean", target()}).exit_code, 0) << "a lock outlived its holder";
}

/// The frames and containers below a directory with their bytes, by their paths; what is unfinished is left
/// out.
std::map<std::string, std::string> media_below(const std::string& directory) {
    for (int attempt = 0;; ++attempt) {  // somebody may be renaming there
        try {
            std::map<std::string, std::string> all;
            for (const auto& entry : fs::recursive_directory_iterator(directory)) {
                const std::string name = fs::relative(entry.path(), directory).string();
                const bool media = name.ends_with(".dpx") || name.ends_with(".mov") || name.ends_with(".load");
                if (media && name.find(".partial") == std::string::npos && entry.is_regular_file())
                    all.emplace(name, read_text(entry.path().string()));
            }
            return all;
        } catch (const std::exception&) {
            if (attempt == 20) throw;
        }
    }
}

class OfTwoPrepares : public TwoAtOnce {
protected:
    void one_is_killed(int times);
};

/// Both have the same marker, so that both make the same bytes.
void OfTwoPrepares::one_is_killed(int times) {
    const auto prepare_in = [this](const std::string& where) {
        return spawn({"prepare", "--wait", "--format", small(), "--format", "prores-hd", "--streams", "2",
                      "--clip-duration", "500ms", where});
    };
    const std::string marker = "/streamsim-media/streamsim-media.json";
    const std::string model = dir_ / "model";
    fs::create_directory(model);
    const Finished made = streamsim(prepare_in(model));
    ASSERT_EQ(made.exit_code, 0) << made.text();
    const auto expected = media_below(model);
    ASSERT_EQ(expected.size(), 26U) << "two clips of 12 frames, and two files";
    std::mt19937_64 random(std::random_device{}());
    const auto most_ms = static_cast<std::uint64_t>(made.wall_s * 2000);
    int waited = 0;
    for (int i = 0; i < times; ++i) {
        const std::string place = dir_ / "place";
        fs::create_directories(place + "/streamsim-media");
        fs::copy_file(model + marker, place + marker);
        Process one(streamsim_binary(), prepare_in(place));
        Process two(streamsim_binary(), prepare_in(place));
        const auto ms = static_cast<std::int64_t>(random() % most_ms);
        sleep_ms(ms);
        const bool first = random() % 2 == 0;
        (first ? one : two).send(SIGKILL);
        for (const auto& [name, bytes] : media_below(place)) {
            const auto wanted = expected.find(name);
            if (wanted != expected.end()) {
                EXPECT_TRUE(bytes == wanted->second) << name << ", killed after " << ms << " ms";
            }
        }
        const Finished survivor = (first ? two : one).wait();
        EXPECT_EQ(survivor.exit_code, 0) << survivor.text();
        if (survivor.err.find("waiting") != std::string::npos) ++waited;
        for (const auto& [name, bytes] : expected) {
            const std::string path = place + "/" + name;
            ASSERT_TRUE(fs::exists(path)) << name << ", killed after " << ms << " ms";
            EXPECT_TRUE(read_text(path) == bytes) << name << ", killed after " << ms << " ms";
        }
        (first ? one : two).wait();
        fs::remove_all(place);
    }
    EXPECT_GT(waited, 0);
    std::printf("  the survivor had waited in %d of %d\n", waited, times);
}

TEST_F(OfTwoPrepares, OneIsKilledAndEveryWholeClipIsRight) {
    one_is_killed(30);
}

TEST_F(OfTwoPrepares, OneIsKilledOftenAndEveryWholeClipIsRight) {
    one_is_killed(100);
}

TEST_F(TwoAtOnce, TwoPlaysThatLackMediaMakeThemOnce) {
    const auto play = [this](bool wait) {
        std::vector<std::string> args = {"--format", small(), "--clip-duration", "2s",
                                         "--frames", "5",     target()};
        if (wait) args.insert(args.begin(), "--wait");
        return spawn(args);
    };
    for (int i = 0; i < 5; ++i) {
        Process one(streamsim_binary(), play(true));
        Process two(streamsim_binary(), play(true));
        const Finished first = one.wait(), second = two.wait();
        EXPECT_EQ(first.exit_code, 0) << first.text();
        EXPECT_EQ(second.exit_code, 0) << second.text();
        EXPECT_EQ(streamsim({"clean", target()}).exit_code, 0);
        EXPECT_FALSE(fs::exists(set()));
    }
}

/// Calls of a trace that make, write, rename or remove something below `directory` by a path that does not
/// begin at a descriptor.
std::vector<std::string> calls_by_path(const std::string& trace, const std::string& directory) {
    std::vector<std::string> found;
    std::istringstream lines(read_text(trace));
    for (std::string line; std::getline(lines, line);) {
        if (line.find(directory) == std::string::npos) continue;
        const bool opens =
            line.find("open(") != std::string::npos || line.find("openat(AT_FDCWD") != std::string::npos;
        const bool writes =
            line.find("O_WRONLY") != std::string::npos || line.find("O_RDWR") != std::string::npos ||
            line.find("O_CREAT") != std::string::npos || line.find("O_TRUNC") != std::string::npos;
        bool names =
            line.find("at(AT_FDCWD") != std::string::npos || line.find("at2(AT_FDCWD") != std::string::npos;
        if (opens) names = writes;
        for (const char* call : {" mkdir(", " rename(", " unlink(", " rmdir(", " link(", " symlink(", " creat(",
                                 " truncate(", " chmod("})
            names = names || line.find(call) != std::string::npos;
        if (names) found.push_back(line);
    }
    return found;
}

TEST_F(TwoAtOnce, NothingBelowTheTargetIsChangedByAPath) {
    if (std::system("strace -V > /dev/null 2>&1") != 0) GTEST_SKIP() << "needs strace";
    const std::string trace = dir_ / "trace";
    const std::vector<std::vector<std::string>> commands = {
        {"--format", small(), "--clip-duration", "500ms", "--record", "1", "--streams", "1", "--duration", "1s",
         "--io", "threads", target()},
        {"run", workload("mixed", {{"write", 3}, {"create", 1}, {"rename", 1}, {"remove", 1}}), target(),
         "--duration", "1s", "--io", "threads"}};
    for (const auto& command : commands) {
        Spawn traced;
        traced.args = {"-f",
                       "-s",
                       "300",
                       "-o",
                       trace,
                       "-e",
                       "trace=open,openat,openat2,creat,mkdir,mkdirat,unlink,unlinkat,rmdir,rename,renameat,"
                       "renameat2,link,linkat,symlink,symlinkat,truncate,chmod,fchmodat",
                       streamsim_binary()};
        traced.args.insert(traced.args.end(), command.begin(), command.end());
        const Finished done = run("strace", traced);
        if (done.err.find("ptrace") != std::string::npos) GTEST_SKIP() << "tracing is forbidden here";
        EXPECT_LE(done.exit_code, 1) << done.text();
        EXPECT_THAT(read_text(trace), HasSubstr("streamsim-media"));
        EXPECT_THAT(calls_by_path(trace, target()), IsEmpty()) << command.front();
    }
}

TEST_F(TwoAtOnce, AWorkingSetThatIsWrittenIsOfOneRunAlone) {
    const std::string writes = workload("writes", {{"write", 1}});
    const std::string reads = workload("reads", {{"read", 1}});
    const auto run_for = [this](const std::string& document, const std::string& time) {
        return spawn({"run", document, target(), "--duration", time, "--quiet"});
    };
    Process writing(streamsim_binary(), run_for(writes, "60s"));
    ASSERT_TRUE(within_20_s([&] { return fs::exists(set() + "/load") || !writing.running(); }));
    ASSERT_TRUE(writing.running()) << writing.wait().text();
    const Finished refused = streamsim(run_for(writes, "1s"));
    EXPECT_EQ(refused.exit_code, 3) << refused.text();
    EXPECT_THAT(refused.err, HasSubstr("streamsim-media/load, writes"));
    EXPECT_THAT(refused.err, HasSubstr(name_of(writing)));
    EXPECT_EQ(streamsim({"clean", target()}).exit_code, 3);
    Process reading(streamsim_binary(), run_for(reads, "60s"));
    ASSERT_TRUE(within_20_s([&] {
        for (const auto& [name, bytes] : media_below(set())) {
            if (name.find("reads") != std::string::npos && name.ends_with(".load")) return true;
        }
        return !reading.running();
    }));
    sleep_ms(300);
    const Finished beside = streamsim(run_for(reads, "1s"));
    EXPECT_EQ(beside.exit_code, 0) << beside.text();
}

}  // namespace
}  // namespace streamsim::tests
