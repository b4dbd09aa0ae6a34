#include "run/conclude/miss_events.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/units.h"
#include "judge/host_window.h"
#include "result/miss_events.h"

namespace streamsim::run {
namespace {

/// A read that began long before its frame was due tells little about the event.
constexpr std::int64_t kBeforeNsMax = 2'000'000'000;

/// The stream of a missed frame, and its outcome.
struct Entry {
    std::size_t stream = 0;
    const FrameOutcome* outcome = nullptr;
};

/// In the order of Evidence::missed: the drops of all streams, then their stalls.
std::vector<Entry> entries_of(const std::vector<const play::DeadlineLedger*>& ledgers) {
    std::vector<Entry> out;
    for (std::size_t i = 0; i < ledgers.size(); ++i) {
        for (const FrameOutcome& outcome : ledgers[i]->drops()) out.push_back({i, &outcome});
    }
    for (std::size_t i = 0; i < ledgers.size(); ++i) {
        for (const FrameOutcome& outcome : ledgers[i]->stalls()) out.push_back({i, &outcome});
    }
    return out;
}

/// The share of the interval [begin, begin + length) that lies in [from, to].
double covered(std::int64_t begin_ns, std::int64_t length_ns, std::int64_t from_ns, std::int64_t to_ns) {
    const std::int64_t both_ns = std::min(begin_ns + length_ns, to_ns) - std::max(begin_ns, from_ns);
    return length_ns > 0 && both_ns > 0 ? static_cast<double>(both_ns) / static_cast<double>(length_ns) : 0;
}

/// The intervals of a part that overlap [from, to]: the first one, and the one after the last.
std::pair<std::size_t, std::size_t> intervals_of(const PartResult& part,
                                                 std::int64_t from_ns,
                                                 std::int64_t to_ns) {
    const std::int64_t each_ns = std::max<std::int64_t>(part.stats.interval_ns, 1);
    const auto count = static_cast<std::int64_t>(part.utilisation_per_interval.size());
    const auto within = [&](std::int64_t at) {
        return static_cast<std::size_t>(std::clamp<std::int64_t>(at, 0, count));
    };
    return {within((from_ns - part.t_ns) / each_ns), within((to_ns - part.t_ns) / each_ns + 1)};
}

class EvidenceOfEvents {
public:
    EvidenceOfEvents(const judge::Evidence& evidence, Instant origin, const RunResult& result)
        : evidence_(evidence),
          origin_(origin),
          result_(result),
          link_(judge::network_path_facts(evidence.system, evidence.writes_more()).link) {}

    /// Times from the first play_start.
    EventEvidence between(std::int64_t from_ns, std::int64_t to_ns) const {
        EventEvidence out;
        out.from_ns = from_ns;
        add_storage(to_ns, out);
        add_system(to_ns, out);
        add_part(to_ns, out);
        return out;
    }

private:
    void add_storage(std::int64_t to_ns, EventEvidence& out) const {
        double bytes = 0;
        for (const TimelineEntry& entry : result_.timeline) {
            const double share = covered(entry.t_ns, entry.interval_ns, out.from_ns, to_ns);
            if (share <= 0) continue;
            bytes += share * static_cast<double>(entry.bytes);
            out.service_ns_max = std::max(out.service_ns_max.value_or(0), entry.service_ns_max);
        }
        if (to_ns > out.from_ns)
            out.read_bytes_per_s =
                static_cast<std::uint64_t>(bytes * 1e9 / static_cast<double>(to_ns - out.from_ns));
        std::int64_t longest_ns = 0;
        for (const judge::DeliveryGap& gap : evidence_.delivery_gaps) {
            const bool both = gap.from_ns - origin_.ns < to_ns && gap.to_ns - origin_.ns > out.from_ns;
            if (both) longest_ns = std::max(longest_ns, gap.to_ns - gap.from_ns);
        }
        out.no_data_ns = longest_ns;
    }

    void add_system(std::int64_t to_ns, EventEvidence& out) const {
        const SystemHistory& system = evidence_.system;
        if (system.size() < 2) return;
        const std::int64_t begin_ns = origin_.ns + out.from_ns;
        const std::int64_t end_ns = origin_.ns + to_ns;
        const judge::HostWindow window = judge::host_window(system, begin_ns, end_ns);
        out.cpu_busy = window.processors_busy;
        out.run_queue_wait_ns = window.run_queue_wait_ns;
        out.rtt_ns = window.rtt_ns;
        out.link_busy = judge::link_busy(system, link_, begin_ns, end_ns);
        if (!evidence_.remote) return;
        const judge::PathSpan path = judge::path_span(system, begin_ns, end_ns);
        out.lost_segments = path.out_of_order + path.resent;
    }

    void add_part(std::int64_t to_ns, EventEvidence& out) const {
        for (const PartResult& part : result_.parts) {
            double busy = 0;
            double time = 0;
            const auto [first, end] = intervals_of(part, out.from_ns, to_ns);
            for (std::size_t i = first; i < end; ++i) {
                const std::int64_t begin_ns = part.t_ns + static_cast<std::int64_t>(i) * part.stats.interval_ns;
                const double share = covered(begin_ns, part.stats.interval_ns, out.from_ns, to_ns);
                busy += share * part.utilisation_per_interval[i];
                time += share;
            }
            if (time <= 0 || busy / time <= out.part_utilisation.value_or(-1)) continue;
            out.part = part.stats.name;
            out.part_utilisation = busy / time;
        }
    }

    const judge::Evidence& evidence_;
    const Instant origin_;
    const RunResult& result_;
    const std::string link_;
};

}  // namespace

std::vector<MissEvent> miss_events(const RunFacts& facts,
                                   const judge::Evidence& evidence,
                                   const std::vector<Cause>& causes,
                                   Instant origin,
                                   const RunResult& result) {
    if (origin == Instant::never()) origin = Instant{};
    const std::vector<Entry> entries = entries_of(facts.ledgers);
    STREAMSIM_CHECK(causes.size() == entries.size(), "each miss has a cause");
    std::vector<result::Miss> misses;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const auto& [stream, outcome] = entries[i];
        const StreamPlan& plan = (*facts.streams)[stream];
        result::Miss miss{.seat = plan.options.seat,
                          .stream = plan.options.stream,
                          .slot = outcome->slot,
                          .from_ns = (outcome->due() - origin).ns,
                          .period_ns = plan.options.paced ? plan.rate().period().ns : 0,
                          .cause = causes[i],
                          .stall = i >= result.drops.size()};
        miss.startup = !miss.stall && facts.ledgers[stream]->is_startup_drop(*outcome);
        miss.to_ns = miss.stall ? (outcome->completed - origin).ns : miss.from_ns + miss.period_ns;
        misses.push_back(miss);
    }
    const EvidenceOfEvents meanwhile(evidence, origin, result);
    std::vector<MissEvent> out;
    for (result::MissGroup& group : result::group_misses(misses, result.throughput_gaps)) {
        MissEvent& event = group.event;
        const auto& [stream, outcome] = entries[group.misses.front()];
        const Clip& clip = (*facts.streams)[stream].clips[outcome->source];
        event.first.clip = clip.name;
        event.first.file = clip.index->path_of(outcome->clip_frame);
        event.first.timecode = timecode(outcome->clip_frame, clip.index->rate());
        std::int64_t begin_ns = event.from_ns;
        for (const std::size_t i : group.misses) {
            const Instant submitted = entries[i].outcome->submitted;
            if (submitted != Instant::never()) begin_ns = std::min(begin_ns, (submitted - origin).ns);
        }
        event.evidence = meanwhile.between(std::max(begin_ns, event.from_ns - kBeforeNsMax), event.to_ns);
        out.push_back(std::move(event));
    }
    return out;
}

}  // namespace streamsim::run
