// A command of the user: how it ends, what is kept of its output, what it gets of this process, and that
// nothing of its process group outlives a timeout or an interruption.
#include "run/process/shell_command.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace streamsim::run {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using End = ShellOutcome::End;

ShellOutcome shell(const std::string& command, Duration timeout = seconds(20), std::size_t bytes_max = 65536) {
    const std::atomic<bool> cancel{false};
    const auto outcome = run_shell({command, {{"STREAMSIM_STEP", "3"}}, timeout, bytes_max}, cancel);
    EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().problems.front());
    return outcome ? *outcome : ShellOutcome{};
}

/// A path for a file that a command writes; removed in the end.
class NotedFile {
public:
    NotedFile() : path_(testing::TempDir() + "shell_command." + std::to_string(getpid())) { remove(); }
    ~NotedFile() { remove(); }
    NotedFile(const NotedFile&) = delete;
    NotedFile& operator=(const NotedFile&) = delete;

    const std::string& path() const { return path_; }
    std::string text() const {
        std::ifstream in(path_);
        std::ostringstream text;
        text << in.rdbuf();
        return text.str();
    }

private:
    void remove() const { std::filesystem::remove(path_); }
    std::string path_;
};

bool is_alive(pid_t process) {
    std::ifstream in("/proc/" + std::to_string(process) + "/stat");
    std::string number, name, state;
    in >> number >> name >> state;
    return in && state != "Z" && state != "X";
}

TEST(ShellCommand, OutputOfBothIsKeptInOrder) {
    const ShellOutcome outcome = shell("echo one; echo two >&2; echo three");
    EXPECT_TRUE(outcome.succeeded());
    EXPECT_EQ(outcome.output, "one\ntwo\nthree\n");
    EXPECT_EQ(outcome.output_omitted_bytes, 0U);
    EXPECT_GT(outcome.duration.ns, 0);
}

TEST(ShellCommand, ExitCodeIsTold) {
    const ShellOutcome outcome = shell("exit 7");
    EXPECT_EQ(outcome.end, End::exited);
    EXPECT_EQ(outcome.exit_code, 7);
    EXPECT_FALSE(outcome.succeeded());
    EXPECT_EQ(outcome.how_it_ended(seconds(20)), "ended with exit code 7");
}

TEST(ShellCommand, UnknownProgramIsTheShellsError) {
    const ShellOutcome outcome = shell("/nowhere/flush");
    EXPECT_EQ(outcome.exit_code, 127);
    EXPECT_THAT(outcome.output, HasSubstr("/nowhere/flush"));
}

TEST(ShellCommand, SignalIsTold) {
    const ShellOutcome outcome = shell("kill -KILL $$");
    EXPECT_EQ(outcome.end, End::signalled);
    EXPECT_EQ(outcome.signal, SIGKILL);
    EXPECT_FALSE(outcome.succeeded());
    EXPECT_THAT(outcome.how_it_ended(seconds(20)), StartsWith("was ended by signal 9"));
}

TEST(ShellCommand, LargeOutputIsCutAndCounted) {
    const ShellOutcome outcome = shell("head -c 1000000 /dev/zero | tr '\\0' x", seconds(20), 1000);
    EXPECT_TRUE(outcome.succeeded());
    EXPECT_EQ(outcome.output, std::string(1000, 'x'));
    EXPECT_EQ(outcome.output_omitted_bytes, 999'000U);
}

TEST(ShellCommand, InputIsEmptyAndThereIsNoTerminal) {
    const ShellOutcome outcome = shell("wc -c; (: < /dev/tty) 2> /dev/null || echo no terminal");
    EXPECT_EQ(outcome.output, "0\nno terminal\n");
}

TEST(ShellCommand, VariablesAreAddedAndThePasswordIsNot) {
    setenv("STREAMSIM_SMB_PASSWORD", "secret", 1);
    setenv("STREAMSIM_STEP", "of the caller", 1);
    setenv("OF_THE_USER", "kept", 1);
    const ShellOutcome outcome = shell("echo $STREAMSIM_STEP $OF_THE_USER; env");
    unsetenv("STREAMSIM_SMB_PASSWORD");
    unsetenv("STREAMSIM_STEP");
    EXPECT_THAT(outcome.output, AllOf(StartsWith("3 kept\n"), Not(HasSubstr("secret"))));
}

TEST(ShellCommand, NoDescriptorLeaks) {
    std::size_t inherited = 0;  // from the caller of this test, which wants its children to have them
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        const int file = std::stoi(entry.path().filename().string());
        if (file > STDERR_FILENO && (fcntl(file, F_GETFD) & FD_CLOEXEC) == 0) ++inherited;
    }
    constexpr std::size_t kOfLs = 4;  // 0 to 2, and the directory that ls reads
    EXPECT_EQ(shell("ls /proc/self/fd | wc -l").output, std::to_string(kOfLs + inherited) + "\n");
}

TEST(ShellCommand, SignalsHaveTheirDefaults) {
    signal(SIGPIPE, SIG_IGN);
    // A shell cannot change a signal that was ignored when it began.
    const ShellOutcome outcome = shell("kill -PIPE $$; echo ignored");
    EXPECT_EQ(outcome.end, End::signalled);
    EXPECT_EQ(outcome.signal, SIGPIPE);
}

TEST(ShellCommand, TimeoutEndsTheWholeGroup) {
    const NotedFile file;
    // The child of the shell ignores SIGTERM, and holds the pipe open.
    const ShellOutcome outcome = shell(
        "(trap '' TERM; echo $(exec sh -c 'echo $PPID') > " + file.path() + "; sleep 60; sleep 60) & wait",
        milliseconds(400));
    EXPECT_EQ(outcome.end, End::timed_out);
    EXPECT_LT(outcome.duration.ns, seconds(2).ns);
    const int child = std::atoi(file.text().c_str());
    ASSERT_GT(child, 1);
    EXPECT_FALSE(is_alive(child)) << child;
    EXPECT_EQ(outcome.how_it_ended(milliseconds(400)), "did not end within 400.0 ms, and was ended");
}

TEST(ShellCommand, CancelEndsIt) {
    std::atomic<bool> cancel{false};
    std::thread other([&cancel] { cancel = true; });
    const auto outcome = run_shell({"echo begun; sleep 60", {}, seconds(60)}, cancel);
    other.join();
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->end, End::cancelled);
    EXPECT_LT(outcome->duration.ns, seconds(2).ns);
}

TEST(ShellCommand, DaemonThatItLeavesBehindGoesOn) {
    const NotedFile file;
    const ShellOutcome outcome = shell("sleep 30 & echo $! > " + file.path() + "; echo done");
    EXPECT_TRUE(outcome.succeeded());
    EXPECT_EQ(outcome.output, "done\n");
    EXPECT_LT(outcome.duration.ns, seconds(10).ns);
    const int daemon = std::atoi(file.text().c_str());
    ASSERT_GT(daemon, 1);
    EXPECT_TRUE(is_alive(daemon));
    kill(daemon, SIGKILL);
}

}  // namespace
}  // namespace streamsim::run
