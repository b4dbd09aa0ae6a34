// Invariants of the counts of a run: sums, tables and events agree, and the verdict follows from them.
#include <fmt/format.h>

#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "judge/judge.h"
#include "worlds/invariants.h"

namespace streamsim::worlds {
namespace {

std::uint64_t settled(const FrameCounts& counts) {
    return counts.on_time + counts.late + counts.dropped + counts.failed + counts.cancelled;
}

std::uint64_t missed(const FrameCounts& counts) {
    return counts.late + counts.dropped + counts.failed;
}

void check_slots_add_up(const Seen& seen, Findings& findings) {
    for (const StreamResult& stream : seen.result.streams) {
        findings.about(stream);
        findings.equal(stream.counts.scheduled, settled(stream.counts), "scheduled and settled");
    }
    findings.about_run();
    findings.equal(seen.result.totals.scheduled, settled(seen.result.totals), "totals: scheduled and settled");
}

void check_totals(const Seen& seen, Findings& findings) {
    FrameCounts sum;
    for (const StreamResult& stream : seen.result.streams) sum += stream.counts;
    const FrameCounts& totals = seen.result.totals;
    findings.equal(totals.scheduled, sum.scheduled, "scheduled, in totals and over streams");
    findings.equal(totals.on_time, sum.on_time, "on time, in totals and over streams");
    findings.equal(totals.late, sum.late, "late, in totals and over streams");
    findings.equal(totals.dropped, sum.dropped, "dropped, in totals and over streams");
    findings.equal(totals.failed, sum.failed, "failed, in totals and over streams");
    findings.equal(totals.cancelled, sum.cancelled, "cancelled, in totals and over streams");
    findings.equal(totals.startup_drops, sum.startup_drops, "start-up drops, in totals and over streams");
    findings.equal(totals.stalls, sum.stalls, "stalls, in totals and over streams");
    findings.equal_ns(totals.stall_ns, sum.stall_ns, "stall time, in totals and over streams");
    findings.equal(totals.bytes_read, sum.bytes_read, "bytes read, in totals and over streams");
    findings.equal(totals.bytes_written, sum.bytes_written, "bytes written, in totals and over streams");
    findings.equal(totals.passes, sum.passes, "passes, in totals and over streams");
    findings.equal(totals.seeks, sum.seeks, "seeks, in totals and over streams");
}

void check_startup(const Seen& seen, Findings& findings) {
    for (const StreamResult& stream : seen.result.streams) {
        findings.about(stream);
        findings.expect(stream.counts.startup_drops <= stream.counts.dropped, "{} start-up drops of {} dropped",
                        {stream.counts.startup_drops, stream.counts.dropped});
    }
}

void check_policies(const Seen& seen, Findings& findings) {
    for (std::size_t i = 0; i < seen.result.streams.size() && i < seen.played.plans.size(); ++i) {
        const StreamResult& stream = seen.result.streams[i];
        const play::OnMiss policy = seen.played.plans[i].options.on_miss;
        const FrameCounts& counts = stream.counts;
        findings.about(stream);
        if (policy != play::OnMiss::hold) findings.equal(counts.late, 0u, "late without hold");
        if (policy != play::OnMiss::stall) {
            findings.equal(counts.stalls, 0u, "stalls without stall");
            findings.equal_ns(counts.stall_ns, 0, "stall time without stall");
        }
        if (policy == play::OnMiss::hold || policy == play::OnMiss::stall)
            findings.equal(counts.dropped, 0u, "dropped under hold or stall");
        if (!stream.paced)
            findings.equal(counts.dropped + counts.late + counts.stalls, 0u, "missed without deadlines");
    }
}

void check_drops(const Seen& seen, Findings& findings) {
    const RunResult& result = seen.result;
    findings.equal(result.drops.size() + result.drops_omitted, missed(result.totals),
                   "drops with those omitted, and frames missed");
    std::map<std::pair<std::uint32_t, std::uint32_t>, FrameCounts> by_stream;
    std::uint64_t startup = 0;
    for (const DropRecord& drop : result.drops) {
        FrameCounts& counts = by_stream[{drop.seat, drop.stream}];
        if (drop.kind == FrameKind::dropped) ++counts.dropped;
        if (drop.kind == FrameKind::late) ++counts.late;
        if (drop.kind == FrameKind::failed) ++counts.failed;
        startup += drop.kind == FrameKind::dropped && drop.due_ns < judge::kStartupNs ? 1 : 0;
        const bool is_error = drop.reason == DropReason::error || drop.reason == DropReason::short_read ||
                              drop.reason == DropReason::missing;
        findings.expect(is_error == (drop.kind == FrameKind::failed),
                        "slot {} of stream {} of seat {} is {} with the reason {}",
                        {drop.frame, drop.stream, drop.seat, to_string(drop.kind), to_string(drop.reason)});
        findings.expect(drop.reason != DropReason::error || drop.error != 0, "slot {} failed without an errno",
                        {drop.frame});
    }
    if (result.drops_omitted > 0) return;
    findings.equal(startup, result.totals.startup_drops, "start-up drops, in the table and in totals");
    for (const StreamResult& stream : result.streams) {
        const FrameCounts& counts = by_stream[{stream.seat, stream.stream}];
        findings.about(stream);
        findings.equal(counts.dropped, stream.counts.dropped, "dropped, in the table and counted");
        findings.equal(counts.late, stream.counts.late, "late, in the table and counted");
        findings.equal(counts.failed, stream.counts.failed, "failed, in the table and counted");
    }
}

void check_reasons(const Seen& seen, Findings& findings) {
    const ReasonCounts& reasons = seen.result.reasons;
    const std::uint64_t sum =
        reasons.late + reasons.client + reasons.error + reasons.short_read + reasons.missing;
    findings.equal(sum, missed(seen.result.totals) - seen.result.totals.startup_drops,
                   "reasons, and frames missed after the first second");
}

void check_events(const Seen& seen, Findings& findings) {
    MissEvent sum;
    std::int64_t before_ns = INT64_MIN;
    for (const MissEvent& event : seen.result.events) {
        sum.frames += event.frames;
        sum.startup_frames += event.startup_frames;
        sum.stalls += event.stalls;
        findings.expect(event.frames + event.stalls > 0, "an event without a frame and a stall");
        findings.expect(event.streams > 0 && event.streams <= seen.result.streams.size(),
                        "an event of {} streams", {event.streams});
        findings.expect(event.to_ns >= event.from_ns, "an event that ends before it begins");
        findings.expect(event.from_ns >= before_ns, "events that are not by time");
        before_ns = event.from_ns;
    }
    findings.equal(sum.frames, seen.result.drops.size(), "frames of events, and drops");
    findings.equal(sum.stalls, seen.result.totals.stalls, "stalls of events, and of totals");
    if (seen.result.drops_omitted == 0)
        findings.equal(sum.startup_frames, seen.result.totals.startup_drops,
                       "start-up frames of events, and of totals");
}

void check_causes(const Seen& seen, Findings& findings) {
    std::uint64_t frames = 0;
    std::uint64_t stalls = 0;
    for (const CauseResult& cause : seen.result.causes) {
        frames += cause.frames;
        stalls += cause.stalls;
    }
    if (seen.result.drops_omitted > 0) return;
    findings.equal(frames, missed(seen.result.totals), "frames of causes, and frames missed");
    findings.equal(stalls, seen.result.totals.stalls, "stalls of causes, and of totals");
}

void check_verdict(const Seen& seen, Findings& findings) {
    const RunResult& result = seen.result;
    bool clean = true;
    for (const StreamResult& stream : result.streams) {
        const FrameCounts& counts = stream.counts;
        clean &= counts.late + counts.failed + counts.stalls + (counts.dropped - counts.startup_drops) == 0;
    }
    if (result.verdict.pass) findings.expect(clean, "the verdict passes with missed frames");
    const bool paced = std::ranges::all_of(result.streams, &StreamResult::paced);
    const bool nothing_played = (result.interrupted || !paced) && result.totals.on_time == 0;
    if (clean && !nothing_played && result.meters.empty())
        findings.expect(result.verdict.pass, "nothing was missed, and the verdict is: {}",
                        {result.verdict.reason});
    findings.expect(!result.verdict.reason.empty(), "a verdict without a reason");
    if (!judges_storage(result))
        findings.expect(result.verdict.limit != Limit::storage,
                        "a run without a storage of its own blames the storage");
    if (result.verdict.pass) findings.expect(result.verdict.limit == Limit::none, "it passes, with a limit");
}

void check_timeline(const Seen& seen, Findings& findings) {
    TimelineEntry sum;
    for (const TimelineEntry& entry : seen.result.timeline) {
        sum.bytes += entry.bytes;
        sum.frames_on_time += entry.frames_on_time;
        sum.frames_dropped += entry.frames_dropped;
        sum.frames_late += entry.frames_late;
        sum.frames_failed += entry.frames_failed;
        findings.expect(entry.interval_ns >= 0, "an interval of {} ns in the time line", {entry.interval_ns});
    }
    const FrameCounts& totals = seen.result.totals;
    findings.equal(sum.bytes, totals.bytes_read + totals.bytes_written,
                   "bytes, in the time line and in totals");
    findings.equal(sum.frames_on_time, totals.on_time, "frames on time, in the time line and in totals");
    findings.equal(sum.frames_dropped, totals.dropped, "frames dropped, in the time line and in totals");
    findings.equal(sum.frames_late, totals.late, "frames late, in the time line and in totals");
    findings.equal(sum.frames_failed, totals.failed, "frames failed, in the time line and in totals");
}

void check_rates(const Seen& seen, Findings& findings) {
    const RunResult& result = seen.result;
    if (result.wall_ns > 0) {
        const double rate =
            static_cast<double>(result.totals.bytes_read) * 1e9 / static_cast<double>(result.wall_ns);
        findings.expect(rate == result.read_bytes_per_s, "read at {} B/s, and {} are told",
                        {rate, result.read_bytes_per_s});
    }
    double required = 0;
    for (const StreamResult& stream : result.streams) {
        if (!stream.records) required += stream.required_bytes_per_s;
    }
    findings.expect(result.required_bytes_per_s <= required * (1 + 1e-9),
                    "{} B/s are required at once, and {} by all streams",
                    {result.required_bytes_per_s, required});
}

constexpr Invariant kInvariants[] = {
    {"slots-add-up", "scheduled = on time + late + dropped + failed + cancelled, for each stream and in totals",
     "structure.md, law 5", check_slots_add_up},
    {"totals-are-sums", "each count of totals is the sum over the streams", "results.md; contract",
     check_totals},
    {"startup-drops-are-drops", "start-up drops are among the dropped frames", "contract", check_startup},
    {"policies-count-apart", "late is of hold, stalls are of stall, dropped of drop and skip", "on-miss.md",
     check_policies},
    {"drops-are-complete", "drops and drops_omitted are the frames late, dropped and failed, of each stream",
     "contract", check_drops},
    {"reasons-add-up", "the reasons add up to late + failed + dropped - start-up drops", "stream_result.h",
     check_reasons},
    {"events-add-up", "the frames and stalls of events are those of drops and totals, by time", "miss_event.h",
     check_events},
    {"causes-add-up", "the frames and stalls of causes are those that were missed", "verdict.h", check_causes},
    {"verdict-follows",
     "pass when, and only when, late + failed + stalls + (dropped - start-up drops) = 0 on every stream",
     "exit-codes.md", check_verdict},
    {"timeline-adds-up", "the intervals of the time line add up to the totals", "results.md", check_timeline},
    {"rates-follow", "the read rate is bytes over wall time, and no more is required at once than by all",
     "contract", check_rates},
};

}  // namespace

std::span<const Invariant> count_invariants() {
    return kInvariants;
}

}  // namespace streamsim::worlds
