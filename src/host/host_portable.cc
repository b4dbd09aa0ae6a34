// Host facts by libuv, on any system. All further facts are unknown outside of Linux.
#include <uv.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "host/host.h"
#include "host/mount.h"
#include "host/system_watch.h"

namespace streamsim::host {
namespace {

std::int64_t to_ns(const uv_timeval_t& time) {
    return std::int64_t{time.tv_sec} * 1'000'000'000 + std::int64_t{time.tv_usec} * 1'000;
}

}  // namespace

HostFacts read_host_facts() {
    HostFacts facts;
    std::array<char, UV_MAXHOSTNAMESIZE> name{};
    std::size_t size = name.size();
    if (uv_os_gethostname(name.data(), &size) == 0) facts.name = name.data();
    uv_utsname_t names{};
    if (uv_os_uname(&names) == 0)
        facts.os = std::string(names.sysname) + " " + names.release + " " + names.machine;
    facts.cpus = std::max(uv_available_parallelism(), 1u);
    facts.memory_bytes = uv_get_total_memory();
    return facts;
}

ProcessUsage read_process_usage() {
    ProcessUsage usage;
    uv_rusage_t spent{};
    if (uv_getrusage(&spent) == 0) usage.cpu_ns = to_ns(spent.ru_utime) + to_ns(spent.ru_stime);
    return usage;
}

bool block_device_behind(const std::string& /*path*/) {
    return false;
}

bool request_realtime(std::string& why_not) {
    why_not = "real-time scheduling refused: this streamsim can ask for it on Linux only";
    return false;
}

std::string now_rfc3339() {
    const std::time_t now = std::time(nullptr);
    std::array<char, 32> text{};
    const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ",
                                             std::gmtime(&now));  // NOLINT(concurrency-mt-unsafe): before play
    return {text.data(), length};
}

std::optional<MountFacts> mount_of(const std::string& /*path*/) {
    return std::nullopt;
}

std::optional<int> fuse_server_of(const std::string& /*path*/) {
    return std::nullopt;
}

std::optional<std::uint64_t> cached_bytes(const char* /*path*/) {
    return std::nullopt;
}

std::int64_t suspended_since_start_ns() {
    return 0;
}

SystemWatch::SystemWatch(std::string path, SuspendClock suspended_ns)
    : path_(std::move(path)), suspended_ns_(std::move(suspended_ns)) {}

SystemWatch::SystemWatch(ServersWatched servers, SuspendClock suspended_ns)
    : servers_(std::move(servers.addresses)), suspended_ns_(std::move(suspended_ns)) {}

SystemWatch::~SystemWatch() = default;

SystemHistory SystemWatch::stop(Duration /*idle*/) {
    return {};
}

}  // namespace streamsim::host
