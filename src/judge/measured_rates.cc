// The causes that the rates of the diagnosis, measured without deadlines, speak for.
#include <algorithm>

#include "judge/causes.h"

namespace streamsim::judge {
namespace {

/// A rate that is higher by less may be noise.
constexpr double kRateGain = 1.3;
/// The same of a rate that is enough where that as played is not.
constexpr double kRateGainToEnough = 1.15;
/// A measurement of most of a second counts a frame too many at times.
constexpr double kClearlyEnough = 1.1;
/// With so many reads in flight the diagnosis tries no more.
constexpr std::uint64_t kManyReads = 128;

bool gives_more(const Evidence& evidence, const std::optional<ProbeResult>& probe) {
    if (!probe || !evidence.as_played) return false;
    const bool alone_enough = gives_enough(evidence, probe) && !gives_enough(evidence, evidence.as_played);
    return probe->bytes_per_s >=
           evidence.as_played->bytes_per_s * (alone_enough ? kRateGainToEnough : kRateGain);
}

/// True: read as it was played, the storage does not give clearly more than is required.
bool gives_too_little_as_played(const Evidence& evidence) {
    return evidence.as_played &&
           evidence.as_played->bytes_per_s < evidence.required_bytes_per_s * kClearlyEnough;
}

/// REQUIRES: as_played.
bool has_many_reads_in_flight(const Evidence& evidence) {
    const ProbeResult& played = *evidence.as_played;
    const std::uint64_t of_frame = played.io_size_bytes == 0 ? 1 : played.io_depth;
    const std::uint64_t asked = played.inflight * of_frame * evidence.streams.size();
    return std::min(asked, evidence.reads_at_once_max.value_or(asked)) >= kManyReads;
}

/// True: only this way of reading gives enough.
bool is_the_remedy(const Evidence& evidence, const std::optional<ProbeResult>& probe) {
    return gives_too_little_as_played(evidence) && gives_more(evidence, probe) && gives_enough(evidence, probe);
}

}  // namespace

bool gives_enough(const Evidence& evidence, const std::optional<ProbeResult>& probe) {
    return probe && probe->bytes_per_s >= evidence.required_bytes_per_s;
}

bool small_reads_cost(const Evidence& evidence) {
    return is_the_remedy(evidence, evidence.larger_reads);
}

bool more_would_help(const Evidence& evidence) {
    return gives_more(evidence, evidence.more_in_flight);
}

bool another_way_gives_enough(const Evidence& evidence) {
    return gives_enough(evidence, evidence.usual) || gives_enough(evidence, evidence.larger_reads) ||
           gives_enough(evidence, evidence.more_in_flight);
}

bool rate_is_limit(const Evidence& evidence) {
    return evidence.as_played && !gives_enough(evidence, evidence.as_played) && !more_would_help(evidence);
}

Cause cause_of_rates(const Evidence& evidence) {
    if (small_reads_cost(evidence)) return Cause::too_small_reads;
    if (is_the_remedy(evidence, evidence.usual)) return Cause::too_little_in_flight;
    if (!rate_is_limit(evidence) || another_way_gives_enough(evidence)) return Cause::slow_reads;
    return evidence.more_in_flight || has_many_reads_in_flight(evidence) ? Cause::bandwidth : Cause::slow_reads;
}

}  // namespace streamsim::judge
