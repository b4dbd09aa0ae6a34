#include "judge/host_window.h"

#include <algorithm>
#include <utility>

namespace streamsim::judge {
namespace {

/// The last sample that is not later, or the first.
std::size_t before(const SystemHistory& history, std::int64_t at_ns) {
    const auto after = std::upper_bound(history.begin(), history.end(), at_ns,
                                        [](std::int64_t ns, const SystemSample& s) { return ns < s.at_ns; });
    return after == history.begin() ? 0 : static_cast<std::size_t>(after - history.begin()) - 1;
}

struct Span {
    std::size_t first = 0, last = 0;
};

/// REQUIRES: history is not empty.
Span span_of(const SystemHistory& history, std::int64_t from_ns, std::int64_t to_ns) {
    Span span{before(history, from_ns), before(history, to_ns)};
    if (history[span.last].at_ns < to_ns && span.last + 1 < history.size()) ++span.last;
    return span;
}

const SystemSample::Link* find(const SystemSample& sample, const std::string& name) {
    const auto found = std::ranges::find_if(
        sample.links, [&name](const SystemSample::Link& each) { return each.name == name; });
    return found != sample.links.end() ? &*found : nullptr;
}

using Direction = std::uint64_t SystemSample::Link::*;

std::uint64_t carried(const SystemSample& from,
                      const SystemSample& to,
                      const std::string& name,
                      Direction direction) {
    const auto* const first = find(from, name);
    const auto* const last = find(to, name);
    if (last == nullptr) return 0;
    const std::uint64_t had = first != nullptr ? first->*direction : 0;
    return last->*direction - std::min(last->*direction, had);
}

std::uint64_t received(const SystemSample& from, const SystemSample& to, const std::string& name) {
    return carried(from, to, name, &SystemSample::Link::received_bytes);
}

std::uint64_t sent(const SystemSample& from, const SystemSample& to, const std::string& name) {
    return carried(from, to, name, &SystemSample::Link::sent_bytes);
}

/// Memory pressure from which on memory is short. Measured in a control group of 90 MB: 20 to 30 %; with slow
/// storage, or a full page cache: less than 2 %.
constexpr double kMemoryPressureShare = 0.05;
constexpr std::int64_t kMarginNs = 500'000'000;

std::optional<std::uint64_t> grown(const std::optional<std::uint64_t>& from,
                                   const std::optional<std::uint64_t>& to) {
    if (!from || !to) return std::nullopt;
    return *to - std::min(*to, *from);
}

std::optional<double> time_share(const std::optional<std::int64_t>& from,
                                 const std::optional<std::int64_t>& to,
                                 std::int64_t time_ns) {
    if (!from || !to || time_ns <= 0) return std::nullopt;
    return static_cast<double>(*to - *from) / static_cast<double>(time_ns);
}

std::optional<double> percent(const std::optional<double>& share) {
    if (!share) return std::nullopt;
    return *share * 100;
}

/// The share of its speed that the interface received or sent, whichever was more. REQUIRES: link.bits_per_s.
double busy(const SystemSample& from, const SystemSample& to, const SystemSample::Link& link) {
    const auto time_ns = static_cast<double>(to.at_ns - from.at_ns);
    if (time_ns <= 0) return 0;
    const std::uint64_t bytes = std::max(received(from, to, link.name), sent(from, to, link.name));
    return static_cast<double>(bytes) * 8 / (static_cast<double>(*link.bits_per_s) * time_ns / 1e9);
}

/// False: a thread is said to have waited for longer in one sample than the whole span. Linux counts a wait
/// when it ends, and at times a sleep as a wait (the threads of a server that was stopped).
bool waits_fit(const SystemHistory& history, const Span& span) {
    const std::int64_t time_ns = history[span.last].at_ns - history[span.first].at_ns;
    for (std::size_t i = span.first + 1; i <= span.last; ++i) {
        const auto& before = history[i - 1].run_queue_wait_ns;
        const auto& now = history[i].run_queue_wait_ns;
        if (before && now && *now - *before > time_ns) return false;
    }
    return true;
}

}  // namespace

HostWindow host_window(const SystemHistory& history, std::int64_t from_ns, std::int64_t to_ns) {
    HostWindow out;
    if (history.empty()) return out;
    const Span span = span_of(history, from_ns, to_ns);
    const SystemSample& from = history[span.first];
    const SystemSample& to = history[span.last];
    const std::int64_t time_ns = to.at_ns - from.at_ns;
    if (time_ns <= 0) return out;
    if (from.cpu_ticks && to.cpu_ticks && *to.cpu_ticks > *from.cpu_ticks) {
        const auto ticks = static_cast<double>(*to.cpu_ticks - *from.cpu_ticks);
        out.processors_busy =
            1 - static_cast<double>(to.idle_ticks - std::min(to.idle_ticks, from.idle_ticks)) / ticks;
        out.stolen =
            static_cast<double>(to.stolen_ticks - std::min(to.stolen_ticks, from.stolen_ticks)) / ticks;
    }
    if (from.run_queue_wait_ns && to.run_queue_wait_ns && waits_fit(history, span)) {
        out.run_queue_wait = time_share(from.run_queue_wait_ns, to.run_queue_wait_ns, time_ns);
        out.run_queue_wait_ns = *to.run_queue_wait_ns - *from.run_queue_wait_ns;
    }
    out.full_processor = time_share(from.full_processor_ns, to.full_processor_ns, time_ns);
    out.cpu_pressure = time_share(from.cpu_pressure_ns, to.cpu_pressure_ns, time_ns);
    out.io_pressure = time_share(from.io_pressure_ns, to.io_pressure_ns, time_ns);
    out.memory_pressure = time_share(from.memory_pressure_ns, to.memory_pressure_ns, time_ns);
    std::vector<std::int64_t> round_trips;
    for (std::size_t i = span.first + 1; i <= span.last; ++i) {
        if (history[i].rtt_ns) round_trips.push_back(*history[i].rtt_ns);
    }
    if (!round_trips.empty()) {
        const auto middle = round_trips.begin() + static_cast<std::ptrdiff_t>(round_trips.size() / 2);
        std::nth_element(round_trips.begin(), middle, round_trips.end());
        out.rtt_ns = *middle;
    }
    return out;
}

bool processor_full(const SystemHistory& history, std::int64_t from_ns, std::int64_t to_ns) {
    return host_window(history, from_ns, to_ns).full_processor.value_or(0) > 0.5;
}

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
    out.pressure = time_share(first->own_memory_pressure_ns, last->own_memory_pressure_ns, time_ns);
    if (!out.pressure) out.pressure = time_share(first->memory_pressure_ns, last->memory_pressure_ns, time_ns);
    out.limit_hits = grown(first->memory_limit_hits, last->memory_limit_hits);
    out.limit_bytes = last->memory_limit_bytes;
    out.refaulted_bytes = grown(first->refaulted_bytes, last->refaulted_bytes);
    return out;
}

MemoryAnswer memory_answer(const MemoryWindow& memory) {
    if (memory.pressure.value_or(0) < kMemoryPressureShare) return MemoryAnswer::enough;
    if (!memory.limit_hits) return MemoryAnswer::unknown;
    return *memory.limit_hits > 0 ? MemoryAnswer::short_of : MemoryAnswer::enough;
}

PathSpan path_span(const SystemHistory& history, std::int64_t from_ns, std::int64_t to_ns) {
    if (history.empty()) return {};
    const Span span = span_of(history, from_ns, to_ns);
    if (!history[span.last].path) return {};
    PathSpan out = *history[span.last].path;
    const auto& before = history[span.first].path;
    if (!before) return out;
    for (const auto count :
         {&PathSpan::received_segments, &PathSpan::out_of_order, &PathSpan::lossy_samples,
          &PathSpan::sent_segments, &PathSpan::resent, &PathSpan::quiet_answers, &PathSpan::refused})
        out.*count -= std::min(out.*count, (*before).*count);
    for (const auto time_ns : {&PathSpan::quiet_ns, &PathSpan::no_carrier_ns, &PathSpan::unanswered_ns,
                               &PathSpan::unacknowledged_ns})
        out.*time_ns -= std::min(out.*time_ns, (*before).*time_ns);
    return out;
}

NetworkPathFacts network_path_facts(const SystemHistory& history, bool by_sent) {
    NetworkPathFacts out;
    if (history.size() < 2) return out;
    std::uint64_t most = 0;
    for (const SystemSample::Link& link : history.back().links) {
        const std::uint64_t received_bytes = received(history.front(), history.back(), link.name);
        const std::uint64_t sent_bytes = sent(history.front(), history.back(), link.name);
        if ((by_sent ? sent_bytes : received_bytes) <= most) continue;
        most = by_sent ? sent_bytes : received_bytes;
        out.link = link.name;
        out.bits_per_s = link.bits_per_s;
        out.received_bytes = received_bytes;
        out.sent_bytes = sent_bytes;
    }
    for (const SystemSample& sample : history) {
        if (sample.connection && sample.connection->received_bytes > 0) {
            out.peer = sample.connection->peer;
            out.out_of_order = sample.connection->out_of_order;
        }
        for (const std::optional<std::int64_t>& rtt_ns : {sample.rtt_ns, sample.rtt_min_ns})
            if (rtt_ns) out.rtt_min_ns = std::min(out.rtt_min_ns.value_or(INT64_MAX), *rtt_ns);
    }
    return out;
}

bool is_far(const NetworkPathFacts& path) {
    constexpr std::int64_t kFarRttNs = 5'000'000;
    return path.rtt_min_ns.value_or(0) >= kFarRttNs;
}

bool path_full(const SystemHistory& history,
               const NetworkPathFacts& path,
               std::int64_t from_ns,
               std::int64_t to_ns) {
    constexpr double kLinkFullShare = 0.85;
    constexpr std::int64_t kQueuedRttFactor = 5;
    constexpr std::int64_t kQueuedRttNs = 1'000'000;
    if (link_busy(history, path.link, from_ns, to_ns).value_or(0) >= kLinkFullShare) return true;
    const auto rtt_ns = host_window(history, from_ns, to_ns).rtt_ns;
    return rtt_ns && path.rtt_min_ns && *rtt_ns > *path.rtt_min_ns * kQueuedRttFactor &&
           *rtt_ns - *path.rtt_min_ns >= kQueuedRttNs;
}

std::optional<double> link_busy(const SystemHistory& history,
                                const std::string& link,
                                std::int64_t from_ns,
                                std::int64_t to_ns) {
    if (history.empty()) return std::nullopt;
    const Span span = span_of(history, from_ns, to_ns);
    const auto* const found = find(history[span.last], link);
    if (found == nullptr || !found->bits_per_s) return std::nullopt;
    return busy(history[span.first], history[span.last], *found);
}

std::vector<ComputerInterval> computer_timeline(const SystemHistory& history,
                                                std::int64_t origin_ns,
                                                std::size_t limit) {
    std::vector<ComputerInterval> out;
    const std::size_t step = std::max<std::size_t>((history.size() + limit - 1) / limit, 1);
    for (std::size_t i = 0; i + step < history.size(); i += step) {
        const SystemSample& from = history[i];
        const SystemSample& to = history[i + step];
        const std::int64_t time_ns = to.at_ns - from.at_ns;
        if (time_ns <= 0) continue;
        ComputerInterval interval{.t_ns = from.at_ns - origin_ns, .interval_ns = time_ns};
        interval.cpu_busy = host_window(history, from.at_ns, to.at_ns).processors_busy;
        interval.process_cpu =
            static_cast<double>(to.process_cpu_ns - from.process_cpu_ns) / static_cast<double>(time_ns);
        double bytes = 0;
        for (const SystemSample::Link& link : to.links)
            bytes += static_cast<double>(received(from, to, link.name));
        interval.received_bytes_per_s = static_cast<std::uint64_t>(bytes * 1e9 / static_cast<double>(time_ns));
        out.push_back(interval);
    }
    return out;
}

std::vector<LinkEvidence> links_of(const SystemHistory& history, bool by_sent) {
    std::vector<LinkEvidence> out;
    if (history.size() < 2) return out;
    const NetworkPathFacts path = network_path_facts(history, by_sent);
    const std::optional<std::int64_t> rtt_ns =
        host_window(history, history.front().at_ns, history.back().at_ns).rtt_ns;
    for (const SystemSample::Link& link : history.back().links) {
        LinkEvidence evidence;
        evidence.name = link.name;
        evidence.bits_per_s = link.bits_per_s;
        evidence.received_bytes = received(history.front(), history.back(), link.name);
        evidence.sent_bytes = sent(history.front(), history.back(), link.name);
        if (evidence.received_bytes == 0) continue;
        if (link.bits_per_s) {
            evidence.busy_percent = busy(history.front(), history.back(), link) * 100;
            for (std::size_t i = 1; i < history.size(); ++i) {
                evidence.busy_percent_max =
                    std::max(evidence.busy_percent_max, busy(history[i - 1], history[i], link) * 100);
            }
        }
        if (link.name == path.link) {
            evidence.rtt_ns = rtt_ns.value_or(0);
            evidence.rtt_min_ns = path.rtt_min_ns.value_or(0);
            evidence.resent = history.back().path ? history.back().path->out_of_order : path.out_of_order;
        }
        out.push_back(std::move(evidence));
    }
    return out;
}

std::vector<Suspension> suspensions_of(const SystemHistory& history) {
    constexpr std::int64_t kSuspensionNsMin = 100'000'000;  // less may be the time between two clock readings
    std::vector<Suspension> out;
    for (std::size_t i = 1; i < history.size(); ++i) {
        const SystemSample& from = history[i - 1];
        const SystemSample& to = history[i];
        if (!from.suspended_ns || !to.suspended_ns || *to.suspended_ns - *from.suspended_ns < kSuspensionNsMin)
            continue;
        out.push_back({from.at_ns, to.at_ns, *to.suspended_ns - *from.suspended_ns});
    }
    return out;
}

std::optional<std::int64_t> suspended_in(const std::vector<Suspension>& all,
                                         std::int64_t from_ns,
                                         std::int64_t to_ns) {
    constexpr std::int64_t kResumeNs = 10'000'000'000;
    std::optional<std::int64_t> length_ns;
    for (const Suspension& each : all) {
        if (from_ns <= each.to_ns + kResumeNs && to_ns >= each.from_ns)
            length_ns = length_ns.value_or(0) + each.length_ns;
    }
    return length_ns;
}

SystemEvidence system_of(const SystemHistory& history) {
    SystemEvidence out;
    if (history.size() < 2) return out;
    const HostWindow all = host_window(history, history.front().at_ns, history.back().at_ns);
    out.run_queue_wait_ns = all.run_queue_wait_ns;
    out.cpu_busy_percent = percent(all.processors_busy);
    out.cpu_pressure_percent = percent(all.cpu_pressure);
    out.io_pressure_percent = percent(all.io_pressure);
    out.memory_pressure_percent = percent(all.memory_pressure);
    out.stolen_percent = percent(all.stolen);
    for (const Suspension& each : suspensions_of(history))
        out.suspended_ns = out.suspended_ns.value_or(0) + each.length_ns;
    return out;
}

}  // namespace streamsim::judge
