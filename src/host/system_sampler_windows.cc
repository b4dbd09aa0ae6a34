// Samples of a Windows computer: processor time, links and suspensions. Windows tells nothing of waits for
// a processor and of pressure; the counters of TCP connections are for administrators only.
// The declarations of iphlpapi.h depend on the headers before it.
// clang-format off
#include <uv.h>
#include <windows.h>
#include <iphlpapi.h>
// clang-format on

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "base/system/utf8_path.h"
#include "host/host.h"
#include "host/system_sampler.h"
#include "host/system_watch.h"

namespace streamsim::host {
namespace {

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
        link.sent_bytes = row.OutOctets;
        const bool known = row.ReceiveLinkSpeed > 0 && row.ReceiveLinkSpeed != UINT64_MAX;
        if (known && row.Type != IF_TYPE_SOFTWARE_LOOPBACK) link.bits_per_s = row.ReceiveLinkSpeed;
        sample.links.push_back(std::move(link));
    }
    FreeMibTable(table);
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

std::int64_t loop_clock_ns() {
    return static_cast<std::int64_t>(uv_hrtime());
}

struct SystemSampler::Impl {
    std::set<NET_IFINDEX> links;
};

void SystemSampler::prepare() {
    SystemSample first;
    read_links({}, first);
}

SystemSampler::SystemSampler(const std::string& /*path*/, const std::vector<std::string>& servers)
    : impl_(std::make_unique<Impl>(Impl{interfaces_toward(servers)})) {}

SystemSampler::~SystemSampler() = default;

void SystemSampler::look() {}

void SystemSampler::sample(SystemSample& sample) {
    sample.process_cpu_ns = read_process_usage().cpu_ns;
    read_processors(sample);
    read_links(impl_->links, sample);
}

}  // namespace streamsim::host
