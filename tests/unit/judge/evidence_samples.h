// Evidence of runs that are known to the frame.
#pragma once

#include <algorithm>
#include <vector>

#include "judge/judge.h"

namespace streamsim::test {

constexpr std::int64_t kPeriodNs = 41'666'666;
constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kSecond = 1'000'000'000;

/// One stream, 1000 frames on time at 24 fps, on an idle computer with two processors; its clip is longer.
inline judge::Evidence good_run() {
    judge::Evidence evidence;
    evidence.totals.scheduled = 1000;
    evidence.totals.on_time = 1000;
    evidence.shortest_period_ns = kPeriodNs;
    evidence.longest_play_ns = 999 * kPeriodNs;
    evidence.loop_lateness_p50_ns = 30'000;
    evidence.cpu_percent = 12;
    evidence.cpus = 2;
    evidence.required_bytes_per_s = 400e6;
    evidence.bytes_read = 16'000'000'000;
    evidence.streams.push_back({0, kPeriodNs, 8, 1000, 2000, {0}});
    return evidence;
}

/// The frame is delivered so long after its submission; its file was open by then.
inline void deliver(judge::MissedFrame& frame, std::int64_t took_ns) {
    frame.delivered_ns = *frame.submitted_ns + took_ns;
    frame.read_ns = took_ns;
}

/// A missed frame of the stream: due in its time, requested a read-ahead before, read in `took_ns`.
inline judge::MissedFrame missed(std::uint64_t slot, DropReason reason, std::int64_t took_ns = 400 * kMs) {
    judge::MissedFrame frame;
    frame.slot = frame.clip_frame = slot;
    frame.reason = reason;
    frame.due_ns = static_cast<std::int64_t>(slot) * kPeriodNs;
    frame.submitted_ns = frame.due_ns - 8 * kPeriodNs;
    deliver(frame, took_ns);
    return frame;
}

inline DropReason reason_of(std::uint64_t ReasonCounts::*reason) {
    if (reason == &ReasonCounts::late) return DropReason::late;
    if (reason == &ReasonCounts::client) return DropReason::client;
    if (reason == &ReasonCounts::error) return DropReason::error;
    return reason == &ReasonCounts::missing ? DropReason::missing : DropReason::short_read;
}

/// The next `count` frames that nothing has been said of, from the second second on.
inline void miss(judge::Evidence& evidence,
                 std::uint64_t count,
                 std::uint64_t ReasonCounts::*reason,
                 FrameKind kind) {
    for (std::uint64_t i = 0; i < count; ++i) {
        judge::MissedFrame frame = missed(30 + evidence.missed.size(), reason_of(reason));
        frame.kind = kind;
        evidence.missed.push_back(frame);
    }
    evidence.totals.on_time -= count;
    (kind == FrameKind::failed ? evidence.totals.failed : evidence.totals.dropped) += count;
    evidence.reasons.*reason += count;
}

inline void drop(judge::Evidence& evidence, std::uint64_t count, std::uint64_t ReasonCounts::*reason) {
    miss(evidence, count, reason, FrameKind::dropped);
}

inline void fail(judge::Evidence& evidence, std::uint64_t count, std::uint64_t ReasonCounts::*reason) {
    miss(evidence, count, reason, FrameKind::failed);
}

/// Play stalled for `count` frames.
inline void stall(judge::Evidence& evidence, std::uint64_t count, DropReason reason) {
    for (std::uint64_t i = 0; i < count; ++i) {
        judge::MissedFrame frame = missed(30 + 100 * i, reason);
        frame.stall = true;
        evidence.missed.push_back(frame);
    }
    evidence.totals.stalls += count;
    if (reason == DropReason::client) evidence.client_stalls += count;
}

/// Adds re-reads of frames of clip 0, each read alone: of the missed `slots` and of five others.
inline void read_again(judge::Evidence& evidence,
                       const std::vector<std::uint64_t>& slots,
                       std::int64_t took_ns,
                       bool failed = false) {
    for (const std::uint64_t slot : slots) evidence.rereads.push_back({0, slot, true, failed, took_ns});
    for (std::uint64_t slot = 900; slot < 905; ++slot)
        evidence.rereads.push_back({0, slot, false, false, 2 * kMs});
}

}  // namespace streamsim::test
