#include "judge/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"

namespace streamsim {
namespace {

/// From here on a processor counts as used up: the rest goes to the kernel's own work.
constexpr double kBusyPercent = 90;

/// From here on a part of a model counts as full.
constexpr double kFullShare = 0.9;

/// Drops until then do not count against a verdict.
constexpr std::int64_t kStartupNs = 1'000'000'000;

/// The bad slots and stalls, by who had them in hand.
struct Blame {
    std::uint64_t client = 0;
    std::uint64_t media = 0;
    std::uint64_t slow = 0;    // the storage answered too late
    std::uint64_t errors = 0;  // the storage answered with an error

    std::uint64_t all() const { return client + media + slow + errors; }
};

Blame blame(const Evidence& evidence) {
    const ReasonCounts& reasons = evidence.reasons;
    const std::uint64_t client_stalls = std::min(evidence.client_stalls, evidence.totals.stalls);
    return {.client = reasons.client + client_stalls,
            .media = reasons.short_read + reasons.missing,
            .slow = reasons.late + (evidence.totals.stalls - client_stalls),
            .errors = reasons.error};
}

std::string frames(std::uint64_t count) {
    return count == 1 ? "1 frame" : show_count(count) + " frames";
}

std::string were(std::uint64_t count) {
    return count == 1 ? "was" : "were";
}

/// The player's threads had no processor time left.
bool player_out_of_cpu(const Evidence& evidence) {
    const auto usable = std::max(1U, std::min(evidence.loops, evidence.cpus));
    return evidence.cpu_percent >= kBusyPercent * usable;
}

/// This process alone kept every processor busy.
bool computer_out_of_cpu(const Evidence& evidence) {
    return evidence.cpu_percent >= kBusyPercent * std::max(1U, evidence.cpus);
}

/// The player was typically half a frame behind its own timers: its reads went out late.
bool player_behind(const Evidence& evidence) {
    return evidence.shortest_period_ns > 0 && evidence.loop_lateness_p50_ns * 2 >= evidence.shortest_period_ns;
}

Verdict client_verdict(const Evidence& evidence, std::uint64_t count) {
    const std::string innocent = fmt::format("{} cannot be held against the storage", frames(count));
    if (player_out_of_cpu(evidence)) {
        return {false,
                fmt::format("this computer ran out of processor time ({:.0f} % of one processor used): {}",
                            evidence.cpu_percent, innocent),
                Limit::client_cpu};
    }
    // Frames that were delivered in time and decoded late, by a player that was awake.
    const std::int64_t lost_ns = static_cast<std::int64_t>(count) * evidence.shortest_period_ns;
    if (evidence.decode_cpu_ns > 0 && evidence.loop_stalled_ns < lost_ns) {
        return {false,
                fmt::format("decoding, at {} of processor time a frame, did not keep up on this computer: {}",
                            show_duration({evidence.decode_cpu_ns}), innocent),
                Limit::client_cpu};
    }
    const std::string how =
        evidence.loop_stalled_ns > 0
            ? fmt::format("held up for {} in all", show_duration({evidence.loop_stalled_ns}))
            : fmt::format("typically {} late", show_duration({evidence.loop_lateness_p50_ns}));
    return {false,
            fmt::format("this computer did not let the player run when it had to ({}): {}", how, innocent),
            Limit::client_scheduling};
}

Verdict media_verdict(const ReasonCounts& reasons) {
    std::string what;
    if (reasons.missing > 0) {
        what = fmt::format("{} {} missing", frames(reasons.missing), were(reasons.missing));
    }
    if (reasons.short_read > 0) {
        if (!what.empty()) what += " and ";
        what += fmt::format("{} {} cut short", frames(reasons.short_read), were(reasons.short_read));
    }
    return {false, what + ": the media are incomplete, on any storage", Limit::media};
}

/// What each policy calls a frame that was not there in time.
std::string slow_frames(const Evidence& evidence) {
    const FrameCounts& totals = evidence.totals;
    if (totals.stalls > 0) {
        return fmt::format("play stood still {} for {} in all, waiting for frames",
                           totals.stalls == 1 ? "once" : show_count(totals.stalls) + " times",
                           show_duration({totals.stall_ns}));
    }
    const std::uint64_t count = evidence.reasons.late;
    return fmt::format("{} {} not there when due", frames(count), were(count));
}

Verdict storage_verdict(const Evidence& evidence, const Blame& by) {
    if (by.slow > by.errors && (computer_out_of_cpu(evidence) || player_behind(evidence))) {
        return client_verdict(evidence, by.slow);
    }
    const std::string errors = fmt::format("the storage gave an error for {}", frames(by.errors));
    if (by.slow == 0) return {false, errors, Limit::storage};
    std::string text = "the storage did not keep up: " + slow_frames(evidence);
    if (by.errors > 0) text += "; " + errors;
    return {false, text, Limit::storage};
}

/// "seat 0 processor" as a sentence says it: "the processor of seat 0".
std::string in_words(const BusyPart& part) {
    const std::size_t owner = part.name.find(' ', part.name.find(' ') + 1);
    if (owner == std::string::npos) return part.name;
    const char* article = part.kind == PartKind::drive ? "" : "the ";
    return fmt::format("{}{} of {}", article, part.name.substr(owner + 1), part.name.substr(0, owner));
}

/// Whose a part is.
Limit limit_of(PartKind kind) {
    switch (kind) {
        case PartKind::seat_cpu: return Limit::client_cpu;
        case PartKind::seat_link:
        case PartKind::switch_port: return Limit::network;
        default: return Limit::storage;
    }
}

/// No part was full: time was lost in another way.
Verdict unfilled_verdict(const Evidence& evidence, const BusyPart* busiest, std::string what, bool decoding) {
    what += "; no part of the model was full";
    if (busiest != nullptr && busiest->utilisation > 0) {
        what +=
            fmt::format(", the busiest was {} with {:.0f} %", in_words(*busiest), busiest->utilisation * 100);
    }
    // Where frames came late too, decoding was late because it had them all at once afterwards.
    if (decoding) return {false, what + ": decoding a frame took longer than its seat had", Limit::client_cpu};
    const auto loser = std::max_element(evidence.parts.begin(), evidence.parts.end(),
                                        [](const BusyPart& a, const BusyPart& b) { return a.lost < b.lost; });
    if (loser != evidence.parts.end() && loser->lost > 0 && loser->lost_share >= 0.5) {
        return {false,
                fmt::format("{}, but {} had no room for {} segments, which were sent again later", what,
                            in_words(*loser), show_count(loser->lost)),
                Limit::network};
    }
    if (evidence.way_ns * 2 >= evidence.service_p50_ns && evidence.way_ns > 0) {
        return {false,
                fmt::format("{}: of the {} that a frame typically took {} are the way to the storage and back",
                            what, show_duration({evidence.service_p50_ns}), show_duration({evidence.way_ns})),
                Limit::network};
    }
    return {false, what + ": what was missing is time (latency, a fault, a burst), not rate", Limit::storage};
}

/// What a frame of a model was missed for: the fullest of its parts, where one was full.
Verdict model_verdict(const Evidence& evidence, const Blame& by) {
    // Utilisations that differ by less than this say the same: then the part where more was waiting is meant.
    const auto fuller = [](const BusyPart& a, const BusyPart& b) {
        const long a_percent = std::lround(a.utilisation * 100);
        const long b_percent = std::lround(b.utilisation * 100);
        return a_percent != b_percent ? a_percent < b_percent : a.queue_mean < b.queue_mean;
    };
    const bool decoding = by.client > 0 && by.slow == 0;
    Evidence slow = evidence;
    slow.reasons.late = evidence.reasons.late + evidence.reasons.client;
    std::string what = slow_frames(slow);
    if (by.errors > 0) what += fmt::format("; the storage gave an error for {}", frames(by.errors));
    const auto fullest = std::max_element(evidence.parts.begin(), evidence.parts.end(), fuller);
    const BusyPart* busiest = fullest != evidence.parts.end() ? &*fullest : nullptr;
    if (busiest == nullptr || busiest->utilisation < kFullShare)
        return unfilled_verdict(evidence, busiest, std::move(what), decoding);
    const auto alike =
        std::count_if(evidence.parts.begin(), evidence.parts.end(), [&fullest](const BusyPart& part) {
            return part.kind == fullest->kind && part.utilisation >= kFullShare && &part != &*fullest;
        });
    std::string part = in_words(*fullest);
    if (alike > 0) part += fmt::format(" (and {} more like it)", show_count(static_cast<std::uint64_t>(alike)));
    return {
        false,
        fmt::format("{} {} {:.0f} % busy when frames were missed: {}", part,
                    fullest->name.ends_with("connections") ? "were" : "was", fullest->utilisation * 100, what),
        limit_of(fullest->kind)};
}

Verdict pass(const Evidence& evidence) {
    const FrameCounts& totals = evidence.totals;
    if (!evidence.paced) return {true, "read as fast as it went: nothing was required", Limit::none};
    if (totals.on_time == 0) {
        // An interrupted run that showed nothing is no pass; one that played to its end has the contract's
        // word.
        return {!evidence.interrupted, "no frame was played, so this says nothing about the storage",
                evidence.interrupted ? Limit::unknown : Limit::none};
    }
    std::string text = "every frame was there in time";
    if (totals.startup_drops > 0 && evidence.longest_play_ns < kStartupNs) {
        return {
            true,
            fmt::format("play ended within its first second, in which {} of {} were dropped: too short to tell",
                        show_count(totals.startup_drops), frames(totals.scheduled)),
            Limit::none};
    }
    if (totals.startup_drops > 0) {
        text = fmt::format("every frame was there in time after the first second, in which {} {} dropped",
                           frames(totals.startup_drops), were(totals.startup_drops));
    }
    if (evidence.interrupted) text += ", up to the interruption";
    return {true, text, Limit::none};
}

}  // namespace

std::uint64_t bad_frames(const FrameCounts& counts) {
    return counts.late + counts.failed + counts.stalls + (counts.dropped - counts.startup_drops);
}

Verdict judge(const Evidence& evidence) {
    if (bad_frames(evidence.totals) == 0) {
        if (!evidence.require_cold || !evidence.server_cache_may_be_warm) return pass(evidence);
        return {false,
                "every frame was there in time, but a cache may have helped, and cold media were required",
                Limit::unknown};
    }
    const Blame by = blame(evidence);
    if (by.all() == 0) return {false, "frames were not there in time; why is not known", Limit::unknown};
    if (evidence.modelled && (by.client + by.slow) * 2 >= by.all()) return model_verdict(evidence, by);
    if (by.client * 2 >= by.all()) return client_verdict(evidence, by.client);
    if (by.media * 2 >= by.all()) return media_verdict(evidence.reasons);
    return storage_verdict(evidence, by);
}

}  // namespace streamsim
