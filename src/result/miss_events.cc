#include "result/miss_events.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "judge/judge.h"

namespace streamsim::result {
namespace {

constexpr std::int64_t kPauseNs = 100'000'000;
constexpr std::int64_t kPausePeriods = 3;
constexpr std::int64_t kLastingPauseNs = 1'000'000'000;

/// True for causes that last and make frames late only now and then.
bool is_lasting(Cause cause) {
    switch (cause) {
        case Cause::slow_reads:
        case Cause::bandwidth:
        case Cause::slow_opens:
        case Cause::network:
        case Cause::network_loss:
        case Cause::client_cpu:
        case Cause::client_memory:
        case Cause::too_little_in_flight:
        case Cause::too_small_reads:
        case Cause::cold_start:
        case Cause::model_part: return true;
        default: return false;
    }
}

/// True: misses of a cause belong to its event that ended `pause_ns` before them. Without a pause a lasting
/// cause goes on through gaps, since a storage that is overloaded has some.
bool goes_on(Cause cause, std::int64_t period_ns, std::int64_t pause_ns, bool new_gap) {
    const bool close = pause_ns <= std::max(kPauseNs, kPausePeriods * period_ns);
    if (is_lasting(cause)) return close || (pause_ns <= kLastingPauseNs && !new_gap);
    return close && !new_gap;
}

/// The number of gaps that began before this time.
std::size_t gaps_before(const std::vector<ThroughputGap>& gaps, std::int64_t at_ns) {
    return static_cast<std::size_t>(std::ranges::upper_bound(gaps, at_ns, {}, &ThroughputGap::from_ns) -
                                    gaps.begin());
}

auto order_of(const MissEvent& event) {
    return std::tuple(event.from_ns, event.first.seat, event.first.stream, event.first.slot);
}

/// The group that misses of one cause are added to.
struct OpenGroup {
    std::size_t group = 0;
    std::size_t gaps = 0;  // that had begun when its last miss was due
    std::set<std::pair<std::uint32_t, std::uint32_t>> streams;
};

MissGroup begun_by(const Miss& miss) {
    MissGroup group;
    group.event.from_ns = miss.from_ns;
    group.event.cause = miss.cause;
    group.event.first.seat = miss.seat;
    group.event.first.stream = miss.stream;
    group.event.first.slot = miss.slot;
    return group;
}

}  // namespace

std::vector<MissGroup> group_misses(const std::vector<Miss>& misses, const std::vector<ThroughputGap>& gaps) {
    std::vector<std::size_t> by_time(misses.size());
    std::iota(by_time.begin(), by_time.end(), std::size_t{0});
    std::ranges::sort(by_time, {}, [&misses](std::size_t i) {
        const Miss& miss = misses[i];
        return std::tuple(miss.from_ns, miss.seat, miss.stream, miss.slot);
    });
    std::vector<MissGroup> groups;
    std::map<Cause, OpenGroup> open;
    for (const std::size_t index : by_time) {
        const Miss& miss = misses[index];
        const std::size_t begun = gaps_before(gaps, miss.from_ns);
        const auto [found, is_first] = open.try_emplace(miss.cause);
        OpenGroup& into = found->second;
        if (is_first || !goes_on(miss.cause, miss.period_ns, miss.from_ns - groups[into.group].event.to_ns,
                                 begun != into.gaps)) {
            into = {.group = groups.size(), .gaps = begun, .streams = {}};
            groups.push_back(begun_by(miss));
        }
        into.gaps = begun;
        MissGroup& group = groups[into.group];
        group.event.to_ns = std::max(group.event.to_ns, miss.to_ns);
        ++(miss.stall ? group.event.stalls : group.event.frames);
        if (miss.startup) ++group.event.startup_frames;
        into.streams.emplace(miss.seat, miss.stream);
        group.event.streams = into.streams.size();
        group.misses.push_back(index);
    }
    return groups;
}

std::vector<MissEvent> events_of_drops(const RunResult& result) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, const StreamResult*> streams;
    for (const StreamResult& stream : result.streams) streams[{stream.seat, stream.stream}] = &stream;
    std::vector<Miss> misses;
    std::vector<const DropRecord*> drops;
    for (const DropRecord& drop : result.drops) {
        const auto found = streams.find({drop.seat, drop.stream});
        if (found == streams.end()) continue;
        const std::int64_t period_ns = found->second->rate.period().ns;
        const std::int64_t due_ns = found->second->play_start_ns + drop.due_ns;
        const bool startup = drop.kind == FrameKind::dropped && drop.due_ns < judge::kStartupNs;
        misses.push_back({drop.seat, drop.stream, drop.frame, due_ns, due_ns + period_ns, period_ns, drop.cause,
                          false, startup});
        drops.push_back(&drop);
    }
    std::vector<MissEvent> out;
    for (MissGroup& group : group_misses(misses, result.throughput_gaps)) {
        const DropRecord& drop = *drops[group.misses.front()];
        group.event.first.clip = streams.at({drop.seat, drop.stream})->clip;
        group.event.first.file = drop.file;
        group.event.first.timecode = drop.timecode;
        group.event.evidence.from_ns = group.event.from_ns;
        out.push_back(std::move(group.event));
    }
    return out;
}

std::vector<MissEvent> merged_events(std::vector<MissEvent> events, const std::vector<StreamResult>& streams) {
    std::int64_t period_ns = 0;
    for (const StreamResult& stream : streams) {
        if (stream.paced) period_ns = std::max(period_ns, stream.rate.period().ns);
    }
    std::ranges::sort(events, {}, order_of);
    std::vector<MissEvent> out;
    std::map<Cause, std::size_t> last;
    for (MissEvent& event : events) {
        const auto [found, is_first] = last.try_emplace(event.cause);
        if (is_first || !goes_on(event.cause, period_ns, event.from_ns - out[found->second].to_ns, false)) {
            found->second = out.size();
            out.push_back(std::move(event));
            continue;
        }
        MissEvent& into = out[found->second];
        into.to_ns = std::max(into.to_ns, event.to_ns);
        into.frames += event.frames;
        into.startup_frames += event.startup_frames;
        into.stalls += event.stalls;
        into.streams = std::min<std::uint64_t>(into.streams + event.streams, streams.size());
    }
    return out;
}

}  // namespace streamsim::result
