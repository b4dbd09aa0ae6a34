#include "host/processors.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <numeric>

namespace streamsim::host {

void Processors::read(std::int64_t now_ns, SystemSample& sample) {
    std::ifstream in(root_ + "/proc/stat");
    std::string name;
    bool full = false;
    while (in >> name && name.starts_with("cpu")) {
        // user nice system idle iowait irq softirq steal; guests are in user already
        std::uint64_t ticks[8] = {};
        for (std::uint64_t& each : ticks) in >> each;
        if (!in) return;
        in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
        const auto all = std::accumulate(std::begin(ticks), std::end(ticks), std::uint64_t{0});
        const std::uint64_t idle = ticks[3] + ticks[4];
        if (name == "cpu") {
            sample.cpu_ticks = all;
            sample.idle_ticks = idle;
            sample.stolen_ticks = ticks[7];
            continue;
        }
        const Ticks now{all, idle + ticks[1]};  // what is nice makes way
        const auto [last, first] = last_.try_emplace(name, now);
        full |= !first && is_full(last->second, now);
        last->second = now;
    }
    if (last_.empty()) return;
    if (full) full_ns_ += now_ns - last_ns_.value_or(now_ns);
    last_ns_ = now_ns;
    sample.full_processor_ns = full_ns_;
}

bool Processors::is_full(const Ticks& from, const Ticks& to) {
    constexpr std::uint64_t kFreePartMax = 20;  // one of so many ticks
    if (to.all <= from.all) return false;
    return (to.free - std::min(to.free, from.free)) * kFreePartMax <= to.all - from.all;
}

}  // namespace streamsim::host
