#include "host/host.h"

#include <fmt/chrono.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "base/system/proc_text.h"

namespace streamsim::host {
namespace {

constexpr int kRealtimePriority = 10;  // above everything ordinary, below the kernel's own threads

/// "Debian GNU/Linux 12 (bookworm)", or nothing.
std::string distribution() {
    constexpr std::string_view kKey = "PRETTY_NAME=";
    std::ifstream in("/etc/os-release");
    std::string line;
    while (std::getline(in, line)) {
        if (!line.starts_with(kKey)) continue;
        std::string value = line.substr(kKey.size());
        if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
            value = value.substr(1, value.size() - 2);
        }
        return value;
    }
    return {};
}

std::uint32_t usable_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        const int count = CPU_COUNT(&set);
        if (count > 0) return static_cast<std::uint32_t>(count);
    }
    // More processors than the fixed set holds.
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? static_cast<std::uint32_t>(online) : 1;
}

std::int64_t to_ns(const timeval& time) {
    return std::int64_t{time.tv_sec} * 1'000'000'000 + std::int64_t{time.tv_usec} * 1'000;
}

std::int64_t spent_ns(const rusage& spent) {
    return to_ns(spent.ru_utime) + to_ns(spent.ru_stime);
}

/// Processor time of a living process, in the kernel's ticks of 10 ms.
std::int64_t spent_by(const std::string& process) {
    static const std::int64_t tick_ns = 1'000'000'000 / sysconf(_SC_CLK_TCK);
    std::ifstream in("/proc/" + process + "/stat");
    std::string line;
    std::getline(in, line);
    const auto name_end = line.rfind(')');
    if (name_end == std::string::npos) return 0;
    std::istringstream fields(line.substr(name_end + 1));
    constexpr int kBeforeUser = 11;  // from the state on
    std::string skipped;
    for (int i = 0; i < kBeforeUser; ++i) fields >> skipped;
    std::int64_t user = 0;
    std::int64_t system = 0;
    return fields >> user >> system ? (user + system) * tick_ns : 0;
}

}  // namespace

HostFacts read_host_facts() {
    HostFacts facts;
    utsname names{};
    if (uname(&names) == 0) {
        facts.name = names.nodename;
        facts.os = std::string(names.sysname) + " " + names.release + " " + names.machine;
    }
    if (const std::string name = distribution(); !name.empty()) facts.os = name + ", " + facts.os;
    facts.cpus = usable_cpus();
    facts.memory_bytes =
        number_after(read_proc_text("/proc/meminfo").value_or(""), "MemTotal:").value_or(0) * 1024;
    return facts;
}

ProcessUsage read_process_usage() {
    ProcessUsage usage;
    rusage spent{};
    if (getrusage(RUSAGE_SELF, &spent) == 0) usage.cpu_ns = spent_ns(spent);
    // Helpers that have ended, and those that live.
    if (getrusage(RUSAGE_CHILDREN, &spent) == 0) usage.helpers_cpu_ns = spent_ns(spent);
    for (const std::string& child : children_of("self")) usage.helpers_cpu_ns += spent_by(child);
    usage.cpu_ns += usage.helpers_cpu_ns;
    usage.storage_read_bytes = number_after(read_proc_text("/proc/self/io").value_or(""), "read_bytes:");
    return usage;
}

std::vector<std::string> children_of(const std::string& process) {
    std::vector<std::string> all;
    std::error_code error;
    for (const auto& task : std::filesystem::directory_iterator("/proc/" + process + "/task", error)) {
        std::ifstream in(task.path() / "children");
        for (std::string child; in >> child;) all.push_back(child);
    }
    return all;
}

bool block_device_behind(const std::string& path) {
    struct stat facts {};
    return stat(path.c_str(), &facts) == 0 && major(facts.st_dev) != 0;
}

std::optional<std::uint64_t> threads_allowed() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NPROC, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
    return limit.rlim_cur;
}

bool request_realtime(std::string& why_not) {
    sched_param wanted{};
    wanted.sched_priority = kRealtimePriority;
    const int error = pthread_setschedparam(pthread_self(), SCHED_FIFO, &wanted);
    if (error == 0) return true;
    why_not = "real-time scheduling refused: ";
    why_not += std::strerror(error);  // NOLINT(concurrency-mt-unsafe): before any thread
    if (error == EPERM) why_not += "; it needs root, CAP_SYS_NICE or an rtprio limit (ulimit -r) of 10 or more";
    return false;
}

std::string now_rfc3339() {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace streamsim::host
