#include "storage/smb/smb_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/system/errno_name.h"
#include "storage/backends.h"
#include "storage/clock_now.h"

namespace streamsim::storage {
namespace {

constexpr const char* kProgram = "streamsim-smb";
constexpr int kAboveInherited = 10;  // keeps this process's descriptors clear of the helper's numbers

Result<std::string> find_program() {
    if (const char* named = std::getenv("STREAMSIM_SMB_HELPER")) return std::string(named);
    std::error_code error;
    const auto own = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
    for (const auto& place : {own / kProgram, own / "../libexec/streamsim" / kProgram}) {
        if (access(place.c_str(), X_OK) == 0) return place.string();
    }
    return environment_error(
        fmt::format("smb: the program {} is neither in {} nor in {}: install it beside streamsim", kProgram,
                    own.string(), (own / "../libexec/streamsim").lexically_normal().string()));
}

const char* text_of(int error) {
    const char* const text = errno_description(error);
    return text != nullptr ? text : "an error without a text";
}

Error no_process(const char* what, int error) {
    return environment_error(fmt::format("smb: {}: {}", what, text_of(error)));
}

/// The helper inherits no descriptor that this process was started with or that a library left open.
void close_others(posix_spawn_file_actions_t& actions) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
        const int descriptor = std::atoi(entry.path().filename().c_str());
        if (descriptor > kSmbMemory) posix_spawn_file_actions_addclose(&actions, descriptor);
    }
}

/// Starts the helper. It has nothing of the user's environment, least of all a password; it inherits no other
/// descriptor, blocks and ignores no signal, and Ctrl-C does not reach it. Returns zero or an errno.
int spawn_helper(const std::string& program, int socket, int memory, int& pid) {
    std::vector<std::string> variables{"PATH=/usr/bin:/bin", "HOME=/nonexistent"};
    if (const char* libraries = std::getenv("LD_LIBRARY_PATH"))
        variables.push_back(fmt::format("LD_LIBRARY_PATH={}", libraries));
    std::vector<char*> pointers;
    for (std::string& each : variables) pointers.push_back(each.data());
    pointers.push_back(nullptr);
    std::string name = kProgram;
    std::array<char*, 2> arguments{name.data(), nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (const int standard : {0, 1, 2})
        posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&actions, socket, kSmbSocket);
    posix_spawn_file_actions_adddup2(&actions, memory, kSmbMemory);
    close_others(actions);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t signals;
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    const int error =
        posix_spawn(&pid, program.c_str(), &actions, &attributes, arguments.data(), pointers.data());
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error;
}

/// Reaps a process that was killed. A hanging system call may delay its end: a thread of its own waits for
/// that.
void collect(int pid) {
    const auto wait = [pid] {
        while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
        }
    };
    if (waitpid(pid, nullptr, WNOHANG) != 0) return;
    try {
        std::thread(wait).detach();
    } catch (const std::system_error&) {
        // Without a thread the process stays a zombie until this program ends.
    }
}

/// Moves a descriptor to a number from kAboveInherited on.
FileDescriptor above_inherited(int descriptor) {
    const FileDescriptor held(descriptor);
    return FileDescriptor(held ? fcntl(held.get(), F_DUPFD_CLOEXEC, kAboveInherited) : -1);
}

}  // namespace

bool smb_is_built_in() {
#ifdef STREAMSIM_HAS_SMB
    return true;
#else
    return false;
#endif
}

Result<std::unique_ptr<SmbProcess>> SmbProcess::start() {
    if (!smb_is_built_in()) {
        return environment_error(
            "smb: this streamsim was built without libsmbclient: install it (Debian: libsmbclient-dev) and "
            "build again, or mount the share and give its path");
    }
    auto program = find_program();
    if (!program) return program.error();
    const FileDescriptor memory = above_inherited(memfd_create("streamsim-smb", MFD_CLOEXEC));
    constexpr std::size_t kBytes = kSmbSlots * kSmbSlotBytes;
    if (memory.get() < 0 || ftruncate(memory.get(), off_t{kBytes}) != 0)
        return no_process("cannot share memory with a helper process", errno);
    std::unique_ptr<SmbProcess> process(new SmbProcess);
    void* const mapped = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
    if (mapped == MAP_FAILED) return no_process("cannot share memory with a helper process", errno);
    process->memory_ = {static_cast<std::byte*>(mapped), kBytes};
    if (auto spawned = process->spawn(*program, memory.get()); !spawned) return spawned.error();
    return process;
}

Result<void> SmbProcess::spawn(const std::string& program, int memory) {
    std::array<int, 2> pair{-1, -1};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) != 0)
        return no_process("cannot make a socket for a helper process", errno);
    FileDescriptor ours = above_inherited(pair[0]);
    const FileDescriptor theirs = above_inherited(pair[1]);
    if (ours.get() < 0 || theirs.get() < 0)
        return no_process("cannot make a socket for a helper process", errno);
    if (const int error = spawn_helper(program, theirs.get(), memory, pid_)) {
        pid_ = -1;
        return no_process(fmt::format("{} cannot be started", program).c_str(), error);
    }
    socket_ = std::move(ours);
    return {};
}

SmbProcess::~SmbProcess() {
    if (pid_ > 0) {
        kill(pid_, SIGKILL);
        collect(pid_);
    }
    if (!memory_.empty()) munmap(memory_.data(), memory_.size());
}

bool SmbProcess::fits(std::initializer_list<std::string_view> texts) {
    std::size_t bytes = 0;
    for (const std::string_view text : texts) bytes += text.size() + 1;
    return bytes <= kSmbTextBytesMax;
}

bool SmbProcess::send(const SmbRequest& request, std::initializer_list<std::string_view> texts) {
    std::array<char, sizeof(SmbRequest) + kSmbTextBytesMax> packet;
    std::memcpy(packet.data(), &request, sizeof(request));
    std::size_t bytes = sizeof(request);
    for (const std::string_view text : texts) {
        std::memcpy(packet.data() + bytes, text.data(), text.size());
        bytes += text.size();
        packet[bytes++] = 0;
    }
    return ::send(socket_.get(), packet.data(), bytes, MSG_NOSIGNAL | MSG_DONTWAIT) ==
           static_cast<ssize_t>(bytes);
}

SmbProcess::Received SmbProcess::receive(SmbAnswer& answer) {
    for (;;) {
        const ssize_t got = recv(socket_.get(), &answer, sizeof(answer), MSG_DONTWAIT);
        if (got == static_cast<ssize_t>(sizeof(answer))) return Received::answer;
        if (got < 0 && errno == EINTR) continue;
        return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? Received::nothing : Received::gone;
    }
}

std::optional<bool> SmbProcess::crashed() {
    int status = 0;
    const int ended = waitpid(pid_, &status, WNOHANG);
    if (ended == 0 || (ended < 0 && errno == EINTR)) return std::nullopt;
    pid_ = -1;
    return ended > 0 && WIFSIGNALED(status);
}

SmbLogin::SmbLogin(const RemotePlace& place, std::string directory, Credentials credentials)
    : place_(place), directory_(std::move(directory)), credentials_(std::move(credentials)) {
    while (directory_.size() > 1 && directory_.back() == '/') directory_.pop_back();
    share_ = place.name_of(directory_.substr(0, directory_.find('/', 1)));
    if (!place.user.empty()) credentials_.user = place.user;
    if (!place.domain.empty()) credentials_.domain = place.domain;
}

Result<void> SmbLogin::check_length(const std::string& address) const {
    if (SmbProcess::fits({address, directory_, credentials_.user, credentials_.domain, credentials_.password}))
        return {};
    return environment_error(
        fmt::format("{}: the path, user, domain and password are too long: {} bytes at most in all",
                    place_.name_of(""), kSmbTextBytesMax));
}

bool SmbLogin::ask(SmbProcess& process, const std::string& address, const SmbAnswer& known) const {
    SmbRequest request{.call = SmbCall::connect, .id = kSmbConnectId, .port = place_.port};
    // The helper reports its own timeout before this process gives up on it.
    request.timeout_ms = static_cast<std::uint32_t>(place_.timeout.ns / 1'000'000 * 9 / 10 + 1);
    request.dialect = known.dialect;
    request.read_bytes = known.read_bytes;
    return process.send(request,
                        {address, directory_, credentials_.user, credentials_.domain, credentials_.password});
}

std::string SmbLogin::identity(const std::string& address) const {
    std::string text = fmt::format("{}:{}", address, place_.port);
    for (const std::string* each :
         {&share_, &credentials_.user, &credentials_.domain, &credentials_.password}) {
        text += '\0';
        text += *each;
    }
    return text;
}

std::string SmbLogin::at(const std::string& address) const {
    const std::string host = address == place_.host ? "" : fmt::format(" ({})", address);
    return fmt::format("{}{}, port {}", place_.host, host, place_.port == 0 ? 445 : place_.port);
}

Error SmbLogin::no_answer(const std::string& address) const {
    return environment_error(fmt::format(
        "{}: {} does not answer within {:g} s: is it an SMB server, and is it well? ?timeout=TIME waits longer",
        share_, at(address), static_cast<double>(place_.timeout.ns) / 1e9));
}

Error SmbLogin::refused(const SmbAnswer& answer, const std::string& address) const {
    const std::string who =
        credentials_.user.empty() ? "guests" : fmt::format("the user '{}'", credentials_.user);
    const std::string how = credentials_.user.empty()
                                ? "give a user by smb://USER@HOST/SHARE and a password by "
                                  "STREAMSIM_SMB_PASSWORD or --credentials FILE"
                                : "check user, password and domain (STREAMSIM_SMB_USER, "
                                  "STREAMSIM_SMB_PASSWORD, STREAMSIM_SMB_DOMAIN, "
                                  "or --credentials FILE)";
    const char* const name = errno_name(answer.error);
    const std::string reason =
        fmt::format("{} ({})", text_of(answer.error), name != nullptr ? name : "unknown");
    const auto error = [this](const std::string& text) {
        return environment_error(fmt::format("{}: {}", share_, text));
    };
    if (answer.error == ETIMEDOUT) return no_answer(address);
    switch (answer.step) {
        case SmbStep::find_host: return error(fmt::format("the host {} is not known: check its name", address));
        case SmbStep::reach_port:
            return error(
                fmt::format("{} cannot be reached: {}: is the server on, and is it this port? ?port=N is "
                            "another one",
                            at(address), reason));
        case SmbStep::get_answer:
            if (answer.error == EPROTO || answer.error == ECONNRESET)
                return error(fmt::format("{} does not speak SMB 2 or 3: {}", at(address), reason));
            return error(fmt::format("{}: {}", at(address), reason));
        case SmbStep::log_in: return error(fmt::format("the server refuses {}: {}: {}", who, reason, how));
        case SmbStep::enter_share:
            if (answer.error == ENOENT || answer.error == ENODEV)
                return error(fmt::format("{} has no share of this name: {}", place_.host, reason));
            return error(fmt::format("the share is not available: {}", reason));
        case SmbStep::may_enter:
            return error(fmt::format("the server refuses {} this share: {}: {}", who, reason, how));
        case SmbStep::connected: break;
    }
    return error(reason);
}

Result<void> SmbLogin::check_directory(const SmbAnswer& answer) const {
    const int error = answer.directory_error;
    if (error == 0) return {};
    const char* const name = errno_name(error);
    const std::string text = error == ENOENT ? "there is no such file or directory" : text_of(error);
    return environment_error(
        fmt::format("{}: {} ({})", place_.name_of(directory_), text, name != nullptr ? name : "unknown"));
}

bool await_readable(const SmbProcess& process, Instant deadline) {
    pollfd poll_on{process.socket(), POLLIN, 0};
    for (Instant now = clock_now(); now < deadline; now = clock_now()) {
        if (poll(&poll_on, 1, static_cast<int>((deadline - now).ns / 1'000'000 + 1)) > 0) return true;
    }
    return false;
}

Result<SmbAnswer> await_connected(SmbProcess& process,
                                  const SmbLogin& login,
                                  const std::string& address,
                                  Instant deadline) {
    SmbAnswer answer;
    while (await_readable(process, deadline)) {
        switch (process.receive(answer)) {
            case SmbProcess::Received::answer:
                if (answer.error != 0) return login.refused(answer, address);
                return answer;
            case SmbProcess::Received::gone:
                return environment_error(
                    fmt::format("{}: the process that speaks SMB has ended unexpectedly", login.share()));
            case SmbProcess::Received::nothing: break;
        }
    }
    return login.no_answer(address);
}

}  // namespace streamsim::storage
