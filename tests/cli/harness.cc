#include "cli/harness.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace streamsim::tests {
namespace {

std::string read_memory(int file) {
    std::string text;
    char buffer[65536];
    off_t at = 0;
    for (ssize_t got = 0; (got = pread(file, buffer, sizeof buffer, at)) > 0; at += got) {
        text.append(buffer, static_cast<std::size_t>(got));
    }
    return text;
}

int memory_file(const char* name, const std::string& content) {
    const int file = memfd_create(name, MFD_CLOEXEC);
    if (file < 0 || write(file, content.data(), content.size()) != static_cast<ssize_t>(content.size())) {
        throw std::runtime_error("memfd_create");
    }
    lseek(file, 0, SEEK_SET);
    return file;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> result;
    result.reserve(texts.size() + 1);
    for (std::string& text : texts) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
}

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& more) {
    std::vector<std::string> result;
    for (char** entry = environ; *entry; entry++) {
        const std::string text = *entry;
        bool replaced = false;
        const std::string its_name = text.substr(0, text.find('='));
        for (const auto& [name, value] : more) replaced = replaced || its_name == name;
        if (!replaced) result.push_back(text);
    }
    for (const auto& [name, value] : more) {
        result.push_back(name);
        result.back().append("=").append(value);
    }
    return result;
}

// In the child, between fork and exec: system calls only.
void become(const Spawn& spawn) {
    signal(SIGHUP, SIG_DFL);  // the tests themselves may run under nohup
    if (spawn.memlock_bytes) {
        const rlimit limit{*spawn.memlock_bytes, *spawn.memlock_bytes};
        if (setrlimit(RLIMIT_MEMLOCK, &limit) != 0) _exit(126);
    }
    if (!spawn.directory.empty() && chdir(spawn.directory.c_str()) != 0) _exit(126);
    if (spawn.user) {
        if (setgroups(0, nullptr) != 0 || setgid(*spawn.user) != 0 || setuid(*spawn.user) != 0) _exit(126);
    }
}

}  // namespace

std::string streamsim_binary() {
    const char* chosen = std::getenv("STREAMSIM_BINARY");
    return chosen ? chosen : STREAMSIM_BUILT_BINARY;
}

TempDir::TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "streamsim-test-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("mkdtemp: " + name);
    chmod(name.c_str(), 0777);
    path_ = name;
}

TempDir::~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

bool LaterClock::works() {
    return *LATER_CLOCK_LIBRARY != '\0';
}

LaterClock::LaterClock() {
    setenv("LD_PRELOAD", LATER_CLOCK_LIBRARY, 1);
}

LaterClock::~LaterClock() {
    unsetenv("LD_PRELOAD");
}

std::string Finished::text() const {
    std::ostringstream text;
    text << "exit code " << exit_code << ", signal " << signal << (timed_out ? ", timed out" : "") << ", after "
         << wall_s << " s\n--- standard output:\n"
         << out.substr(0, 4000) << "\n--- standard error:\n"
         << err.substr(0, 4000);
    return text.str();
}

Process::Process(const std::string& program, const Spawn& spawn) : timeout_s_(spawn.timeout_s) {
    std::vector<std::string> words{program};
    words.insert(words.end(), spawn.args.begin(), spawn.args.end());
    std::vector<std::string> variables = environment_with(spawn.env);
    const std::vector<char*> argv = pointers(words);
    const std::vector<char*> envp = pointers(variables);
    const int in = memory_file("in", spawn.input);
    out_ = memory_file("out", "");
    err_ = memory_file("err", "");
    started_ns_ = monotonic_ns();
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error("fork");
    if (pid_ == 0) {
        setpgid(0, 0);
        dup2(in, STDIN_FILENO);
        dup2(out_, STDOUT_FILENO);
        dup2(spawn.error.value_or(err_), STDERR_FILENO);
        become(spawn);
        execvpe(program.c_str(), argv.data(), envp.data());
        _exit(127);
    }
    setpgid(pid_, pid_);
    close(in);
}

Process::~Process() {
    if (!ended_) {
        kill(-pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    close(out_);
    close(err_);
}

void Process::send(int signal) const {
    kill(pid_, signal);
}

void Process::reap(int status) {
    ended_ = true;
    if (WIFEXITED(status)) finished_.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) finished_.signal = WTERMSIG(status);
    finished_.wall_s = static_cast<double>(monotonic_ns() - started_ns_) / 1e9;
}

bool Process::running() {
    int status = 0;
    if (!ended_ && waitpid(pid_, &status, WNOHANG) == pid_) reap(status);
    return !ended_;
}

void Process::wait_until_it_hears(int signal) {
    const std::string status = "/proc/" + std::to_string(pid_) + "/status";
    for (std::int64_t end_ns = monotonic_ns() + 30'000'000'000; running() && monotonic_ns() < end_ns;) {
        const std::string text = read_text(status);
        const std::size_t at = text.find("SigCgt:");
        if (at != std::string::npos && (std::stoull(text.substr(at + 7), nullptr, 16) >> (signal - 1) & 1U))
            return;
        sleep_ms(1);
    }
}

std::string Process::out_so_far() const {
    return read_memory(out_);
}
std::string Process::err_so_far() const {
    return read_memory(err_);
}

Finished Process::wait() {
    while (running()) {
        const std::int64_t waited_ns = monotonic_ns() - started_ns_;
        if (static_cast<double>(waited_ns) > timeout_s_ * 1e9 && !finished_.timed_out) {
            finished_.timed_out = true;
            kill(-pid_, SIGKILL);
        }
        sleep_ms(2);
    }
    finished_.out = out_so_far();
    finished_.err = err_so_far();
    return finished_;
}

Finished run(const std::string& program, const Spawn& spawn) {
    return Process(program, spawn).wait();
}

Finished streamsim(const std::vector<std::string>& args) {
    Spawn spawn;
    spawn.args = args;
    return streamsim(spawn);
}

Finished streamsim(const Spawn& spawn) {
    return run(streamsim_binary(), spawn);
}

std::string read_text(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw std::runtime_error(path + ": cannot be read");
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

void write_text(const std::string& path, const std::string& text) {
    std::ofstream out(path, std::ios::binary);
    out << text;
    if (!out.flush()) throw std::runtime_error(path + ": cannot be written");
}

Json read_json(const std::string& path) {
    return Json::parse(read_text(path));
}

bool is_root() {
    return geteuid() == 0;
}

void sleep_ms(std::int64_t ms) {
    const timespec time{ms / 1000, ms % 1000 * 1'000'000};
    nanosleep(&time, nullptr);
}

std::int64_t monotonic_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace streamsim::tests
