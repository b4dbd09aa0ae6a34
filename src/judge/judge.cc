#include "judge/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/units.h"
#include "judge/causes.h"
#include "judge/sentences.h"
#include "judge/sides.h"

namespace streamsim::judge {
namespace {

/// A part of a model that is busier counts as full.
constexpr double kFullShare = 0.9;

/// The bad slots and stalls, by the side that is responsible.
struct Blame {
    std::uint64_t client = 0;
    std::uint64_t media = 0;
    std::uint64_t slow = 0;    // late answers of the storage
    std::uint64_t errors = 0;  // errors from the storage

    std::uint64_t all() const { return client + media + slow + errors; }
};

Blame blame(const Evidence& evidence) {
    const ReasonCounts& reasons = evidence.reasons;
    const std::uint64_t client_stalls = std::min(evidence.client_stalls, evidence.totals.stalls);
    return {.client = reasons.client + client_stalls,
            .media = reasons.short_read + reasons.missing + reasons.corrupt,
            .slow = reasons.late + (evidence.totals.stalls - client_stalls),
            .errors = reasons.error};
}

/// "the processor of seat 0" for the part "seat 0 processor".
std::string in_words(const BusyPart& part) {
    const std::size_t owner = part.name.find(' ', part.name.find(' ') + 1);
    if (owner == std::string::npos) return part.name;
    const char* article = part.kind == PartKind::drive ? "" : "the ";
    return fmt::format("{}{} of {}", article, part.name.substr(owner + 1), part.name.substr(0, owner));
}

/// The side that a part belongs to.
Limit part_limit(PartKind kind) {
    switch (kind) {
        case PartKind::seat_cpu:
        case PartKind::seat_display: return Limit::client_cpu;
        case PartKind::seat_link:
        case PartKind::switch_port: return Limit::network;
        default: return Limit::storage;
    }
}

/// The links that a calibration with one seat sees as one.
bool is_link(PartKind kind) {
    return kind == PartKind::seat_link || kind == PartKind::switch_port || kind == PartKind::front_end ||
           kind == PartKind::front_end_in;
}

/// The verdict where no part was full: time was lost in another way.
Verdict unfilled_verdict(const Evidence& evidence, const BusyPart* busiest, std::string what, bool decoding) {
    what += "; no part of the model was full";
    if (busiest != nullptr && busiest->utilisation > 0) {
        what +=
            fmt::format(", the busiest was {} with {:.0f} %", in_words(*busiest), busiest->utilisation * 100);
    }
    // With late frames too, decoding was late because they came all at once afterwards.
    if (decoding) return {false, what + ": decoding a frame took longer than its seat had", Limit::client_cpu};
    const auto loser = std::ranges::max_element(evidence.parts, {}, &BusyPart::lost);
    if (loser != evidence.parts.end() && loser->lost > 0 && loser->lost_share >= 0.5) {
        return {false,
                fmt::format("{}, but {} had no room for {} segments, which were sent again later", what,
                            in_words(*loser), show_count(loser->lost)),
                Limit::network};
    }
    if (evidence.path_rtt_ns * 2 >= evidence.service_p50_ns && evidence.path_rtt_ns > 0) {
        return {false,
                fmt::format("{}: of the {} (median) that a frame took, {} are round trips to the storage", what,
                            show_duration({evidence.service_p50_ns}), show_duration({evidence.path_rtt_ns})),
                Limit::network};
    }
    return {false, what + ": time was missing (latency, a fault, a burst), not rate", Limit::storage};
}

/// The verdict on a model: the fullest of its parts, where one was full. `what`: see slow_frames().
Verdict fullest_part_verdict(const Evidence& evidence, const Blame& by, std::string what) {
    // Equal percentages say the same: then the part with the longer queue is the fuller one.
    const auto fuller = [](const BusyPart& a, const BusyPart& b) {
        const long a_percent = std::lround(a.utilisation * 100);
        const long b_percent = std::lround(b.utilisation * 100);
        return a_percent != b_percent ? a_percent < b_percent : a.queue_mean < b.queue_mean;
    };
    const bool decoding = by.client > 0 && by.slow == 0;
    if (by.errors > 0) what += fmt::format("; the storage gave an error for {}", counted(by.errors, "frame"));
    const auto fullest = std::ranges::max_element(evidence.parts, fuller);
    const BusyPart* busiest = fullest != evidence.parts.end() ? &*fullest : nullptr;
    if (busiest == nullptr || busiest->utilisation < kFullShare)
        return unfilled_verdict(evidence, busiest, std::move(what), decoding);
    const auto alike = std::ranges::count_if(evidence.parts, [&fullest](const BusyPart& part) {
        return part.kind == fullest->kind && part.utilisation >= kFullShare && &part != &*fullest;
    });
    if (!evidence.links_told_apart && is_link(fullest->kind)) {
        return {
            false,
            fmt::format("the link of a seat or of the server (the calibration could not tell them apart) was "
                        "{:.0f} % busy when frames were missed: {}",
                        fullest->utilisation * 100, what),
            Limit::unknown};
    }
    std::string part = in_words(*fullest);
    const bool many = fullest->name.ends_with("connections") || fullest->name.ends_with("files");
    if (alike > 0) part += fmt::format(" (and {} more like it)", show_count(static_cast<std::uint64_t>(alike)));
    return {false,
            fmt::format("{} {} {:.0f} % busy when frames were missed: {}", part, many ? "were" : "was",
                        fullest->utilisation * 100, what),
            part_limit(fullest->kind)};
}

/// The verdict on a model, with the rate that it delivers at most.
Verdict model_verdict(const Evidence& evidence, const Blame& by, std::string what) {
    Verdict verdict = fullest_part_verdict(evidence, by, std::move(what));
    if (!evidence.as_played) return verdict;
    const double gives = evidence.as_played->bytes_per_s;
    const std::string rates =
        fmt::format("read without deadlines the model gives {} at most, and {} are required", show_rate(gives),
                    show_rate(evidence.required_bytes_per_s));
    if (gives < evidence.required_bytes_per_s) {
        verdict.reason += "; " + rates;
    } else {
        verdict.detail = rates;
    }
    return verdict;
}

/// Causes on a model: its parts are judged together; errors and damaged media keep their causes.
std::vector<Cause> causes_on_model(const Evidence& evidence) {
    std::vector<Cause> causes;
    for (const MissedFrame& missed : evidence.missed) {
        switch (missed.reason) {
            case DropReason::error: causes.push_back(Cause::storage_error); break;
            case DropReason::short_read:
            case DropReason::missing:
            case DropReason::corrupt: causes.push_back(Cause::damaged_file); break;
            default: causes.push_back(Cause::model_part); break;
        }
    }
    return causes;
}

/// The costs of one cause. Slots: one for a missed frame, for a stall the frame periods that it lasted; drops
/// of the first second are none.
struct Loss {
    std::vector<const MissedFrame*> missed = {};
    std::uint64_t failed = 0;  // frames
    std::uint64_t slots = 0;
    std::int64_t stall_ns = 0;
};
using Losses = std::map<Cause, Loss>;

std::uint64_t lost_slots(const MissedFrame& missed, const Evidence& evidence) {
    if (missed.startup) return 0;
    if (!missed.stall || !missed.delivered_ns) return 1;
    const std::int64_t period_ns = std::max<std::int64_t>(evidence.streams[missed.stream].period_ns, 1);
    const std::int64_t slots = (*missed.delivered_ns - missed.due_ns) / period_ns;
    return static_cast<std::uint64_t>(std::max<std::int64_t>(slots, 1));
}

/// The sentences of the cause speak of the injected faults, not of a storage.
bool is_of_faults(Cause cause, const Evidence& evidence) {
    return cause == Cause::injected_fault || (cause == Cause::unknown && evidence.faults_injected);
}

Losses losses_of(const Evidence& evidence, const std::vector<Cause>& causes) {
    Losses losses;
    for (std::size_t i = 0; i < causes.size(); ++i) {
        const MissedFrame& missed = evidence.missed[i];
        Loss& loss = losses[causes[i]];
        loss.missed.push_back(&missed);
        if (!missed.stall && missed.kind == FrameKind::failed) ++loss.failed;
        loss.slots += lost_slots(missed, evidence);
        if (missed.stall && missed.delivered_ns) loss.stall_ns += *missed.delivered_ns - missed.due_ns;
    }
    return losses;
}

/// Frames and stalls beyond the size of the tables count to the largest cause.
void add_omitted(const Evidence& evidence, CauseResult& largest, std::uint64_t frames, Losses& losses) {
    const FrameCounts& totals = evidence.totals;
    std::uint64_t stalls = totals.stalls;
    std::int64_t stall_ns = totals.stall_ns;
    std::uint64_t failed = totals.failed;
    for (const auto& [cause, loss] : losses) {
        const auto own = std::ranges::count_if(loss.missed, [](const auto* each) { return each->stall; });
        stalls -= std::min(stalls, static_cast<std::uint64_t>(own));
        stall_ns -= loss.stall_ns;
        failed -= std::min(failed, loss.failed);
    }
    const std::uint64_t omitted = totals.late + totals.failed + totals.dropped - frames;
    largest.frames += omitted;
    largest.stalls += stalls;
    Loss& loss = losses[largest.cause];
    loss.failed += failed;
    loss.slots += omitted + stalls;
    loss.stall_ns += std::max<std::int64_t>(stall_ns, 0);
}

/// "12 frames were late or dropped" through parts of a model.
std::string slow_through_parts(const Evidence& evidence, const CauseResult& cause, const Losses& losses) {
    const auto loss = losses.find(cause.cause);
    const std::int64_t stall_ns = loss != losses.end() ? loss->second.stall_ns : evidence.totals.stall_ns;
    if (evidence.faults_injected)
        return lost_frames(cause, loss != losses.end() ? loss->second.failed : 0, stall_ns);
    return slow_frames(evidence.reasons.late + evidence.reasons.client, cause.stalls, stall_ns);
}

std::vector<CauseResult> sum_up(const Evidence& evidence, Losses& losses) {
    std::vector<CauseResult> out;
    std::uint64_t frames = 0;
    for (const auto& [cause, loss] : losses) {
        CauseResult result;
        result.cause = cause;
        for (const MissedFrame* each : loss.missed) ++(each->stall ? result.stalls : result.frames);
        const bool counts = std::ranges::any_of(loss.missed, [](const auto* each) { return !each->startup; });
        result.limit = counts ? limit_of(cause) : Limit::none;
        frames += result.frames;
        out.push_back(result);
    }
    std::ranges::stable_sort(out, std::ranges::greater{}, [&losses](const CauseResult& each) {
        return std::pair(losses[each.cause].slots, each.frames);
    });
    if (!out.empty()) add_omitted(evidence, out.front(), frames, losses);
    for (CauseResult& result : out) {
        const Loss& loss = losses[result.cause];
        if (result.cause != Cause::model_part) {
            const bool faults = is_of_faults(result.cause, evidence);
            const CauseFrames of{loss.missed, evidence,
                                 faults ? lost_frames(result, loss.failed, loss.stall_ns)
                                        : slow_frames(result.frames, result.stalls, loss.stall_ns)};
            if (faults) {
                describe_injected(result, of);
            } else {
                describe(result, of);
            }
            continue;
        }
        const Blame by =
            evidence.faults_injected ? Blame{.slow = result.frames + result.stalls} : blame(evidence);
        const Verdict verdict = model_verdict(evidence, by, slow_through_parts(evidence, result, losses));
        result.limit = verdict.limit;
        result.summary = verdict.reason;
        // The load of a part that a fault slowed down says nothing about the model's storage.
        if (evidence.faults_injected && result.limit == Limit::storage) result.limit = Limit::unknown;
    }
    return out;
}

/// The side with half of the lost slots or more, this computer first, then the media; else the side with most
/// of them. The verdict names that side's largest cause.
Verdict by_causes(const Evidence& evidence, const std::vector<CauseResult>& causes, const Losses& losses) {
    std::map<Limit, std::uint64_t> sides;
    std::uint64_t all = 0;
    const auto side_of = [](Limit limit) {
        return limit == Limit::client_scheduling ? Limit::client_cpu : limit;
    };
    for (const CauseResult& cause : causes) {
        if (cause.limit == Limit::none) continue;
        sides[side_of(cause.limit)] += losses.at(cause.cause).slots;
        all += losses.at(cause.cause).slots;
    }
    if (all == 0) return {false, "frames were missed; the cause is not known", Limit::unknown};
    Limit side = Limit::none;
    for (const Limit each : {Limit::client_cpu, Limit::media, Limit::network, Limit::storage, Limit::unknown}) {
        if (side == Limit::none && sides[each] * 2 >= all) side = each;
    }
    if (side == Limit::none) {
        side = std::ranges::max_element(sides, [](const auto& a, const auto& b) {
                   return a.second < b.second;
               })->first;
    }
    const auto main =
        std::ranges::find_if(causes, [&](const CauseResult& each) { return side_of(each.limit) == side; });
    Verdict verdict{false, main->summary, main->limit, main->detail,
                    is_of_faults(main->cause, evidence)
                        ? "play it again without the injected faults"
                        : what_next(main->cause, {losses.at(main->cause).missed, evidence, {}})};
    for (const CauseResult& each : causes) {
        // Damaged media stay damaged, however few frames they cost.
        const bool worth = losses.at(each.cause).slots * 10 >= all || each.limit == Limit::media;
        if (&each == &*main || each.limit == Limit::none || !worth) continue;
        verdict.reason += "; besides, " + each.summary;
        if (each.detail.empty()) continue;
        verdict.detail +=
            fmt::format("{}{}: {}", verdict.detail.empty() ? "" : "; ", to_string(each.cause), each.detail);
    }
    return verdict;
}

/// So large a part came from the page cache that the verdict is about this computer's memory too.
bool from_own_memory(const Evidence& evidence) {
    constexpr double kMemoryShareTold = 0.05;
    return evidence.own_memory_share.value_or(0) > kMemoryShareTold;
}

Verdict pass(const Evidence& evidence) {
    if (evidence.require_cold &&
        (evidence.server_cache_may_be_warm || evidence.own_memory_unknown || from_own_memory(evidence))) {
        return {false, "every frame was on time, but a cache may have helped, and cold media were required",
                Limit::unknown};
    }
    const FrameCounts& totals = evidence.totals;
    if (!evidence.paced && totals.on_time == 0 && !evidence.streams.empty())
        return {false, "no frame was read or written before the end", Limit::unknown};
    if (!evidence.paced) return {true, "as fast as it went: nothing was required", Limit::none};
    if (totals.on_time == 0) {
        // An interrupted run without a frame on time is no pass.
        return {!evidence.interrupted,
                evidence.judges_storage() ? "no frame was played, so this says nothing about the storage"
                                          : "no frame was played",
                evidence.interrupted ? Limit::unknown : Limit::none};
    }
    if (evidence.within_readahead)
        return {true, "play was no longer than its read-ahead: too short to tell", Limit::none};
    std::string text = "every frame was on time";
    if (totals.startup_drops > 0 && evidence.longest_play_ns < kStartupNs) {
        return {
            true,
            fmt::format("play ended within its first second, in which {} of {} were dropped: too short to tell",
                        show_count(totals.startup_drops), counted(totals.scheduled, "frame")),
            Limit::none};
    }
    if (totals.startup_drops > 0) {
        text = fmt::format("every frame was on time after the first second, in which {} {} dropped{}",
                           counted(totals.startup_drops, "frame"), totals.startup_drops == 1 ? "was" : "were",
                           evidence.judges_storage() ? " while the storage warmed up (cold start)" : "");
    }
    if (from_own_memory(evidence)) {
        text += fmt::format(
            ", but {:.0f} % of the bytes came from this computer's own memory (page cache): that says "
            "little about the storage",
            *evidence.own_memory_share * 100);
    }
    if (evidence.faults_injected) text += ", with the faults that were injected";
    if (evidence.interrupted) text += ", up to the interruption";
    return {true, text, Limit::none};
}

}  // namespace

std::uint64_t bad_frames(const FrameCounts& counts) {
    return counts.late + counts.failed + counts.stalls + (counts.dropped - counts.startup_drops);
}

Judgement judge(const Evidence& evidence) {
    Judgement out;
    out.places = test_places(evidence);
    out.missed_causes = evidence.modelled ? causes_on_model(evidence) : classify_causes(evidence, out.places);
    withhold_storage_causes(evidence, out.missed_causes);
    Losses losses = losses_of(evidence, out.missed_causes);
    out.causes = sum_up(evidence, losses);
    if (bad_frames(evidence.totals) == 0) {
        out.verdict = pass(evidence);
    } else if (const Blame by = blame(evidence);
               evidence.modelled && !evidence.faults_injected && (by.client + by.slow) * 2 >= by.all()) {
        const auto found = std::ranges::find(out.causes, Cause::model_part, &CauseResult::cause);
        CauseResult slow{.cause = Cause::model_part, .stalls = evidence.totals.stalls};  // no table has any
        if (found != out.causes.end()) slow = *found;
        out.verdict = model_verdict(evidence, by, slow_through_parts(evidence, slow, losses));
    } else {
        out.verdict = by_causes(evidence, out.causes, losses);
    }
    return out;
}

}  // namespace streamsim::judge
