#include "judge/network_path.h"

#include <algorithm>

namespace streamsim {
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

bool host_answered(const PathSpan& span) {
    return span.quiet_answers > 0;
}

}  // namespace streamsim
