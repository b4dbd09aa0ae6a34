#include "judge/injected.h"

#include <algorithm>
#include <numeric>

#include "judge/causes.h"
#include "judge/sentences.h"

namespace streamsim {
namespace {

bool is_of_client(Cause cause) {
    const Limit limit = limit_of(cause);
    return limit == Limit::client_cpu || limit == Limit::client_scheduling;
}

/// By Evidence::missed: an injected fault caused it.
std::vector<bool> met_by_faults(const Evidence& evidence) {
    std::vector<std::size_t> order(evidence.missed.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&evidence](std::size_t a, std::size_t b) {
        const MissedFrame& one = evidence.missed[a];
        const MissedFrame& other = evidence.missed[b];
        return std::pair(one.stream, one.slot) < std::pair(other.stream, other.slot);
    });
    std::vector<bool> met(order.size());
    for (std::size_t begin = 0; begin < order.size();) {
        std::size_t end = begin + 1;
        bool any = evidence.missed[order[begin]].injected;
        for (; end < order.size(); ++end) {
            const MissedFrame& last = evidence.missed[order[end - 1]];
            const MissedFrame& next = evidence.missed[order[end]];
            if (next.stream != last.stream || next.slot - last.slot > evidence.streams[next.stream].readahead)
                break;
            any = any || next.injected;
        }
        for (std::size_t i = begin; i < end; ++i) met[order[i]] = any;
        begin = end;
    }
    return met;
}

/// Where nothing is decoded, "client" means that this process did not run: then the fault is not the reason.
bool client_did_not_run(const MissedFrame& missed, Cause cause, const Evidence& evidence) {
    const bool decodes = evidence.modelled || evidence.decode_cpu_ns > 0;
    return is_of_client(cause) && !(decodes && missed.injected);
}

Cause without_storage(const MissedFrame& missed, Cause cause, bool met, const Evidence& evidence) {
    if (client_did_not_run(missed, cause, evidence)) return cause;
    if (met) return Cause::injected_fault;
    if (cause == Cause::model_part) return cause;
    return evidence.faults_injected ? Cause::unknown : Cause::client_scheduling;
}

}  // namespace

void withhold_storage_causes(const Evidence& evidence, std::vector<Cause>& causes) {
    if (evidence.judges_storage()) return;
    const std::vector<bool> met = met_by_faults(evidence);
    for (std::size_t i = 0; i < causes.size(); ++i)
        causes[i] = without_storage(evidence.missed[i], causes[i], met[i], evidence);
}

void describe_injected(CauseResult& cause,
                       const std::vector<const MissedFrame*>& missed,
                       const Evidence& evidence) {
    const bool stalls = cause.stalls > 0;
    if (cause.cause == Cause::injected_fault) {
        cause.summary = "injected faults: " + slow_frames(evidence, cause.frames, cause.stalls);
        cause.detail =
            "streamsim delayed, failed or shortened operations of these frames, or of frames that they waited "
            "for, as it was asked to";
        if (const std::string gaps = gaps_text(missed, evidence); !gaps.empty())
            cause.detail += "; no stream received data " + gaps;
        return;
    }
    cause.summary = slow_frames(evidence, cause.frames, cause.stalls) +
                    (stalls ? ", not only for injected faults" : ", and no injected fault met these");
    cause.detail = "a run with injected faults does not show the cause of these";
}

}  // namespace streamsim
