// A command of the user, run by the shell of this computer: kept apart from streamsim, and ended in time.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace streamsim::run {

struct ShellCommand {
    std::string command;                                         // for /bin/sh -c
    std::vector<std::pair<std::string, std::string>> variables;  // besides the environment of this process
    Duration timeout = seconds(60);
    std::size_t output_bytes_max = std::size_t{64} << 10;
};

struct ShellOutcome {
    enum class End {
        exited,
        signalled,  // a signal that streamsim did not send ended it
        timed_out,
        cancelled,
    };
    End end = End::exited;
    int exit_code = 0;   // exited
    int signal = 0;      // signalled
    std::string output;  // standard output and standard error, in the order in which they came
    std::uint64_t output_omitted_bytes = 0;
    Duration duration;

    bool succeeded() const { return end == End::exited && exit_code == 0; }
    /// "ended with exit code 3", "was ended by signal 9 (Killed)", "did not end within 60 s"
    std::string how_it_ended(Duration timeout) const;
};

/// True: this system runs commands.
bool shell_is_available();

/// The command runs in a session and a process group of its own, without a terminal: a program that asks for a
/// password fails at once. Its standard input is empty; it gets no descriptor of streamsim, no signal that
/// streamsim ignores, and not the password in STREAMSIM_SMB_PASSWORD. On a timeout and when `cancel` becomes
/// true its whole process group gets SIGTERM, and SIGKILL half a second later. Processes that it leaves behind
/// when it ends by itself go on: a mount may need its daemon. Blocks. Errors: environment, it cannot be
/// started.
Result<ShellOutcome> run_shell(const ShellCommand& command, const std::atomic<bool>& cancel);

}  // namespace streamsim::run
