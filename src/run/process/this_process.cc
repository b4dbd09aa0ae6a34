// A lock's owner is identified by the boot of its computer, its process namespace, its number there and its
// start time, since the system uses numbers again.
#include "run/process/this_process.h"

#include <unistd.h>
#include <uv.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/system/utf8_path.h"
#include "host/host.h"

namespace streamsim::run {
namespace {

std::string first_line(const std::string& path) {
    std::ifstream in(path);
    std::string line;
    std::getline(in, line);
    return line;
}

/// Empty where the system does not tell.
std::string this_process_space() {
    std::error_code error;
    const auto processes = std::filesystem::read_symlink("/proc/self/ns/pid", error);
    const std::string boot = first_line("/proc/sys/kernel/random/boot_id");
    if (error || boot.empty()) return {};
    return boot + " " + processes.string();
}

/// In clock ticks since the boot: the 22nd word, of which the second is a name in brackets and may have blanks.
std::string start_of(const std::string& process) {
    const std::string line = first_line("/proc/" + process + "/stat");
    const std::size_t name_end = line.rfind(')');
    if (name_end == std::string::npos) return {};
    std::istringstream words(line.substr(name_end + 1));
    std::string word;
    for (int number = 3; number <= 22; ++number) words >> word;
    return words ? word : "";
}

}  // namespace

std::filesystem::path program_path() {
    constexpr std::size_t kLongest = 32768;  // of any system
    std::string path(kLongest, '\0');
    std::size_t size = path.size();
    if (uv_exepath(path.data(), &size) != 0) return {};
    path.resize(size);
    return utf8_path(path);
}

media::LockOwner this_lock_owner(const std::vector<std::string>& command) {
    media::LockOwner owner;
    owner.host = host::read_host_facts().name;
    owner.pid = static_cast<std::int64_t>(getpid());
    owner.machine = this_process_space();
    owner.started = start_of("self");
    owner.since = host::now_rfc3339();
    for (const std::string& word : command) {
        const bool first = owner.command.empty();
        owner.command += first ? utf8_text(utf8_path(word).filename()) : " " + word;
    }
    return owner;
}

bool lock_owner_is_gone(const media::LockOwner& owner) {
    if (owner.pid <= 0 || owner.machine.empty() || owner.started.empty()) return false;
    if (owner.machine != this_process_space()) return false;
    const std::string started = start_of(std::to_string(owner.pid));
    if (!started.empty()) return started != owner.started;
    // /proc may hide the processes of other users (hidepid); the system still knows their numbers.
    return uv_kill(static_cast<int>(owner.pid), 0) == UV_ESRCH;
}

}  // namespace streamsim::run
