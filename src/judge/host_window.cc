#include "judge/host_window.h"

#include <algorithm>

namespace streamsim::judge {
namespace {

/// The last sample that is not after `at`, or the first.
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
    const auto found = std::find_if(sample.links.begin(), sample.links.end(),
                                    [&name](const SystemSample::Link& each) { return each.name == name; });
    return found != sample.links.end() ? &*found : nullptr;
}

std::uint64_t received(const SystemSample& from, const SystemSample& to, const std::string& name) {
    const auto* const first = find(from, name);
    const auto* const last = find(to, name);
    if (last == nullptr) return 0;
    const std::uint64_t had = first != nullptr ? first->received_bytes : 0;
    return last->received_bytes - std::min(last->received_bytes, had);
}

std::optional<double> share(const std::optional<std::int64_t>& from,
                            const std::optional<std::int64_t>& to,
                            std::int64_t time_ns) {
    if (!from || !to || time_ns <= 0) return std::nullopt;
    return static_cast<double>(*to - *from) / static_cast<double>(time_ns);
}

std::optional<double> percent(const std::optional<double>& share) {
    if (!share) return std::nullopt;
    return *share * 100;
}

/// Of its speed; REQUIRES: it says it.
double busy(const SystemSample& from, const SystemSample& to, const SystemSample::Link& link) {
    const auto time_ns = static_cast<double>(to.at_ns - from.at_ns);
    if (time_ns <= 0) return 0;
    const double bits = static_cast<double>(received(from, to, link.name)) * 8;
    return bits / (static_cast<double>(*link.bits_per_s) * time_ns / 1e9);
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
    out.waiting = share(from.run_queue_wait_ns, to.run_queue_wait_ns, time_ns);
    if (from.run_queue_wait_ns && to.run_queue_wait_ns)
        out.waited_ns = *to.run_queue_wait_ns - *from.run_queue_wait_ns;
    out.cpu_pressure = share(from.cpu_pressure_ns, to.cpu_pressure_ns, time_ns);
    out.io_pressure = share(from.io_pressure_ns, to.io_pressure_ns, time_ns);
    out.memory_pressure = share(from.memory_pressure_ns, to.memory_pressure_ns, time_ns);
    std::vector<std::int64_t> echoes;
    for (std::size_t i = span.first + 1; i <= span.last; ++i) {
        if (history[i].echo_ns) echoes.push_back(*history[i].echo_ns);
    }
    if (!echoes.empty()) {
        const auto middle = echoes.begin() + static_cast<std::ptrdiff_t>(echoes.size() / 2);
        std::nth_element(echoes.begin(), middle, echoes.end());
        out.echo_ns = *middle;
    }
    return out;
}

PathSpan path_span(const SystemHistory& history, std::int64_t from_ns, std::int64_t to_ns) {
    if (history.empty()) return {};
    const Span span = span_of(history, from_ns, to_ns);
    if (!history[span.last].path) return {};
    const SystemSample::Path& to = *history[span.last].path;
    SystemSample::Path from;
    // Before a server was known, or of another one, nothing is to be subtracted.
    if (const auto& before = history[span.first].path; before && before->peer == to.peer) from = *before;
    const auto growth = [](auto now, auto then) { return now - std::min(now, then); };
    PathSpan out;
    out.received_segments = growth(to.received_segments, from.received_segments);
    out.out_of_order = growth(to.out_of_order, from.out_of_order);
    out.lossy_looks = growth(to.lossy_looks, from.lossy_looks);
    out.sent_segments = growth(to.sent_segments, from.sent_segments);
    out.resent = growth(to.resent, from.resent);
    out.quiet_ns = growth(to.quiet_ns, from.quiet_ns);
    out.no_carrier_ns = growth(to.no_carrier_ns, from.no_carrier_ns);
    out.unanswered_ns = growth(to.unanswered_ns, from.unanswered_ns);
    out.unacknowledged_ns = growth(to.unacknowledged_ns, from.unacknowledged_ns);
    out.quiet_answers = growth(to.quiet_answers, from.quiet_answers);
    out.refused = growth(to.refused, from.refused);
    return out;
}

NetworkPathFacts network_path_facts(const SystemHistory& history) {
    NetworkPathFacts out;
    if (history.size() < 2) return out;
    for (const SystemSample::Link& link : history.back().links) {
        const std::uint64_t bytes = received(history.front(), history.back(), link.name);
        if (bytes <= out.received_bytes) continue;
        out.link = link.name;
        out.bits_per_s = link.bits_per_s;
        out.received_bytes = bytes;
    }
    for (const SystemSample& sample : history) {
        if (sample.connection && sample.connection->received_bytes > 0) {
            out.peer = sample.connection->peer;
            out.segments = sample.connection->received_segments;
            out.out_of_order = sample.connection->out_of_order;
        }
        for (const std::optional<std::int64_t>& rtt_ns : {sample.echo_ns, sample.rtt_min_ns})
            if (rtt_ns) out.echo_idle_ns = std::min(out.echo_idle_ns.value_or(INT64_MAX), *rtt_ns);
    }
    return out;
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

std::vector<LinkEvidence> links_of(const SystemHistory& history) {
    std::vector<LinkEvidence> out;
    if (history.size() < 2) return out;
    const NetworkPathFacts way = network_path_facts(history);
    const std::optional<std::int64_t> echo_ns =
        host_window(history, history.front().at_ns, history.back().at_ns).echo_ns;
    for (const SystemSample::Link& link : history.back().links) {
        LinkEvidence evidence;
        evidence.name = link.name;
        evidence.bits_per_s = link.bits_per_s;
        evidence.received_bytes = received(history.front(), history.back(), link.name);
        if (evidence.received_bytes == 0) continue;
        if (link.bits_per_s) {
            evidence.busy_percent = busy(history.front(), history.back(), link) * 100;
            for (std::size_t i = 1; i < history.size(); ++i) {
                evidence.busy_percent_max =
                    std::max(evidence.busy_percent_max, busy(history[i - 1], history[i], link) * 100);
            }
        }
        if (link.name == way.link) {
            evidence.rtt_ns = echo_ns.value_or(0);
            evidence.rtt_min_ns = way.echo_idle_ns.value_or(0);
            evidence.resent = history.back().path ? history.back().path->out_of_order : way.out_of_order;
        }
        out.push_back(std::move(evidence));
    }
    return out;
}

std::vector<Suspension> suspensions_of(const SystemHistory& history) {
    constexpr std::int64_t kShortest = 100'000'000;  // less is how far apart the two clocks were read
    std::vector<Suspension> out;
    for (std::size_t i = 1; i < history.size(); ++i) {
        const SystemSample& from = history[i - 1];
        const SystemSample& to = history[i];
        if (!from.suspended_ns || !to.suspended_ns || *to.suspended_ns - *from.suspended_ns < kShortest)
            continue;
        out.push_back({from.at_ns, to.at_ns, *to.suspended_ns - *from.suspended_ns});
    }
    return out;
}

std::optional<std::int64_t> suspended_in(const std::vector<Suspension>& all,
                                         std::int64_t from_ns,
                                         std::int64_t to_ns) {
    constexpr std::int64_t kWakingUp = 10'000'000'000;
    std::optional<std::int64_t> took_ns;
    for (const Suspension& each : all) {
        if (from_ns <= each.to_ns + kWakingUp && to_ns >= each.from_ns)
            took_ns = took_ns.value_or(0) + each.took_ns;
    }
    return took_ns;
}

SystemEvidence system_of(const SystemHistory& history) {
    SystemEvidence out;
    if (history.size() < 2) return out;
    const HostWindow all = host_window(history, history.front().at_ns, history.back().at_ns);
    out.run_queue_wait_ns = all.waited_ns;
    out.cpu_busy_percent = percent(all.processors_busy);
    out.cpu_pressure_percent = percent(all.cpu_pressure);
    out.io_pressure_percent = percent(all.io_pressure);
    out.memory_pressure_percent = percent(all.memory_pressure);
    out.stolen_percent = percent(all.stolen);
    for (const Suspension& each : suspensions_of(history))
        out.suspended_ns = out.suspended_ns.value_or(0) + each.took_ns;
    return out;
}

}  // namespace streamsim::judge
