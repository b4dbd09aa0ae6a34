#include "judge/network_path.h"

#include <algorithm>

namespace streamsim::judge {
namespace {

/// A path without answers is gone after this time; the carrier of an interface is observed at once.
constexpr std::int64_t kNoAnswerNsMin = 150'000'000;
constexpr std::int64_t kNoCarrierNsMin = 50'000'000;
/// Share of lost segments from which on TCP windows stay small. A few segments come out of order on any
/// network.
constexpr double kLossShareMin = 0.01;
constexpr std::uint64_t kLossMin = 3;
/// A computer puts segments out of order in single bursts; losses show in several samples.
constexpr std::uint64_t kLossySamplesMin = 3;
/// A longer time without a byte is a stall, however often it comes.
constexpr std::int64_t kLongGapNs = 1'000'000'000;
/// TCP waits at least this long before it sends again.
constexpr std::int64_t kRetransmissionTimeoutNs = 200'000'000;
/// Losses so shortly before and after a throughput gap belong to it.
constexpr std::int64_t kBesideNs = 500'000'000;

/// 0: too few.
double lost_share(std::uint64_t lost, std::uint64_t all) {
    if (lost < kLossMin || all == 0) return 0;
    const double share = static_cast<double>(lost) / static_cast<double>(all);
    return share > kLossShareMin ? share : 0;
}

/// True: losses delayed data in [from, to], or requests were lost, whose data do not come at all until they are
/// sent again.
bool losses_delayed(const Evidence& evidence, std::int64_t from_ns, std::int64_t to_ns) {
    const PathSpan beside = path_span(evidence.system, from_ns - kBesideNs, to_ns + kBesideNs);
    return lost_share(beside.resent, beside.sent_segments) > 0 ||
           delaying_loss_share(evidence, from_ns, to_ns) > 0;
}

}  // namespace

NetworkPathFacts path_of_data(const Evidence& evidence) {
    return network_path_facts(evidence.system, evidence.writes_more());
}

std::int64_t path_gone_ns(const PathSpan& span) {
    const std::int64_t no_answer_ns = std::max(span.unanswered_ns, span.unacknowledged_ns);
    return std::max(span.no_carrier_ns >= kNoCarrierNsMin ? span.no_carrier_ns : 0,
                    no_answer_ns >= kNoAnswerNsMin ? no_answer_ns : 0);
}

double lost_share(const SystemHistory& history, std::int64_t from_ns, std::int64_t to_ns) {
    const PathSpan span = path_span(history, from_ns - kBesideNs, to_ns + kBesideNs);
    const double received =
        span.lossy_samples >= kLossySamplesMin ? lost_share(span.out_of_order, span.received_segments) : 0;
    return std::max(received, lost_share(span.resent, span.sent_segments));
}

bool losses_can_delay(double lost, std::int64_t rtt_ns, double required_bytes_per_s) {
    constexpr double kSegmentBytes = 1448;  // on Ethernet without jumbo frames
    constexpr double kBoundFactor = 4;      // the bound holds in the best case only
    const double rate = 2 * kSegmentBytes / (static_cast<double>(rtt_ns) / 1e9 * lost);
    return rate < kBoundFactor * required_bytes_per_s;
}

double delaying_loss_share(const Evidence& evidence, std::int64_t from_ns, std::int64_t to_ns) {
    const double share = lost_share(evidence.system, from_ns, to_ns);
    if (share == 0 || share >= kHighLossShare) return share;
    const auto rtt_ns = host_window(evidence.system, from_ns, to_ns).rtt_ns;
    if (!rtt_ns || *rtt_ns <= 0) return share;
    return losses_can_delay(share, *rtt_ns, evidence.required_bytes_per_s) ? share : 0;
}

bool is_certain_gap(const SystemHistory& history, const DeliveryGap& gap) {
    const std::int64_t time_ns = gap.to_ns - gap.from_ns;
    return time_ns >= kLongGapNs && path_span(history, gap.from_ns, gap.to_ns).quiet_ns * 5 >= time_ns * 4;
}

/// A server's host that answered while no data came proves that the network worked.
Cause cause_of_gap(const Evidence& evidence, std::int64_t from_ns, std::int64_t to_ns) {
    std::int64_t begin_ns = INT64_MAX;
    std::int64_t end_ns = INT64_MIN;
    std::int64_t longest_ns = 0;
    for (const DeliveryGap& gap : evidence.delivery_gaps) {
        if (gap.to_ns <= from_ns || gap.from_ns >= to_ns) continue;
        begin_ns = std::min(begin_ns, gap.from_ns);
        end_ns = std::max(end_ns, gap.to_ns);
        longest_ns = std::max(longest_ns, gap.to_ns - gap.from_ns);
    }
    const PathSpan span = path_span(evidence.system, begin_ns, end_ns);
    const std::int64_t gone_ns = path_gone_ns(span);
    if (gone_ns > 0 && gone_ns * 4 >= longest_ns) return Cause::network_down;
    // TCP sends lost segments again after some tenths of a second, neither sooner nor later. A request that is
    // lost stops all of its data; segments that come out of order may be the work of a busy computer.
    if (longest_ns < kLongGapNs && losses_delayed(evidence, begin_ns, end_ns)) return Cause::network_loss;
    // Few losses may have met the last segments of a burst, for which TCP waits once; twice is not likely.
    const bool waited_once =
        longest_ns >= kRetransmissionTimeoutNs && longest_ns < 2 * kRetransmissionTimeoutNs;
    if (waited_once && lost_share(evidence.system, begin_ns, end_ns) > 0) return Cause::unknown;
    const bool path_works = span.quiet_answers > 0 || longest_ns < kRetransmissionTimeoutNs;
    return path_works ? Cause::storage_stall : Cause::unknown;
}

Cause cause_of_timeout(const Evidence& evidence, const MissedFrame& missed) {
    const std::int64_t from_ns = missed.submitted_ns.value_or(missed.due_ns);
    const std::int64_t to_ns = std::max(missed.due_ns, missed.delivered_ns.value_or(missed.due_ns));
    const PathSpan span = path_span(evidence.system, from_ns, to_ns);
    if (path_gone_ns(span) > 0) return Cause::network_down;
    // A request that is lost again and again leaves the path without an answer; one is sent again sooner.
    const bool lossy = to_ns - from_ns < kLongGapNs ? losses_delayed(evidence, from_ns, to_ns)
                                                    : delaying_loss_share(evidence, from_ns, to_ns) > 0;
    if (lossy) return Cause::network_loss;
    return span.quiet_answers > 0 ? Cause::storage_error : Cause::unknown;
}

}  // namespace streamsim::judge
