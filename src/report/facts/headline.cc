#include "report/facts/headline.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/units.h"
#include "base/utf8.h"
#include "judge/run_verdicts.h"
#include "report/facts/selection.h"
#include "report/facts/show.h"

namespace streamsim::report {
namespace {

constexpr std::size_t kFormatsInLine = 3;

/// "4 streams of dpx12 at 24 fps and 4 of prores-hd at 30 fps, on 3 seats, from /mnt/x"; of a step of a
/// workload, by its journals, "5 meters on /mnt/x"
std::string streams_text(const RunResult& result) {
    if (result.streams.empty() && !result.meters.empty())
        return counted(result.meters.size(), "meter") + " on " + printable(result.url);
    const bool with_rate = paced(result);
    const auto alike = stream_groups(result);
    std::string out;
    if (alike.size() > kFormatsInLine || alike.empty()) {
        out = counted(result.streams.size(), "stream");
        if (!alike.empty()) out += fmt::format(" of {} kinds", alike.size());
    } else {
        for (const StreamGroup& group : alike) {
            const bool first = &group == alike.data();
            if (!first) out += &group == &alike.back() ? " and " : ", ";
            out += first ? counted(group.streams.size(), "stream") : show_count(group.streams.size());
            out += " of " + printable(group.kind);
            if (with_rate) out += " at " + show_fps(group.rate);
        }
    }
    std::set<std::uint32_t> seats;
    for (const StreamResult& stream : result.streams) seats.insert(stream.seat);
    if (seats.size() > 1) out += fmt::format(" on {} seats", seats.size());
    return out + " from " + printable(result.url);
}

std::string margin_text(const RunResult& result) {
    if (!result.margin_ns) return {};
    return ", min margin " + show_duration({result.margin_ns->min});
}

/// ", 3 stalls of 1.3 s in all"
std::string stalls_text(const FrameCounts& counts) {
    if (counts.stalls == 0) return {};
    return fmt::format(", {} of {}{}", counted(counts.stalls, "stall"), show_duration({counts.stall_ns}),
                       counts.stalls > 1 ? " in all" : "");
}

/// "212 of 960 frames dropped (3 of them in the first second), 4 late, 1 failed, 3 stalls of 1.3 s in all"
std::string misses_text(const FrameCounts& counts) {
    struct Part {
        std::uint64_t count;
        const char* word;
        std::uint64_t startup;
    };
    std::string out;
    for (const Part part : {Part{counts.dropped, "dropped", counts.startup_drops}, Part{counts.late, "late", 0},
                            Part{counts.failed, "failed", 0}}) {
        if (part.count == 0) continue;
        out += out.empty() ? fmt::format("{} of {} {}", show_count(part.count),
                                         counted(counts.scheduled, "frame"), part.word)
                           : fmt::format(", {} {}", show_count(part.count), part.word);
        if (part.startup > 0) out += fmt::format(" ({} of them in the first second)", show_count(part.startup));
    }
    if (out.empty()) out = counted(counts.scheduled, "frame") + ", 0 dropped";
    return out + stalls_text(counts);
}

std::string no_misses_text(const FrameCounts& counts) {
    std::string out = counted(counts.scheduled, "frame") + ", 0 dropped";
    if (counts.startup_drops > 0) {
        out += fmt::format(" after the first second ({} in it)", show_count(counts.startup_drops));
    }
    return out;
}

/// No stream with deadlines had more frames than the read-ahead holds. Streams of a scenario may have another
/// one.
bool within_readahead(const RunResult& result) {
    return std::ranges::none_of(result.streams, [&result](const StreamResult& stream) {
        return stream.paced && (stream.counts.scheduled > result.readahead || stream.counts.seeks > 0);
    });
}

/// No slot was due after the first second and frames were dropped in it, no slot was on time at all, or all
/// were in the read-ahead.
bool too_short(const RunResult& result) {
    if (result.totals.on_time == 0 || within_readahead(result)) return true;
    if (result.totals.startup_drops == 0) return false;
    return std::ranges::all_of(result.streams,
                               [](const StreamResult& stream) { return stream.last_due_ns < 1'000'000'000; });
}

bool has_misses_of(const RunResult& result, bool recorded) {
    return std::ranges::any_of(result.streams, [recorded](const StreamResult& stream) {
        return stream.records == recorded && has_misses(stream.counts);
    });
}

/// "PLAYS", "RECORDS" or "PLAYS AND RECORDS".
std::string success(const RunResult& result) {
    if (only_records(result)) return "RECORDS";
    return records(result) ? "PLAYS AND RECORDS" : "PLAYS";
}

std::string failure(const RunResult& result) {
    if (!has_misses_of(result, true)) return only_records(result) ? "DOES NOT RECORD" : "DOES NOT PLAY";
    return has_misses_of(result, false) ? "DOES NOT PLAY OR RECORD" : "DOES NOT RECORD";
}

Headline unpaced_word(const RunResult& result) {
    if (result.streams.empty())
        return result.verdict.pass ? Headline{"DONE", Tone::good} : Headline{"DONE, WITH FAILURES", Tone::bad};
    const std::string word = only_records(result) ? "WRITTEN" : "READ";
    if (result.verdict.pass) return {word, Tone::good};
    const bool nothing = result.totals.on_time + missed_ever(result.totals) == 0;
    return {nothing ? "NOTHING " + word : word + ", WITH FAILURES", Tone::bad};
}

/// While it goes on.
std::string playing_word(const RunResult& result) {
    if (result.streams.empty()) return "RUNNING";
    return only_records(result) ? "RECORDING" : "PLAYING";
}

bool has_failed_meters(const RunResult& result) {
    return std::ranges::any_of(result.meters, [](const MeterResult& meter) {
        return !meter.errors.empty() || judge::never_ran(meter);
    });
}

/// A seat began long after the others, or the seats read several storages.
bool not_together(const RunResult& result) {
    return std::ranges::any_of(result.seats, judge::began_late) || judge::read_several_storages(result.seats);
}

/// "0 missed so far", with the stalls as `stalls` says.
std::string so_far(const FrameCounts& counts, const std::string& stalls) {
    return fmt::format("{} missed{} so far", show_count(missed(counts)), stalls);
}

/// The decision of --prove may differ from whether all frames were there. Empty: --prove was not given.
std::string decision_text(const RunResult& result) {
    if (!result.claims || !result.claims->prove) return {};
    switch (result.claims->prove->decided) {
        case ProveDecision::stands: return "; claim stands";
        case ProveDecision::failed: return "; claim failed";
        case ProveDecision::undecided: break;
    }
    return "; claim undecided";
}

std::string unpaced_text(const RunResult& result) {
    const FrameCounts& totals = result.totals;
    const std::string frames = totals.failed > 0 ? misses_text(totals) : counted(totals.on_time, "frame");
    if (result.wall_ns <= 0) return " as fast as it went: " + frames;
    const double wall_s = static_cast<double>(result.wall_ns) / 1e9;
    const double rate =
        only_records(result) ? static_cast<double>(totals.bytes_written) / wall_s : result.read_bytes_per_s;
    const std::string out = " as fast as it went: " + show_rate(rate) + ", ";
    if (totals.failed > 0) return out + frames;
    return out + fmt::format("{}, {:.1f} a second", frames, static_cast<double>(totals.on_time) / wall_s);
}

std::string after_headline(const RunResult& result) {
    const FrameCounts& totals = result.totals;
    std::string out;
    if (result.interrupted)
        out = fmt::format(" {} {}: {}", result.playing ? "for" : "after", show_duration({elapsed_ns(result)}),
                          so_far(totals, stalls_text(totals)));
    out += ": " + streams_text(result);
    if (result.streams.empty()) return out + (result.meters.empty() ? ": nothing was played" : "");
    if (!paced(result)) return out + unpaced_text(result);
    if (!result.interrupted)
        return out + ": " + (has_misses(totals) ? misses_text(totals) : no_misses_text(totals)) +
               margin_text(result);
    return out + fmt::format(": {}, {} cancelled{}",
                             has_misses(totals) ? misses_text(totals) : counted(totals.scheduled, "frame"),
                             show_count(totals.cancelled), margin_text(result));
}

/// The rest of the closing line behind its word; `stalls`: the text on them.
std::string closing_rest(const RunResult& result, const std::string& stalls) {
    const FrameCounts& totals = result.totals;
    std::string rest;
    if (result.interrupted) {
        rest = fmt::format(" after {}: {}", show_duration({elapsed_ns(result)}), so_far(totals, stalls));
    } else if (result.streams.empty()) {
        if (!result.meters.empty()) rest = ": " + counted(result.meters.size(), "meter");
    } else {
        const std::string frames = counted(totals.scheduled, "frame");
        const std::uint64_t misses = missed(totals);
        rest = misses > 0 ? fmt::format(": {} of {} missed", show_count(misses), frames)
                          : fmt::format(": {}, 0 missed", frames);
        rest += stalls;
    }
    return rest + decision_text(result);
}

}  // namespace

Headline first_word(const RunResult& result) {
    if (result.playing) return {playing_word(result), has_misses(result.totals) ? Tone::bad : Tone::good};
    if (result.interrupted) return {"INTERRUPTED", result.verdict.pass ? Tone::doubtful : Tone::bad};
    const bool whole = std::ranges::all_of(
        result.seats, [](const SeatResult& seat) { return seat.state == SeatResult::State::complete; });
    if (!whole && !has_misses(result.totals)) return {"INCOMPLETE", Tone::bad};
    if (result.streams.empty() && result.meters.empty()) return {"NOTHING PLAYED", Tone::doubtful};
    if (!paced(result)) return unpaced_word(result);
    if (result.verdict.pass && too_short(result)) return {"TOO SHORT TO TELL", Tone::doubtful};
    if (result.verdict.pass) return {success(result), Tone::good};
    if (has_misses(result.totals)) return {failure(result), Tone::bad};
    // No frame was missed: a recording was lost, a meter failed, seats did not play together, or a cache may
    // have been warm.
    Headline not_all = {success(result) + ", BUT NOT ALL WAS DONE", Tone::bad};
    if (result.verdict.limit != Limit::unknown || has_failed_meters(result)) return not_all;
    if (not_together(result)) return {success(result) + ", BUT NOT TOGETHER", Tone::bad};
    const bool meters_only = !result.media.server_cache_may_be_warm && !judges_storage(result);
    if (meters_only) return not_all;
    return {success(result) + ", BUT PERHAPS FROM A CACHE", Tone::doubtful};
}

Headline headline(const RunResult& result) {
    Headline out = first_word(result);
    if (result.faults_injected) out.word = disclaimer(result) + ": " + out.word;
    out.rest = after_headline(result);
    if (result.playing) return out;
    out.rest += decision_text(result);
    if (result.claims && result.claims->prove && out.tone == Tone::good) {
        const ProveDecision decided = result.claims->prove->decided;
        if (decided == ProveDecision::failed) out.tone = Tone::bad;
        if (decided == ProveDecision::undecided) out.tone = Tone::doubtful;
    }
    return out;
}

std::string verdict_line(const RunResult& result) {
    const Headline head = headline(result);
    return head.word + head.rest;
}

Headline closing_line(const RunResult& result) {
    constexpr std::size_t kClosingColumns = 80;  // the last line of a screen is one line
    Headline out = headline(result);
    // The stalls as far as there is room for them: the report has a line of them.
    for (const std::string& stalls :
         {stalls_text(result.totals), ", " + counted(result.totals.stalls, "stall"), std::string()}) {
        out.rest = closing_rest(result, stalls);
        if (result.totals.stalls == 0 || shown_width(out.word + out.rest) <= kClosingColumns) break;
    }
    return out;
}

std::int64_t elapsed_ns(const RunResult& result) {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    for (const StreamResult& stream : result.streams) {
        if (stream.counts.on_time + missed_ever(stream.counts) == 0) continue;  // it did not begin
        begin_ns = std::min(begin_ns, stream.play_start_ns - stream.start_delay_ns);
        end_ns = std::max(end_ns, stream.play_start_ns + stream.last_due_ns);
    }
    for (const MissEvent& event : result.events) {
        if (event.stalls > 0) end_ns = std::max(end_ns, event.to_ns);
    }
    return std::max(result.wall_ns, end_ns - begin_ns);
}

std::string until_last_frame(const RunResult& result) {
    const std::int64_t without_ns = elapsed_ns(result) - result.wall_ns;
    const bool clear = without_ns > 1'000'000'000 && without_ns > result.wall_ns / 10;
    return clear && result.wall_ns > 0 ? " until the last frame came" : "";
}

std::string disclaimer(const RunResult& result) {
    if (result.faults_injected) return "FAULTS INJECTED";
    return is_null_storage(result) ? "no statement about storage" : "";
}

std::string disclaimer_text(const RunResult& result) {
    if (!result.faults_injected) {
        if (!is_null_storage(result)) return {};
        return "no statement about storage: nothing is read or written, every operation is complete at once";
    }
    const FaultsInjected& faults = *result.faults_injected;
    std::string out = "no statement about storage: ";
    const std::uint64_t operations =
        faults.operations_delayed + faults.operations_failed + faults.operations_shortened;
    // Documents of `max` say that there were faults, and not how many.
    const bool played = !result.streams.empty() || !result.meters.empty();
    if (!played && operations + faults.model_faults == 0) return out + "faults were injected";
    if (faults.model_faults == 0 || operations > 0) {
        out +=
            fmt::format("{} delayed, {} failed, {} cut short", counted(faults.operations_delayed, "operation"),
                        show_count(faults.operations_failed), show_count(faults.operations_shortened));
        if (faults.model_faults > 0) out += "; ";
    }
    if (faults.model_faults > 0) out += counted(faults.model_faults, "fault") + " in the model";
    return out;
}

}  // namespace streamsim::report
