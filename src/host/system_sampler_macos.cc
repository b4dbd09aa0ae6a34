// Samples by the calls of macOS. Not known here: the time for which threads waited for a processor, and the
// connections with file servers.
#include <mach/mach.h>
#include <mach/mach_time.h>
#include <net/if.h>
#include <net/if_mib.h>
#include <sys/socket.h>
#include <sys/sysctl.h>
#include <uv.h>

#include <iterator>
#include <span>
#include <utility>

#include "host/host.h"
#include "host/system_sampler.h"
#include "host/system_watch.h"

namespace streamsim::host {
namespace {

/// The highest kern.memorystatus_vm_pressure_level; 1 is normal, 2 a warning.
constexpr int kPressureCritical = 4;

void read_processors(SystemSample& sample) {
    const mach_port_t host = mach_host_self();
    natural_t processors = 0;
    processor_info_array_t info = nullptr;
    mach_msg_type_number_t count = 0;
    const kern_return_t told = host_processor_info(host, PROCESSOR_CPU_LOAD_INFO, &processors, &info, &count);
    mach_port_deallocate(mach_task_self(), host);
    if (told != KERN_SUCCESS) return;
    std::uint64_t all = 0;
    // The counters of a processor have 32 bits: they begin anew after more than a year.
    const auto* const loads = reinterpret_cast<const processor_cpu_load_info_data_t*>(info);
    for (const processor_cpu_load_info_data_t& load : std::span(loads, processors)) {
        for (const unsigned ticks : load.cpu_ticks) all += ticks;
        sample.idle_ticks += load.cpu_ticks[CPU_STATE_IDLE];
    }
    sample.cpu_ticks = all;
    vm_deallocate(mach_task_self(), reinterpret_cast<vm_address_t>(info), count * sizeof(integer_t));
}

/// The counters of an interface: those of getifaddrs(3) and of NET_RT_IFLIST2 have 32 bits, these have 64.
bool read_link(unsigned index, ifmibdata& facts) {
    int name[] = {CTL_NET, PF_LINK, NETLINK_GENERIC, IFMIB_IFDATA, static_cast<int>(index), IFDATA_GENERAL};
    std::size_t bytes = sizeof facts;
    return sysctl(name, std::size(name), &facts, &bytes, nullptr, 0) == 0;
}

void read_links(SystemSample& sample) {
    struct if_nameindex* const all = if_nameindex();
    if (all == nullptr) return;
    for (const auto* each = all; each->if_index != 0; ++each) {
        ifmibdata facts{};
        if (!read_link(each->if_index, facts) || (facts.ifmd_flags & IFF_UP) == 0) continue;
        SystemSample::Link link;
        link.name = each->if_name;
        link.received_bytes = facts.ifmd_data.ifi_ibytes;
        link.sent_bytes = facts.ifmd_data.ifi_obytes;
        const bool own = (facts.ifmd_flags & IFF_LOOPBACK) != 0;
        if (!own && facts.ifmd_data.ifi_baudrate > 0) link.bits_per_s = facts.ifmd_data.ifi_baudrate;
        sample.links.push_back(std::move(link));
    }
    if_freenameindex(all);
}

std::optional<int> memory_pressure_level() {
    int level = 0;
    std::size_t bytes = sizeof level;
    if (sysctlbyname("kern.memorystatus_vm_pressure_level", &level, &bytes, nullptr, 0) != 0)
        return std::nullopt;
    return level;
}

}  // namespace

std::int64_t loop_clock_ns() {
    return static_cast<std::int64_t>(uv_hrtime());
}

std::int64_t suspended_since_start_ns() {
    mach_timebase_info_data_t unit{};
    if (mach_timebase_info(&unit) != KERN_SUCCESS) return 0;
    const std::uint64_t awake = mach_absolute_time();  // first, so that the difference is not negative
    return static_cast<std::int64_t>((mach_continuous_time() - awake) * unit.numer / unit.denom);
}

struct SystemSampler::Impl {
    std::int64_t last_ns = 0;
    std::int64_t pressure_ns = 0;
};

void SystemSampler::prepare() {}

SystemSampler::SystemSampler(const std::string& /*path*/, const std::vector<std::string>& /*servers*/)
    : impl_(std::make_unique<Impl>()) {}

SystemSampler::~SystemSampler() = default;

void SystemSampler::look() {}

void SystemSampler::sample(SystemSample& sample) {
    sample.process_cpu_ns = read_process_usage().cpu_ns;
    read_processors(sample);
    read_links(sample);
    const std::int64_t now_ns = loop_clock_ns();
    if (const auto level = memory_pressure_level()) {
        // The kernel tells a level, not a time: a sample at the critical one counts for the time before it.
        if (*level >= kPressureCritical && impl_->last_ns != 0) impl_->pressure_ns += now_ns - impl_->last_ns;
        sample.memory_pressure_ns = impl_->pressure_ns;
    }
    impl_->last_ns = now_ns;
}

}  // namespace streamsim::host
