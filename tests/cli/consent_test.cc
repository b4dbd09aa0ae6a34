// Writing much needs somebody's yes: what is refused without one, what is asked on a terminal, what --yes
// allows.
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "cli/fixture.h"

namespace streamsim::tests {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

/// A file system in memory of a given size.
class SmallVolume {
public:
    SmallVolume(std::string where, const std::string& options) : where_(std::move(where)) {
        if (mount("tmpfs", where_.c_str(), "tmpfs", 0, options.c_str()) != 0)
            throw std::runtime_error("cannot mount a tmpfs");
    }
    ~SmallVolume() { umount2(where_.c_str(), MNT_DETACH); }
    SmallVolume(const SmallVolume&) = delete;
    SmallVolume& operator=(const SmallVolume&) = delete;

private:
    std::string where_;
};

/// Runs streamsim with a terminal as standard input, output and error, and types `answer` when it has asked.
Finished on_terminal(std::vector<std::string> args, const std::string& answer) {
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0)
        throw std::runtime_error("there is no terminal to be had");
    const std::string name = ptsname(terminal);
    const std::string program = streamsim_binary();
    args.insert(args.begin(), program);
    std::vector<char*> pointers;
    for (std::string& each : args) pointers.push_back(each.data());
    pointers.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        setsid();
        const int own = open(name.c_str(), O_RDWR);
        ioctl(own, TIOCSCTTY, 0);
        for (int fd = 0; fd < 3; ++fd) dup2(own, fd);
        execv(program.c_str(), pointers.data());
        _exit(127);
    }
    Finished finished;
    bool answered = false;
    char buffer[4096];
    for (const std::int64_t until = monotonic_ns() + 60'000'000'000; monotonic_ns() < until;) {
        pollfd watched{terminal, POLLIN, 0};
        poll(&watched, 1, 100);
        const ssize_t got = (watched.revents & POLLIN) != 0 ? read(terminal, buffer, sizeof buffer) : 0;
        if (got > 0) finished.out.append(buffer, static_cast<std::size_t>(got));
        if (!answered && finished.out.find("[y/N]") != std::string::npos) {
            answered = write(terminal, answer.data(), answer.size()) > 0;
        }
        int status = 0;
        if (got <= 0 && waitpid(child, &status, WNOHANG) == child) {
            if (WIFEXITED(status)) finished.exit_code = WEXITSTATUS(status);
            if (WIFSIGNALED(status)) finished.signal = WTERMSIG(status);
            close(terminal);
            return finished;
        }
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    close(terminal);
    finished.timed_out = true;
    return finished;
}

class Consent : public CliTest {
protected:
    void SetUp() override {
        if (!is_root()) GTEST_SKIP() << "mounting a small volume needs root";
    }
    /// A clip of half a MiB a frame at 24 fps.
    std::vector<std::string> media(const std::string& clip_duration) const {
        return {"--format", small(), "--duration", "500ms", "--clip-duration", clip_duration, target()};
    }
    std::string workload(std::uint64_t file_mib, const Json& sweep) const {
        Json document = {{"schema", "streamsim.workload"},
                         {"version", 1},
                         {"name", "tested"},
                         {"title", "A load"},
                         {"duration", "100ms"},
                         {"meters",
                          {{{"name", "m"},
                            {"operations", {{"read", 1}}},
                            {"blocks", "64KiB"},
                            {"files", {{"count", 1}, {"bytes", std::to_string(file_mib) + "MiB"}}},
                            {"direct", false}}}}};
        if (!sweep.is_null()) document["sweep"] = sweep;
        const std::string path = dir_ / "workload.json";
        write_text(path, document.dump());
        return path;
    }
    static std::vector<std::string> with(std::vector<std::string> args, const std::string& more) {
        args.push_back(more);
        return args;
    }
    std::vector<std::string> filling(std::vector<int> percents) const {
        return {"run", workload(1, {{"over", "fill_percent"}, {"values", std::move(percents)}}), target()};
    }
    bool untouched() const { return std::filesystem::is_empty(target()); }
};

TEST_F(Consent, AVolumeIsFilledOnlyAfterAYes) {
    const SmallVolume volume(target(), "size=100m");
    const Finished refused = streamsim(filling({50, 80}));
    EXPECT_EQ(refused.exit_code, 3) << refused.text();
    EXPECT_THAT(refused.err, AllOf(HasSubstr("80.0 % full"), HasSubstr("83.9 MB would be written"),
                                   HasSubstr(target()), HasSubstr("104.9 MB are free"), HasSubstr("--yes")));
    EXPECT_TRUE(untouched());
    const Finished filled = streamsim(with(filling({50, 80}), "--yes"));
    EXPECT_EQ(filled.exit_code, 0) << filled.text();
    EXPECT_THAT(filled.err, HasSubstr("80.0 % full"));
    const auto space = std::filesystem::space(target());
    EXPECT_GT(space.available, space.capacity * 9 / 10) << "what filled it is gone";
}

TEST_F(Consent, WhatIsKeptFreeIsNeverFilled) {
    const SmallVolume volume(target(), "size=100m");
    const Finished refused = streamsim(with(filling({50, 99}), "--yes"));
    EXPECT_EQ(refused.exit_code, 3) << refused.text();
    EXPECT_THAT(refused.err, AllOf(HasSubstr("99 % full"), HasSubstr("are kept free")));
    EXPECT_TRUE(untouched());
}

TEST_F(Consent, AFillLevelCannotBeScaled) {
    const Finished refused = streamsim({"run", "fill-level", target(), "--scale", "0.001"});
    EXPECT_EQ(refused.exit_code, 2) << refused.text();
    EXPECT_THAT(refused.err, HasSubstr("--scale: fill-level fills the volume"));
    EXPECT_TRUE(untouched());
}

TEST_F(Consent, FilesOfAWorkloadMayTakeATenthOfTheFreeSpace) {
    const SmallVolume volume(target(), "size=100m");
    const Finished refused = streamsim({"run", workload(16, {}), target()});
    EXPECT_EQ(refused.exit_code, 3) << refused.text();
    EXPECT_THAT(refused.err, AllOf(HasSubstr("16.8 MB would be written"), HasSubstr("--yes")));
    // The files of all steps count together: each client has a file of its own.
    const std::string steps = workload(4, {{"over", "clients"}, {"values", {1, 2, 4}}});
    const Finished sum = streamsim({"run", steps, target()});
    EXPECT_EQ(sum.exit_code, 3) << sum.text();
    EXPECT_THAT(sum.err, HasSubstr("16.8 MB would be written"));
    EXPECT_TRUE(untouched());
    EXPECT_EQ(streamsim({"run", steps, target(), "--yes"}).exit_code, 0);
    EXPECT_EQ(streamsim({"run", workload(4, {}), target()}).exit_code, 0) << "a small one is not asked for";
}

TEST_F(Consent, FilesOfAMeterBesideStreamsCountToo) {
    const SmallVolume volume(target(), "size=100m");
    auto line = media("1s");
    line.insert(line.begin(), {"--meter", workload(16, {}), "--not-alone"});
    const Finished refused = streamsim(line);
    EXPECT_EQ(refused.exit_code, 3) << refused.text();
    EXPECT_TRUE(untouched()) << "nor are the media made before";
    EXPECT_EQ(streamsim(with(line, "--yes")).exit_code, 0);
}

TEST_F(Consent, MediaMayTakeHalfOfTheFreeSpace) {
    const SmallVolume volume(target(), "size=20m");  // 1.8 MB for a second of media
    for (const char* command : {"", "prepare"}) {
        auto line = media("7s");
        if (*command != '\0') line.insert(line.begin(), command);
        const Finished refused = streamsim(line);
        EXPECT_EQ(refused.exit_code, 3) << refused.text();
        EXPECT_THAT(refused.err, AllOf(HasSubstr("would be written"), HasSubstr("--yes")));
        EXPECT_TRUE(untouched()) << command;
    }
    EXPECT_EQ(streamsim(media("2s")).exit_code, 0) << "less is made without a question";
    EXPECT_EQ(streamsim(with(media("7s"), "--yes")).exit_code, 0);
}

TEST_F(Consent, AScenarioIsNoException) {
    const SmallVolume volume(target(), "size=20m");
    const Json stream = {{"format", small()}, {"clip_duration", "7s"}};
    const Json seat = {{"target", target()}, {"streams", Json::array({stream})}};
    const Json document = {{"schema", "streamsim.scenario"},
                           {"version", 1},
                           {"duration", "500ms"},
                           {"seats", Json::array({seat})}};
    write_text(dir_ / "scenario.json", document.dump());
    const Finished refused = streamsim({"run", dir_ / "scenario.json"});
    EXPECT_EQ(refused.exit_code, 3) << refused.text();
    EXPECT_THAT(refused.err, AllOf(HasSubstr("would be written"), HasSubstr("--yes")));
    EXPECT_TRUE(untouched());
    const Finished done = streamsim({"run", dir_ / "scenario.json", "--yes"});
    EXPECT_EQ(done.exit_code, 0) << done.text();
}

TEST_F(Consent, ASearchStopsAtHalfOfTheFreeSpace) {
    const SmallVolume volume(target(), "size=20m");
    std::vector<std::string> line = {"max", "--format",   small(),     "--clip-duration",
                                     "2s",  "--duration", "1100ms",    "--confirm",
                                     "0s",  "--json",     json_path(), target()};
    const Finished found = streamsim(line);
    EXPECT_EQ(found.exit_code, 0) << found.text();
    EXPECT_EQ(read_json(json_path())["formats"][0]["streams"], 2) << found.text();
    EXPECT_THAT(found.text(), ContainsRegex("half[ \n]+of[ \n]+the[ \n]+free[ \n]+space"));
    const auto space = std::filesystem::space(target());
    EXPECT_GE(space.available, space.capacity / 2 - (1 << 20));
    // Clips that are there are no question.
    EXPECT_EQ(streamsim({"prepare", "--format", small(), "--clip-duration", "2s", "--streams", "4", "--yes",
                         target()})
                  .exit_code,
              0);
    EXPECT_EQ(streamsim(line).exit_code, 0);
    EXPECT_EQ(read_json(json_path())["formats"][0]["streams"], 4);
}

// A step records 2.8 MB, the confirmation 12.8 MB.
TEST_F(Consent, RecordingsOfASearchAreAskedForOnceAndForItsLongestRun) {
    const SmallVolume volume(target(), "size=20m");
    copy_clip_of_others();
    Spawn search;
    search.env = {{"STREAMSIM_FORMATS", formats_with_small_default()}};
    search.args = {"max", "--record", "1", "--duration", "1100ms", "--confirm", "5s", target()};
    const Finished refused = streamsim(search);
    EXPECT_EQ(refused.exit_code, 3) << refused.text();
    EXPECT_THAT(refused.err, AllOf(HasSubstr("12.8 MB would be written"), HasSubstr("--yes")));
    EXPECT_EQ(refused.err.find("trying 1"), std::string::npos) << "nothing was played before: " << refused.err;
    EXPECT_FALSE(std::filesystem::exists(target() + "/streamsim-media"));
    search.args.emplace_back("--yes");
    const Finished found = streamsim(search);
    EXPECT_EQ(found.exit_code, 0) << found.text();
    const std::size_t said = found.err.find("would be written");
    ASSERT_NE(said, std::string::npos) << found.text();
    EXPECT_EQ(found.err.find("would be written", said + 1), std::string::npos) << found.text();
}

TEST_F(Consent, ATerminalIsAsked) {
    const SmallVolume volume(target(), "size=100m");
    const auto line = filling({50});
    const Finished no = on_terminal(line, "n\n");
    EXPECT_EQ(no.exit_code, 3) << no.out;
    EXPECT_THAT(no.out, AllOf(HasSubstr("50.0 % full. Write it? [y/N]"), HasSubstr("nothing was written")));
    const Finished end = on_terminal(line, "\x04");
    EXPECT_EQ(end.exit_code, 3) << end.out;
    const Finished stopped = on_terminal(line, "\x03");
    EXPECT_EQ(stopped.exit_code, 130) << stopped.out;
    EXPECT_TRUE(untouched());
    const Finished yes = on_terminal(line, "y\n");
    EXPECT_EQ(yes.exit_code, 0) << yes.out;
    EXPECT_FALSE(untouched());
}

TEST_F(Consent, NobodyIsAskedWhereLittleIsWritten) {
    const SmallVolume volume(target(), "size=100m");
    auto line = media("1s");
    line.emplace_back("--quiet");
    const Finished done = on_terminal(line, "");
    EXPECT_EQ(done.exit_code, 0) << done.out;
    EXPECT_EQ(done.out.find("[y/N]"), std::string::npos);
}

}  // namespace
}  // namespace streamsim::tests
