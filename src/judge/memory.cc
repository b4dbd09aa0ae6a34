#include "judge/memory.h"

#include <algorithm>

namespace streamsim::judge {
namespace {

/// Of the time, that tasks wait for memory where it is too little. Staged with a control group of 90 MB: 20 to
/// 30 %; with storage that is slow, or a page cache that is full: less than 2 %.
constexpr double kMemoryPressed = 0.05;
constexpr std::int64_t kMarginNs = 500'000'000;

std::optional<std::uint64_t> grown(const std::optional<std::uint64_t>& from,
                                   const std::optional<std::uint64_t>& to) {
    if (!from || !to) return std::nullopt;
    return *to - std::min(*to, *from);
}

std::optional<double> share(const std::optional<std::int64_t>& from,
                            const std::optional<std::int64_t>& to,
                            std::int64_t time_ns) {
    if (!from || !to) return std::nullopt;
    return static_cast<double>(*to - *from) / static_cast<double>(time_ns);
}

}  // namespace

MemoryWindow memory_window(const SystemHistory& history, std::int64_t from_ns, std::int64_t to_ns) {
    MemoryWindow out;
    if (history.size() < 2) return out;
    const auto later = [](std::int64_t ns, const SystemSample& sample) { return ns < sample.at_ns; };
    auto last = std::upper_bound(history.begin(), history.end(), to_ns + kMarginNs, later);
    if (last == history.end()) --last;
    auto first = std::upper_bound(history.begin(), last, from_ns - kMarginNs, later);
    if (first != history.begin()) --first;
    const std::int64_t time_ns = last->at_ns - first->at_ns;
    if (time_ns <= 0) return out;
    out.pressure = share(first->own_memory_pressure_ns, last->own_memory_pressure_ns, time_ns);
    if (!out.pressure) out.pressure = share(first->memory_pressure_ns, last->memory_pressure_ns, time_ns);
    out.limit_hits = grown(first->memory_limit_hits, last->memory_limit_hits);
    out.limit_bytes = last->memory_limit_bytes;
    out.refaulted_bytes = grown(first->refaulted_bytes, last->refaulted_bytes);
    return out;
}

MemoryAnswer memory_answer(const MemoryWindow& memory) {
    if (memory.pressure.value_or(0) < kMemoryPressed) return MemoryAnswer::enough;
    if (!memory.limit_hits) return MemoryAnswer::unknown;
    return *memory.limit_hits > 0 ? MemoryAnswer::short_of : MemoryAnswer::enough;
}

}  // namespace streamsim::judge
