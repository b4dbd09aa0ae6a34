// Runs that say nothing about a storage: streamsim injected faults, or there was no storage.
#include <algorithm>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "judge/causes.h"
#include "judge/sentences.h"
#include "judge/sides.h"

namespace streamsim::judge {
namespace {

bool is_client_cause(Cause cause) {
    const Limit limit = limit_of(cause);
    return limit == Limit::client_cpu || limit == Limit::client_scheduling;
}

std::int64_t window_begin_ns(const MissedFrame& missed, const StreamEvidence& stream) {
    const std::int64_t begin_ns = missed.due_ns - stream.period_ns * stream.readahead;
    return std::min(begin_ns, missed.submitted_ns.value_or(begin_ns));
}

/// The last time in which faults delayed the stream while the frame was read, or waited to be read.
const FaultInterval* fault_meanwhile(const MissedFrame& missed, const StreamEvidence& stream) {
    const std::int64_t end_ns = std::max(missed.due_ns, missed.delivered_ns.value_or(missed.due_ns));
    const auto after =
        std::upper_bound(stream.faults.begin(), stream.faults.end(), end_ns,
                         [](std::int64_t at_ns, const FaultInterval& each) { return at_ns < each.from_ns; });
    if (after == stream.faults.begin()) return nullptr;
    const FaultInterval& last = *std::prev(after);
    return last.to_ns >= window_begin_ns(missed, stream) ? &last : nullptr;
}

bool has_failed(const MissedFrame& missed) {
    return missed.reason == DropReason::error || missed.reason == DropReason::short_read ||
           missed.reason == DropReason::missing || missed.reason == DropReason::corrupt;
}

/// Indices into Evidence::missed, by stream and slot.
std::vector<std::size_t> by_slot(const Evidence& evidence) {
    std::vector<std::size_t> order(evidence.missed.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&evidence](std::size_t i) {
        return std::pair(evidence.missed[i].stream, evidence.missed[i].slot);
    });
    return order;
}

/// By Evidence::missed: it failed by a fault, whatever the error was. Frames of a container share pieces of it:
/// one that fails, fails all of them.
std::vector<bool> failed_by_faults(const Evidence& evidence, const std::vector<std::size_t>& order) {
    std::vector<bool> failed(order.size());
    for (std::size_t begin = 0; begin < order.size();) {
        std::size_t end = begin;
        bool any = false;
        for (; end < order.size(); ++end) {
            const MissedFrame& missed = evidence.missed[order[end]];
            if (!has_failed(missed)) break;
            if (end > begin) {
                const MissedFrame& last = evidence.missed[order[end - 1]];
                if (missed.stream != last.stream || missed.slot - last.slot > 1) break;
            }
            any = any || missed.injected;
        }
        for (std::size_t i = begin; any && i < end; ++i) failed[order[i]] = true;
        begin = std::max(end, begin + 1);
    }
    return failed;
}

/// By Evidence::missed: an injected fault met it, or delayed it.
std::vector<bool> met_by_faults(const Evidence& evidence, const std::vector<std::size_t>& order) {
    std::vector<bool> met(order.size());
    const MissedFrame* last_met = nullptr;
    std::int64_t backlog_end_ns = INT64_MIN;
    for (const std::size_t i : order) {
        const MissedFrame& missed = evidence.missed[i];
        const StreamEvidence& stream = evidence.streams[missed.stream];
        const bool behind =
            last_met != nullptr && last_met->stream == missed.stream && missed.slot - last_met->slot <= 1;
        if (!behind) backlog_end_ns = INT64_MIN;
        const FaultInterval* const fault = fault_meanwhile(missed, stream);
        if (fault != nullptr) backlog_end_ns = fault->to_ns + (fault->to_ns - fault->from_ns);
        met[i] = missed.injected || window_begin_ns(missed, stream) <= backlog_end_ns;
        if (met[i]) last_met = &missed;
    }
    return met;
}

/// Without decoding, a client cause means that this process did not run: then the fault is not the cause.
bool client_did_not_run(const MissedFrame& missed, Cause cause, const Evidence& evidence) {
    const bool decodes = evidence.modelled || evidence.decode_cpu_ns > 0;
    return is_client_cause(cause) && !(decodes && missed.injected);
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
    const std::vector<std::size_t> order = by_slot(evidence);
    const std::vector<bool> failed = failed_by_faults(evidence, order);
    const std::vector<bool> met = met_by_faults(evidence, order);
    for (std::size_t i = 0; i < causes.size(); ++i) {
        causes[i] = failed[i] ? Cause::injected_fault
                              : without_storage(evidence.missed[i], causes[i], met[i], evidence);
    }
}

std::string lost_frames(const CauseResult& cause, std::uint64_t failed, std::int64_t stall_ns) {
    const std::uint64_t slow = cause.frames - std::min(failed, cause.frames);
    std::vector<std::string> parts;
    if (slow > 0) parts.push_back(slow_frames(slow, 0, 0));
    if (failed > 0) parts.push_back(counted(failed, "frame") + " failed");
    if (cause.stalls > 0) parts.push_back(slow_frames(0, cause.stalls, stall_ns));
    std::string out;
    for (const std::string& part : parts)
        out += (out.empty() ? "" : &part == &parts.back() ? ", and " : ", ") + part;
    return out;
}

void describe_injected(CauseResult& cause, const CauseFrames& of) {
    const bool stalls = cause.stalls > 0;
    if (cause.cause == Cause::injected_fault) {
        cause.summary = "injected faults: " + of.what;
        cause.detail =
            "streamsim delayed, failed or shortened operations of these frames, or of frames that they waited "
            "for, as it was asked to";
        if (const std::string gaps = gaps_text(of); !gaps.empty())
            cause.detail += "; no stream received data " + gaps;
        return;
    }
    cause.summary = of.what + (stalls ? ", not only for injected faults" : ", and no injected fault met these");
    cause.detail = "a run with injected faults does not show the cause of these";
}

}  // namespace streamsim::judge
