// Host facts by libuv, on any system. All further facts are unknown outside of Linux.
#include <fmt/chrono.h>
#include <uv.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

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

std::optional<std::uint64_t> threads_allowed() {
    return std::nullopt;
}

bool request_realtime(std::string& why_not) {
    why_not = "real-time scheduling refused: this streamsim can ask for it on Linux only";
    return false;
}

std::string now_rfc3339() {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

std::optional<MountFacts> mount_of(const std::string& /*path*/) {
    return std::nullopt;
}

std::optional<int> fuse_server_of(const std::string& /*path*/) {
    return std::nullopt;
}

std::vector<std::optional<CachedPart>> cached_parts(const char* /*path*/, std::span<const FileRange> ranges) {
    return std::vector<std::optional<CachedPart>>(ranges.size());
}

PlaceAnswer place_identity_of(const std::string& path) {
    uv_fs_t request{};
    const int result = uv_fs_stat(nullptr, &request, path.c_str(), nullptr);
    PlaceAnswer out;
    if (result == 0) {
        out.identity = PlaceIdentity{request.statbuf.st_dev, request.statbuf.st_ino, 0, false};
    } else {
        out.error = -result;
    }
    uv_fs_req_cleanup(&request);
    return out;
}

std::int64_t suspended_since_start_ns() {
    return 0;
}

SystemWatch::SystemWatch(std::string path, std::vector<std::string> servers, SuspendClock suspended_ns)
    : path_(std::move(path)), servers_(std::move(servers)), suspended_ns_(std::move(suspended_ns)) {}

SystemWatch::~SystemWatch() = default;

SystemHistory SystemWatch::stop(Duration /*idle*/) {
    return {};
}

}  // namespace streamsim::host
