#include "judge/network_path.h"

#include <algorithm>

namespace streamsim::judge {
namespace {

/// An answer is missed for as long before it counts as missing; a carrier is seen at once.
constexpr std::int64_t kGoneNs = 150'000'000;
constexpr std::int64_t kNoCarrierNs = 50'000'000;
/// Of the segments. One that is lost delays some that come after it: from here on windows stay small. A few
/// come out of order on any network.
constexpr double kLossShare = 0.01;
constexpr std::uint64_t kLossLeast = 3;
/// Segments that a computer itself puts out of order come in a burst, now and then; losses go on.
constexpr std::uint64_t kLossyLooks = 3;
/// From here on a time without a byte is no slowness, however often it comes.
constexpr std::int64_t kLongSilenceNs = 1'000'000'000;
/// The least that TCP waits before it sends again.
constexpr std::int64_t kShortestTimeoutNs = 200'000'000;
/// Losses before and after a time in which little came belong to it.
constexpr std::int64_t kBesideNs = 500'000'000;

/// 0: too few.
double share(std::uint64_t lost, std::uint64_t all) {
    if (lost < kLossLeast || all == 0) return 0;
    const double share = static_cast<double>(lost) / static_cast<double>(all);
    return share > kLossShare ? share : 0;
}

}  // namespace

std::int64_t path_gone_ns(const PathSpan& span) {
    const std::int64_t silent_ns = std::max(span.unanswered_ns, span.unacknowledged_ns);
    return std::max(span.no_carrier_ns >= kNoCarrierNs ? span.no_carrier_ns : 0,
                    silent_ns >= kGoneNs ? silent_ns : 0);
}

double lost_share(const SystemHistory& history, std::int64_t from_ns, std::int64_t to_ns) {
    const PathSpan span = path_span(history, from_ns - kBesideNs, to_ns + kBesideNs);
    const double received =
        span.lossy_looks >= kLossyLooks ? share(span.out_of_order, span.received_segments) : 0;
    return std::max(received, share(span.resent, span.sent_segments));
}

bool losses_can_delay(double lost, std::int64_t rtt_ns, double required_bytes_per_s) {
    constexpr double kSegmentBytes = 1448;  // the least that is usual
    constexpr double kPlenty = 4;           // the bound is of the best case
    const double rate = 2 * kSegmentBytes / (static_cast<double>(rtt_ns) / 1e9 * lost);
    return rate < kPlenty * required_bytes_per_s;
}

bool certainly_silent(const SystemHistory& history, const Silence& silence) {
    const std::int64_t time_ns = silence.to_ns - silence.from_ns;
    return time_ns >= kLongSilenceNs &&
           path_span(history, silence.from_ns, silence.to_ns).quiet_ns * 5 >= time_ns * 4;
}

/// A server's host that answered while nothing came tells that the network was there; one of which nothing is
/// known tells nothing.
Cause cause_of_silence(const Evidence& evidence, std::int64_t from_ns, std::int64_t to_ns) {
    std::int64_t begin_ns = INT64_MAX;
    std::int64_t end_ns = INT64_MIN;
    std::int64_t longest_ns = 0;
    for (const Silence& silence : evidence.silences) {
        if (silence.to_ns <= from_ns || silence.from_ns >= to_ns) continue;
        begin_ns = std::min(begin_ns, silence.from_ns);
        end_ns = std::max(end_ns, silence.to_ns);
        longest_ns = std::max(longest_ns, silence.to_ns - silence.from_ns);
    }
    const PathSpan span = path_span(evidence.system, begin_ns, end_ns);
    const std::int64_t gone_ns = path_gone_ns(span);
    if (gone_ns > 0 && gone_ns * 4 >= longest_ns) return Cause::network_down;
    // TCP waits for some tenths of a second before it sends again what was lost, not longer and not less.
    const bool lossy = lost_share(evidence.system, begin_ns, end_ns) > 0;
    if (longest_ns < kLongSilenceNs && lossy) return Cause::network_loss;
    const bool there = span.quiet_answers > 0 || longest_ns < kShortestTimeoutNs;
    return there ? Cause::storage_stall : Cause::unknown;
}

Cause cause_of_timeout(const SystemHistory& history, const MissedFrame& missed) {
    const std::int64_t from_ns = missed.submitted_ns.value_or(missed.due_ns);
    const std::int64_t to_ns = std::max(missed.due_ns, missed.delivered_ns.value_or(missed.due_ns));
    const PathSpan span = path_span(history, from_ns, to_ns);
    if (path_gone_ns(span) > 0) return Cause::network_down;
    if (lost_share(history, from_ns, to_ns) > 0) return Cause::network_loss;
    return span.quiet_answers > 0 ? Cause::storage_error : Cause::unknown;
}

}  // namespace streamsim::judge
