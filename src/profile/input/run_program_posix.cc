#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "base/system/pipe.h"
#include "profile/input/run_program.h"

extern char** environ;  // NOLINT: POSIX names it so

namespace streamsim::profile {
namespace {

/// Gives each line of `text` that is complete, and leaves the rest.
bool give_lines(std::string& text, const std::function<bool(std::string_view)>& line) {
    std::size_t begin = 0;
    bool wanted = true;
    for (auto end = text.find('\n'); wanted && end != std::string::npos; end = text.find('\n', begin)) {
        wanted = line(std::string_view(text).substr(begin, end - begin));
        begin = end + 1;
    }
    text.erase(0, begin);
    return wanted;
}

/// Reads both pipes until both have ended, or nothing more is wanted.
bool read_both(Pipe& out,
               Pipe& err,
               std::string& error_text,
               const std::function<bool(std::string_view)>& line) {
    std::string rest, chunk(1 << 20, '\0');
    constexpr std::size_t kErrorBytesMax = 4096;
    while (out.ends[0] >= 0 || err.ends[0] >= 0) {
        std::array<pollfd, 2> wait{{{out.ends[0], POLLIN, 0}, {err.ends[0], POLLIN, 0}}};
        if (poll(wait.data(), wait.size(), -1) < 0 && errno != EINTR) return true;
        for (std::size_t i = 0; i < wait.size(); ++i) {
            if (wait[i].fd < 0 || wait[i].revents == 0) continue;
            const ssize_t bytes = read(wait[i].fd, chunk.data(), chunk.size());
            if (bytes < 0 && errno == EINTR) continue;
            if (bytes <= 0) {
                (i == 0 ? out : err).close_end(0);
            } else if (i == 0) {
                rest.append(chunk, 0, static_cast<std::size_t>(bytes));
                if (!give_lines(rest, line)) return false;
            } else if (error_text.size() < kErrorBytesMax) {
                error_text.append(chunk, 0, static_cast<std::size_t>(bytes));
            }
        }
    }
    return true;
}

/// The last line, which says why.
std::string last_line(std::string text) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    const auto begin = text.rfind('\n');
    return begin == std::string::npos ? text : text.substr(begin + 1);
}

}  // namespace

bool can_run(const std::string& program) {
    const char* const path = std::getenv("PATH");
    std::string_view rest = path == nullptr ? "" : path;
    while (!rest.empty()) {
        const auto end = std::min(rest.find(':'), rest.size());
        const std::string file = std::string(rest.substr(0, end)) + "/" + program;
        if (access(file.c_str(), X_OK) == 0) return true;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return false;
}

Result<void> run_for_lines(const std::string& program,
                           const std::vector<std::string>& arguments,
                           const std::function<bool(std::string_view)>& line) {
    Pipe out, err;
    if (out.ends[0] < 0 || err.ends[0] < 0)
        return environment_error(fmt::format("{}: no pipe: {}", program, std::strerror(errno)));
    std::vector<char*> words{const_cast<char*>(program.c_str())};  // NOLINT: posix_spawnp does not write there
    for (const std::string& each : arguments) words.push_back(const_cast<char*>(each.c_str()));  // NOLINT
    words.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out.ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err.ends[1], STDERR_FILENO);
    pid_t pid = -1;
    std::vector<char*> variables;
    for (char** each = environ; *each != nullptr; ++each) {
        if (!std::string_view(*each).starts_with("STREAMSIM_SMB_PASSWORD=")) variables.push_back(*each);
    }
    variables.push_back(nullptr);
    const int error = posix_spawnp(&pid, program.c_str(), &actions, nullptr, words.data(), variables.data());
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        return environment_error(fmt::format("{} cannot be started: {}", program, std::strerror(error)));
    out.close_end(1);
    err.close_end(1);
    std::string error_text;
    const bool wanted = read_both(out, err, error_text, line);
    if (!wanted) kill(pid, SIGTERM);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (!wanted || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) return {};
    return environment_error(fmt::format("{}: {}", program, last_line(error_text)));
}

}  // namespace streamsim::profile
