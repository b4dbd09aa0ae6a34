// Facts about this computer by the calls of macOS.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <libproc.h>
#include <mach/mach.h>
#include <mach/mach_time.h>
#include <mach/thread_policy.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/sysctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <string_view>

#include "host/host.h"

namespace streamsim::host {
namespace {

std::string text_of(const char* name) {
    char text[256] = {};
    std::size_t bytes = sizeof text - 1;
    return sysctlbyname(name, text, &bytes, nullptr, 0) == 0 ? text : "";
}

std::int64_t to_ns(const timeval& time) {
    return std::int64_t{time.tv_sec} * 1'000'000'000 + std::int64_t{time.tv_usec} * 1'000;
}

std::int64_t spent_ns(const rusage& spent) {
    return to_ns(spent.ru_utime) + to_ns(spent.ru_stime);
}

/// In units of mach_absolute_time().
std::uint32_t ticks_of(std::uint64_t ns) {
    mach_timebase_info_data_t unit{};
    mach_timebase_info(&unit);
    return static_cast<std::uint32_t>(ns * unit.denom / unit.numer);
}

}  // namespace

HostFacts read_host_facts() {
    HostFacts facts;
    utsname names{};
    if (uname(&names) == 0) {
        facts.name = names.nodename;
        facts.os = std::string(names.sysname) + " " + names.release + " " + names.machine;
    }
    if (const std::string version = text_of("kern.osproductversion"); !version.empty())
        facts.os = "macOS " + version + ", " + facts.os;
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    facts.cpus = cpus > 0 ? static_cast<std::uint32_t>(cpus) : 1;
    std::size_t bytes = sizeof facts.memory_bytes;
    if (sysctlbyname("hw.memsize", &facts.memory_bytes, &bytes, nullptr, 0) != 0) facts.memory_bytes = 0;
    return facts;
}

/// The processor time of helper processes that still run is not known.
ProcessUsage read_process_usage() {
    ProcessUsage usage;
    rusage spent{};
    if (getrusage(RUSAGE_SELF, &spent) == 0) usage.cpu_ns = spent_ns(spent);
    if (getrusage(RUSAGE_CHILDREN, &spent) == 0) usage.helpers_cpu_ns = spent_ns(spent);
    usage.cpu_ns += usage.helpers_cpu_ns;
    rusage_info_v2 more{};
    if (proc_pid_rusage(getpid(), RUSAGE_INFO_V2, reinterpret_cast<rusage_info_t*>(&more)) == 0)
        usage.storage_read_bytes = more.ri_diskio_bytesread;
    return usage;
}

bool block_device_behind(const std::string& path) {
    struct statfs facts {};
    return statfs(path.c_str(), &facts) == 0 && (facts.f_flags & MNT_LOCAL) != 0 &&
           std::string_view(facts.f_mntfromname).starts_with("/dev/");
}

std::optional<std::uint64_t> threads_allowed() {
    // RLIMIT_NPROC counts processes here.
    return std::nullopt;
}

/// By the time-constraint policy, which needs no privilege. Threads that this one starts do not inherit it.
bool request_realtime(std::string& why_not) {
    constexpr std::uint64_t kComputationNs = 2'000'000;  // at a stretch
    constexpr std::uint64_t kConstraintNs = 5'000'000;   // from the wake-up to the end of it
    thread_time_constraint_policy_data_t policy{};
    policy.period = 0;  // wake-ups have no fixed period
    policy.computation = ticks_of(kComputationNs);
    policy.constraint = ticks_of(kConstraintNs);
    policy.preemptible = 1;
    const thread_act_t thread = mach_thread_self();
    const kern_return_t result =
        thread_policy_set(thread, THREAD_TIME_CONSTRAINT_POLICY, reinterpret_cast<thread_policy_t>(&policy),
                          THREAD_TIME_CONSTRAINT_POLICY_COUNT);
    mach_port_deallocate(mach_task_self(), thread);
    if (result == KERN_SUCCESS) return true;
    why_not = fmt::format("real-time scheduling refused: error {} of thread_policy_set", result);
    return false;
}

std::string now_rfc3339() {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace streamsim::host
