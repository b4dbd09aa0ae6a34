// Samples of a Windows computer: processor time, links and suspensions. Windows tells nothing of waits for
// a processor and of pressure; the counters of TCP connections are for administrators only.
// The declarations of iphlpapi.h depend on the headers before it.
// clang-format off
#include <uv.h>
#include <windows.h>
#include <iphlpapi.h>
// clang-format on

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/system/utf8_path.h"
#include "host/host.h"
#include "host/system_watch.h"

namespace streamsim::host {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(200);
constexpr std::size_t kSamplesMax = 8192;

std::int64_t monotonic_ns() {
    return static_cast<std::int64_t>(uv_hrtime());
}

std::uint64_t ticks_of(const FILETIME& time) {
    return (std::uint64_t{time.dwHighDateTime} << 32) | time.dwLowDateTime;
}

void read_processors(SystemSample& sample) {
    FILETIME idle{}, kernel{}, user{};
    if (!GetSystemTimes(&idle, &kernel, &user)) return;
    sample.cpu_ticks = ticks_of(kernel) + ticks_of(user);  // the kernel's time includes the idle one
    sample.idle_ticks = ticks_of(idle);
}

/// The interfaces, as Windows numbers them, by which packets to these addresses leave.
std::set<NET_IFINDEX> interfaces_toward(const std::vector<std::string>& addresses) {
    std::set<NET_IFINDEX> all;
    for (const std::string& address : addresses) {
        sockaddr_in v4{};
        sockaddr_in6 v6{};
        NET_IFINDEX index = 0;
        const bool is_v4 = uv_ip4_addr(address.c_str(), 0, &v4) == 0;
        if (!is_v4 && uv_ip6_addr(address.c_str(), 0, &v6) != 0) continue;
        auto* const to = is_v4 ? reinterpret_cast<sockaddr*>(&v4) : reinterpret_cast<sockaddr*>(&v6);
        if (GetBestInterfaceEx(to, &index) == NO_ERROR) all.insert(index);
    }
    return all;
}

/// `only`: the wanted interfaces; empty: all.
void read_links(const std::set<NET_IFINDEX>& only, SystemSample& sample) {
    MIB_IF_TABLE2* table = nullptr;
    if (GetIfTable2(&table) != NO_ERROR) return;
    for (ULONG i = 0; i < table->NumEntries; ++i) {
        const MIB_IF_ROW2& row = table->Table[i];
        // A filter of an interface counts the same bytes once more.
        if (row.InterfaceAndOperStatusFlags.FilterInterface || row.OperStatus != IfOperStatusUp) continue;
        if (!only.empty() && !only.contains(row.InterfaceIndex)) continue;
        SystemSample::Link link;
        link.name = utf8_text(std::filesystem::path(row.Alias));
        link.received_bytes = row.InOctets;
        const bool known = row.ReceiveLinkSpeed > 0 && row.ReceiveLinkSpeed != UINT64_MAX;
        if (known && row.Type != IF_TYPE_SOFTWARE_LOOPBACK) link.bits_per_s = row.ReceiveLinkSpeed;
        sample.links.push_back(std::move(link));
    }
    FreeMibTable(table);
}

SystemSample sample_now(const std::set<NET_IFINDEX>& links, const SystemWatch::SuspendClock& suspended_ns) {
    SystemSample sample;
    sample.process_cpu_ns = read_process_usage().cpu_ns;
    read_processors(sample);
    read_links(links, sample);
    sample.suspended_ns = suspended_ns();
    sample.at_ns = monotonic_ns();
    return sample;
}

/// Removes every second sample, but neither the first nor the last.
void thin_out(SystemHistory& history) {
    std::size_t kept = 1;
    for (std::size_t i = 2; i < history.size(); i += 2) history[kept++] = std::move(history[i]);
    history.resize(kept);
}

}  // namespace

/// The interrupt time with suspensions less that without. Windows 10 and later tell the first.
std::int64_t suspended_since_start_ns() {
    using Query = void(WINAPI*)(PULONGLONG);
    static const auto with_suspensions = reinterpret_cast<Query>(
        reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(L"kernelbase.dll"), "QueryInterruptTime")));
    if (with_suspensions == nullptr) return 0;
    constexpr int kTries = 4;
    ULONGLONG before = 0, with = 0, after = 0;
    for (int i = 0; i < kTries; ++i) {  // both grow at once, some hundred times a second
        QueryUnbiasedInterruptTime(&before);
        with_suspensions(&with);
        QueryUnbiasedInterruptTime(&after);
        if (before == after) break;
    }
    return static_cast<std::int64_t>(with - std::min(with, after)) * 100;
}

SystemWatch::SystemWatch(std::string path, std::vector<std::string> servers, SuspendClock suspended_ns)
    : path_(std::move(path)), servers_(std::move(servers)), suspended_ns_(std::move(suspended_ns)) {
    // The first sample may load a driver, which must not be beside the start of other threads.
    history_.push_back(sample_now(interfaces_toward(servers_), suspended_ns_));
    thread_ = std::thread([this] { watch(); });
}

SystemWatch::~SystemWatch() {
    if (thread_.joinable()) (void)stop();
}

SystemHistory SystemWatch::stop(Duration idle) {
    {
        MutexLock lock(mutex_);
        const std::int64_t end_ns = monotonic_ns() + idle.ns;
        for (std::int64_t now_ns = monotonic_ns(); now_ns < end_ns; now_ns = monotonic_ns())
            lock.wait_for(wake_, std::chrono::nanoseconds(end_ns - now_ns));
        stopping_ = true;
    }
    wake_.notify_all();
    thread_.join();
    return std::move(history_);
}

void SystemWatch::watch() {
    const std::set<NET_IFINDEX> links = interfaces_toward(servers_);
    auto interval = kInterval;
    for (bool last = false; !last;) {
        {
            MutexLock lock(mutex_);
            if (!stopping_) lock.wait_for(wake_, interval);
            last = stopping_;
        }
        history_.push_back(sample_now(links, suspended_ns_));
        if (history_.size() < kSamplesMax) continue;
        thin_out(history_);
        interval *= 2;
    }
}

}  // namespace streamsim::host
