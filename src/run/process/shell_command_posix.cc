#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>

#include "base/system/pipe.h"
#include "base/units.h"
#include "run/process/shell_command.h"

extern char** environ;  // NOLINT: POSIX names it so

namespace streamsim::run {
namespace {

/// How often the end of the command, its timeout and `cancel` are looked at.
constexpr int kTickMs = 5;
/// The time between SIGTERM and SIGKILL.
constexpr std::int64_t kTermNs = 500'000'000;
/// The time that the end of the processes may take after SIGKILL.
constexpr std::int64_t kKillNs = 300'000'000;
/// Exit code 255: not known to be a success.
constexpr int kStatusUnknown = 255 << 8;
/// A process that was left behind may write without an end.
constexpr int kLastReadsMax = 64;

std::int64_t now_ns() {
    return static_cast<std::int64_t>(uv_hrtime());
}

/// The environment of the command: variables of `command` replace those of this process.
std::vector<std::string> environment_of(const ShellCommand& command) {
    std::vector<std::string> out;
    const auto is_ours = [&command](std::string_view variable) {
        const std::string_view name = variable.substr(0, variable.find('='));
        for (const auto& [own, value] : command.variables) {
            if (name == own) return true;
        }
        return name == "STREAMSIM_SMB_PASSWORD";
    };
    for (char** each = environ; *each != nullptr; ++each) {
        if (!is_ours(*each)) out.emplace_back(*each);
    }
    for (const auto& [name, value] : command.variables) out.push_back(fmt::format("{}={}", name, value));
    return out;
}

/// Attributes and file actions of the process to be started.
class SpawnSetup {
public:
    explicit SpawnSetup(int output) {
        posix_spawnattr_init(&attributes_);
        posix_spawn_file_actions_init(&actions_);
        sigset_t all, none;
        sigfillset(&all);
        sigemptyset(&none);
        posix_spawnattr_setsigdefault(&attributes_, &all);
        posix_spawnattr_setsigmask(&attributes_, &none);
        posix_spawnattr_setflags(&attributes_,
                                 POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
        posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&actions_, output, STDERR_FILENO);
    }
    ~SpawnSetup() {
        posix_spawn_file_actions_destroy(&actions_);
        posix_spawnattr_destroy(&attributes_);
    }
    SpawnSetup(const SpawnSetup&) = delete;
    SpawnSetup& operator=(const SpawnSetup&) = delete;

    const posix_spawnattr_t* attributes() const { return &attributes_; }
    const posix_spawn_file_actions_t* actions() const { return &actions_; }

private:
    posix_spawnattr_t attributes_{};
    posix_spawn_file_actions_t actions_{};
};

/// If the process that started this one ignores SIGCHLD, this one would not be told how a command ended.
void hear_of_children() {
    struct sigaction now {};
    if (sigaction(SIGCHLD, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) std::signal(SIGCHLD, SIG_DFL);
}

Result<pid_t> start(const ShellCommand& command, int output) {
    hear_of_children();
    const SpawnSetup setup(output);
    std::vector<std::string> words = {"sh", "-c", command.command};
    std::vector<std::string> environment = environment_of(command);
    std::vector<char*> arguments, variables;
    for (std::string& word : words) arguments.push_back(word.data());
    for (std::string& variable : environment) variables.push_back(variable.data());
    arguments.push_back(nullptr);
    variables.push_back(nullptr);
    pid_t pid = -1;
    const int error =
        posix_spawn(&pid, "/bin/sh", setup.actions(), setup.attributes(), arguments.data(), variables.data());
    if (error != 0)
        return environment_error(fmt::format("/bin/sh cannot be started: {}", std::strerror(error)));
    return pid;
}

/// A process group that was started, until its leader has ended.
class ProcessGroup {
public:
    explicit ProcessGroup(pid_t leader) : leader_(leader) {}

    /// The status of the leader once it has ended; the number of the group stays taken until then.
    std::optional<int> status() {
        int status = 0;
        const pid_t ended = waitpid(leader_, &status, WNOHANG);
        if (ended == leader_) return status;
        if (ended < 0 && errno == ECHILD) return kStatusUnknown;  // somebody else has waited for it
        return std::nullopt;
    }
    void send(int signal) const { kill(-leader_, signal); }
    /// Some process of the group is there, a zombie too.
    bool is_there() const { return kill(-leader_, 0) == 0 || errno == EPERM; }

private:
    const pid_t leader_;
};

/// Takes the bytes that are in the pipe, for `timeout_ms` at most. False: it has ended.
bool take_output(int from, int timeout_ms, const ShellCommand& command, ShellOutcome& outcome) {
    pollfd wait{from, POLLIN, 0};
    if (poll(&wait, 1, timeout_ms) <= 0 || wait.revents == 0) return true;
    std::array<char, 65536> chunk;  // NOLINT: read() fills it
    const ssize_t got = read(from, chunk.data(), chunk.size());
    if (got < 0) return errno == EINTR || errno == EAGAIN;
    const auto bytes = static_cast<std::size_t>(got);
    const std::size_t kept = std::min(bytes, command.output_bytes_max - outcome.output.size());
    outcome.output.append(chunk.data(), kept);
    outcome.output_omitted_bytes += bytes - kept;
    return bytes > 0;
}

/// Ends the group: by SIGTERM, then by SIGKILL. A process in a call that nothing interrupts, such as an unmount
/// of a server that does not answer, is left behind.
void end_group(ProcessGroup& group, Pipe& pipe, const ShellCommand& command, ShellOutcome& outcome) {
    group.send(SIGTERM);
    const std::int64_t begin_ns = now_ns();
    bool ended = false, killed = false;
    while (!ended || group.is_there()) {
        const std::int64_t passed_ns = now_ns() - begin_ns;
        if (!killed && passed_ns >= kTermNs) {
            group.send(SIGKILL);
            killed = true;
        }
        if (passed_ns >= kTermNs + kKillNs) return;
        if (pipe.ends[0] >= 0 && !take_output(pipe.ends[0], kTickMs, command, outcome)) pipe.close_end(0);
        if (pipe.ends[0] < 0) poll(nullptr, 0, kTickMs);
        ended = ended || group.status().has_value();
    }
}

}  // namespace

bool shell_is_available() {
    return true;
}

std::string ShellOutcome::how_it_ended(Duration timeout) const {
    switch (end) {
        case End::exited: return fmt::format("ended with exit code {}", exit_code);
        case End::signalled: return fmt::format("was ended by signal {} ({})", signal, strsignal(signal));
        case End::timed_out: return fmt::format("did not end within {}, and was ended", show_duration(timeout));
        case End::cancelled: break;
    }
    return "was interrupted";
}

Result<ShellOutcome> run_shell(const ShellCommand& command, const std::atomic<bool>& cancel) {
    Pipe pipe;
    if (pipe.ends[0] < 0) return environment_error(fmt::format("no pipe: {}", std::strerror(errno)));
    ShellOutcome outcome;
    const std::int64_t begin_ns = now_ns();
    const auto pid = start(command, pipe.ends[1]);
    if (!pid) return pid.error();
    pipe.close_end(1);
    ProcessGroup group(*pid);
    std::optional<int> status;
    while (!status) {
        if (pipe.ends[0] >= 0 && !take_output(pipe.ends[0], kTickMs, command, outcome)) pipe.close_end(0);
        if (pipe.ends[0] < 0) poll(nullptr, 0, kTickMs);
        status = group.status();
        const bool late = now_ns() - begin_ns > command.timeout.ns;
        if (status || !(cancel || late)) continue;
        outcome.end = cancel ? ShellOutcome::End::cancelled : ShellOutcome::End::timed_out;
        end_group(group, pipe, command, outcome);
        outcome.duration = {now_ns() - begin_ns};
        return outcome;
    }
    outcome.duration = {now_ns() - begin_ns};
    // Its last bytes are in the pipe. A process that it left behind may hold the pipe open: it is not waited
    // for.
    for (int i = 0; i < kLastReadsMax && pipe.ends[0] >= 0; ++i) {
        if (!take_output(pipe.ends[0], 0, command, outcome)) pipe.close_end(0);
    }
    if (WIFSIGNALED(*status)) {
        outcome.end = ShellOutcome::End::signalled;
        outcome.signal = WTERMSIG(*status);
    } else {
        outcome.exit_code = WEXITSTATUS(*status);
    }
    return outcome;
}

}  // namespace streamsim::run
