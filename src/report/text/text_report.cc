#include "report/text/text_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/units.h"
#include "base/utf8.h"
#include "report/text/load_report.h"
#include "report/text/server_text.h"
#include "report/text/text_tables.h"

namespace streamsim::report {
namespace {

constexpr std::size_t kFormatsInLine = 3;
constexpr std::int64_t kFreshMediaSeconds = 86'400;  // older media are no reason to name their age

bool paced(const RunResult& result) {
    return std::any_of(result.streams.begin(), result.streams.end(),
                       [](const StreamResult& stream) { return stream.paced; });
}

/// "once", "3 times"
std::string times(std::uint64_t count) {
    return count == 1 ? "once" : show_count(count) + " times";
}

bool anything_due(const FrameCounts& counts) {
    return counts.on_time + counts.late + counts.dropped + counts.failed > 0;
}

struct Group {
    std::string kind;
    FrameRate rate;
    std::uint64_t streams = 0;
};

/// Streams that are alike, in the order in which they first appear.
std::vector<Group> groups(const RunResult& result) {
    std::vector<Group> out;
    for (const StreamResult& stream : result.streams) {
        const auto found = std::find_if(out.begin(), out.end(), [&stream](const Group& group) {
            return group.kind == kind_of(stream) && group.rate == stream.rate;
        });
        if (found != out.end()) {
            ++found->streams;
        } else {
            out.push_back({kind_of(stream), stream.rate, 1});
        }
    }
    return out;
}

/// "4 streams of dpx12 at 24 fps and 4 of prores-hd at 30 fps, on 3 seats, from /mnt/x"
std::string what_was_played(const RunResult& result) {
    const bool with_rate = paced(result);
    const auto alike = groups(result);
    std::string out;
    if (alike.size() > kFormatsInLine || alike.empty()) {
        out = counted(result.streams.size(), "stream");
        if (!alike.empty()) out += fmt::format(" of {} kinds", alike.size());
    } else {
        for (const Group& group : alike) {
            const bool first = &group == alike.data();
            if (!first) out += &group == &alike.back() ? " and " : ", ";
            out += first ? counted(group.streams, "stream") : show_count(group.streams);
            out += " of " + printable(group.kind);
            if (with_rate) out += " at " + show_fps(group.rate);
        }
    }
    std::set<std::uint32_t> seats;
    for (const StreamResult& stream : result.streams) seats.insert(stream.seat);
    if (seats.size() > 1) out += fmt::format(" on {} seats", seats.size());
    return out + " from " + printable(result.url);
}

/// ", tightest margin 31.2 ms"
std::string tightest(const RunResult& result) {
    if (!result.margin_ns) return {};
    return ", tightest margin " + show_duration({result.margin_ns->min});
}

/// "212 of 960 frames dropped (3 of them in the first second), 4 late, 1 failed, stood still 3 times for 1.3 s"
std::string what_went_wrong(const FrameCounts& counts) {
    struct Part {
        std::uint64_t count;
        const char* word;
    };
    std::string out;
    for (const Part part :
         {Part{counts.dropped, "dropped"}, Part{counts.late, "late"}, Part{counts.failed, "failed"}}) {
        if (part.count == 0) continue;
        out += out.empty() ? fmt::format("{} of {} {}", show_count(part.count),
                                         counted(counts.scheduled, "frame"), part.word)
                           : fmt::format(", {} {}", show_count(part.count), part.word);
        if (part.count == counts.dropped && counts.startup_drops > 0 && part.word[0] == 'd') {
            out += fmt::format(" ({} of them in the first second)", show_count(counts.startup_drops));
        }
    }
    if (out.empty()) out = counted(counts.scheduled, "frame") + ", 0 dropped";
    if (counts.stalls > 0) {
        out += fmt::format(", stood still {} for {}", times(counts.stalls), show_duration({counts.stall_ns}));
    }
    return out;
}

std::string what_went_well(const FrameCounts& counts) {
    std::string out = counted(counts.scheduled, "frame") + ", 0 dropped";
    if (counts.startup_drops > 0) {
        out += fmt::format(" after the first second ({} in it)", show_count(counts.startup_drops));
    }
    return out;
}

void line(ResultLines& out, std::string_view heading, std::string text) {
    out.push_back({std::string(heading), std::move(text)});
}

void add_lines(const ResultLines& lines, std::string& out) {
    for (const ResultLine& each : lines)
        out += fmt::format("{:<12}{}\n", each.heading.empty() ? "" : each.heading + " ", each.text);
}

std::string latency_text(const LatencySummary& latency) {
    return fmt::format("half within {}, 99 % within {}, slowest {}", show_duration({latency.p50}),
                       show_duration({latency.p99}), show_duration({latency.max}));
}

void frames_lines(const RunResult& result, ResultLines& out) {
    const FrameCounts& totals = result.totals;
    std::string text =
        fmt::format("{} scheduled: {} on time, {} dropped, {} late, {} failed", show_count(totals.scheduled),
                    show_count(totals.on_time), show_count(totals.dropped), show_count(totals.late),
                    show_count(totals.failed));
    if (totals.cancelled > 0) text += fmt::format(", {} not played to their end", show_count(totals.cancelled));
    line(out, "Frames", text);
    if (totals.startup_drops > 0) {
        line(out, "",
             counted(totals.startup_drops, "drop") + " in the first second, reported but not held against it");
    }
    if (totals.stalls > 0) {
        line(out, "Stalls",
             fmt::format("play stood still {} for {} in all", times(totals.stalls),
                         show_duration({totals.stall_ns})));
    }
    const ReasonCounts& reasons = result.reasons;
    if (reasons.late + reasons.client > 0 && records(result)) {
        line(out, "Not in time",
             fmt::format("{} {}, {} because this computer was not running{}", show_count(reasons.late),
                         judges_storage(result) ? "by the storage" : "read or written too late",
                         show_count(reasons.client), result.model ? " or decoded too late" : ""));
    } else if (reasons.late + reasons.client > 0 && result.model) {
        line(out, "Not in time",
             fmt::format("{} read too late, {} read in time and decoded too late", show_count(reasons.late),
                         show_count(reasons.client)));
    } else if (reasons.late + reasons.client > 0) {
        line(out, "Not in time",
             fmt::format("{} read too late, {} because this computer was not running the player",
                         show_count(reasons.late), show_count(reasons.client)));
    }
    if (totals.failed > 0) {
        line(out, "Failed",
             fmt::format("{}, {} cut short, {} missing",
                         counted(reasons.error, records(result) ? "error" : "read error"),
                         show_count(reasons.short_read), show_count(reasons.missing)));
    }
}

void delivery_lines(const RunResult& result, ResultLines& out) {
    std::string speed = show_rate(result.read_bytes_per_s) + " over the whole run";
    if (result.required_bytes_per_s > 0)
        speed += ", " + show_rate(result.required_bytes_per_s) +
                 (result.required_rates.empty() ? " required while playing" : " required at the peak");
    if (result.model && !result.probes.empty())
        speed += fmt::format("; {} at most without deadlines", show_rate(result.probes.front().bytes_per_s));
    if (!only_records(result)) {
        line(out, "Speed",
             fmt::format("{} ({} in {})", speed, show_bytes(result.totals.bytes_read),
                         show_duration({result.wall_ns})));
    }
    if (const std::string steps = required_text(result); !steps.empty()) line(out, "Required", steps);
    if (records(result)) {
        const double seconds = static_cast<double>(result.wall_ns) * 1e-9;
        const auto written = static_cast<double>(result.totals.bytes_written);
        line(out, "Recorded",
             fmt::format("{} ({} in {})", show_rate(seconds > 0 ? written / seconds : 0),
                         show_bytes(result.totals.bytes_written), show_duration({result.wall_ns})));
    }
    if (paced(result) && anything_due(result.totals)) {
        const auto slowest = std::max_element(
            result.streams.begin(), result.streams.end(),
            [](const StreamResult& a, const StreamResult& b) { return a.start_delay_ns < b.start_delay_ns; });
        line(out, "Start",
             fmt::format("play began after {} of {}{}", show_duration({slowest->start_delay_ns}),
                         only_records(result) ? "making what is recorded into" : "filling the read-ahead",
                         result.streams.size() > 1 ? " (the slowest stream)" : ""));
    }
    if (result.margin_ns) {
        line(out, "Margin",
             fmt::format("a frame was there before it was due by: least {}{}, 1 % under {}, half under {}",
                         show_duration({result.margin_ns->min}), result.margin_ns->min < 0 ? " (after)" : "",
                         show_duration({result.margin_ns->p1}), show_duration({result.margin_ns->p50})));
    }
    if (result.service_ns)
        line(out, "Latency", "from request to frame (service): " + latency_text(*result.service_ns));
    if (result.response_ns) {
        line(out, "", "from when it was wanted (response): " + latency_text(*result.response_ns));
    }
    if (result.open_ns) line(out, "", "of that, to open the file: " + latency_text(*result.open_ns));
    if (result.totals.seeks > 0) {
        std::string text = counted(result.totals.seeks, "jump");
        if (result.seek_ns) text += ", from the request to the first frame: " + latency_text(*result.seek_ns);
        line(out, "Seeks", text);
    }
}

std::string io_text(const RunResult& result) {
    const bool written = only_records(result);
    if (result.io_size_bytes == 0) return written ? "a frame in one write" : "a frame in one read";
    return fmt::format("{} of {}, {} of a frame at once", written ? "writes" : "reads",
                       show_io_size(result.io_size_bytes), result.io_depth);
}

void how_lines(const RunResult& result, ResultLines& out) {
    std::string how = result.direct ? "direct (past this computer's page cache)"
                                    : "buffered (through this computer's page cache)";
    if (result.model) {
        how = "no bytes are moved: the model says when they would be there";
    } else if (result.backend == "nfs" || result.backend == "smb") {
        how = "by streamsim itself (not as a mounted share, which this computer's kernel reads and keeps)";
    } else if (result.backend != "local") {
        how = "nothing is read: every request is answered at once";
    }
    if (result.scenario) {  // which may have several ways
        line(out, "Read with", fmt::format("{}, {}", printable(result.io), how));
        line(out, "Played", "each group of streams as the scenario says");
        for (const std::string& notice : result.notices) line(out, "Note", printable(notice));
        return;
    }
    line(out, only_records(result) ? "Written" : "Read with",
         fmt::format("{}, {}, {}", printable(result.io), how, io_text(result)));
    std::string played = fmt::format("read-ahead {}, {} in flight, {} order, {}, on a miss: {}",
                                     counted(result.readahead, "frame"), result.inflight, result.order,
                                     result.pattern, result.on_miss);
    if (result.layers > 1) played += fmt::format(", {} layers", result.layers);
    if (result.sync) played += ", the streams of a seat on one clock";
    if (result.multicam == "active") played += ", only the angle that is shown";
    if (result.audio) played += ", with audio";
    line(out, "Played", played);
    for (const std::string& notice : result.notices) line(out, "Note", printable(notice));
}

/// Why the server's cache may have helped: it remembers what it has just taken in and what it has just sent.
std::string why_warm(const MediaFacts& media) {
    std::vector<std::string> reasons;
    if (media.age_s && *media.age_s < kFreshMediaSeconds) {
        reasons.push_back("written " + show_duration(seconds(*media.age_s)) + " ago");
    }
    if (media.looped) reasons.emplace_back("played more than once");
    if (reasons.empty()) return {};
    return ": the media were " + reasons[0] + (reasons.size() > 1 ? " and " + reasons[1] : "");
}

void cache_lines(const RunResult& result, ResultLines& out) {
    if (result.model) {
        line(out, "Cache",
             fmt::format("the model's caches were {} when play began{}", result.model->warm ? "warm" : "cold",
                         !result.model->warm && result.media.server_cache_may_be_warm
                             ? "; clips were played more than once, and came from them in part"
                             : ""));
        return;
    }
    if (result.media.server_cache_may_be_warm) {
        line(out, "Cache", "may have come from the server's cache" + why_warm(result.media));
        line(out, "", "for an answer about its disks play media that are older, and longer than its memory");
    } else if (result.backend == "local") {
        line(out, "Cache", "no sign of a warm cache in this run; what was read before it cannot be known");
    }
    const auto& local = result.client.page_cache_bytes;
    if (local && *local > 0) {
        const bool much = *local > result.totals.bytes_read / 20;
        line(out, "",
             fmt::format("{} came from this computer's own page cache{}", show_bytes(*local),
                         much ? ": that is no measurement of the storage (--cold, --direct)" : ""));
    }
    for (const std::string& note : result.media.notes) line(out, "", printable(note));
    constexpr std::size_t kSkippedShown = 10;
    const std::vector<std::string>& skipped = result.media.skipped;
    for (std::size_t i = 0; i < std::min(skipped.size(), kSkippedShown); ++i)
        line(out, i == 0 ? "Not played" : "", printable(skipped[i]));
    if (skipped.size() > kSkippedShown)
        line(out, "", fmt::format("and {} more (media.skipped in --json)", skipped.size() - kSkippedShown));
}

void repeat_line(const RunResult& result, ResultLines& out) {
    line(out, "Repeat",
         fmt::format("seed {}, digest {}{}", result.seed, result.digest,
                     result.timing_digest ? ", timing " + *result.timing_digest : ""));
}

/// A clause a line: what an engineer reads, with all its numbers, is long.
void clauses(ResultLines& out, std::string_view heading, std::string_view text) {
    while (!text.empty()) {
        const std::size_t end = text.find("; ");
        line(out, heading, printable(std::string(text.substr(0, end))));
        heading = "";
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
    }
}

std::string places_text(const PlaceTest& places) {
    switch (places.answer) {
        case PlaceTest::Answer::nothing_missed: break;
        case PlaceTest::Answer::one_pass:
            return "whether at the same places on each pass is not known: there was one";
        case PlaceTest::Answer::everywhere:
            return "so much that the same places on each pass say nothing about the material";
        case PlaceTest::Answer::same_place:
            return fmt::format("at the same places on each pass ({} of {}): that speaks for the material",
                               show_count(places.every_pass), counted(places.places, "frame"));
        case PlaceTest::Answer::random: return "at other places on each pass: that speaks against the material";
    }
    return {};
}

void cause_lines(const RunResult& result, ResultLines& out) {
    clauses(out, "Because", result.verdict.reason);
    if (!result.verdict.pass) line(out, "Limit", to_string(result.verdict.limit));
    clauses(out, "In detail", result.verdict.detail);
    if (!result.verdict.next.empty()) line(out, "Measure next", printable(result.verdict.next));
    if (result.causes.size() > 1) {
        std::string booked;
        for (const CauseResult& cause : result.causes) {
            booked +=
                fmt::format("{}{} to {}", booked.empty() ? "" : ", ",
                            cause.stalls > 0 ? counted(cause.stalls, "stall") : counted(cause.frames, "frame"),
                            to_string(cause.cause));
        }
        line(out, "Booked", booked);
    }
    if (!result.model && judges_storage(result) && result.places.answer != PlaceTest::Answer::nothing_missed)
        line(out, "Missed", places_text(result.places));
}

/// Where the media are, and the network that they came over.
void place_lines(const RunResult& result, ResultLines& out) {
    if (const auto& mount = result.mount) {
        line(out, "Mounted",
             fmt::format("{} on {}, {} ({})", printable(mount->source), printable(mount->point),
                         printable(mount->type), printable(mount->options)));
        if (!mount->protocol.empty()) line(out, "", share_text(*mount));
        for (const std::string& hint : mount->hints) line(out, "Hint", printable(hint));
    }
    for (const ServerResult& server : result.servers) {
        line(out, &server == result.servers.data() ? "Server" : "", server_text(server, several_seats(result)));
        line(out, "", requests_text(server));
    }
    for (const LinkEvidence& link : result.links) {
        if (link.received_bytes * 10 < result.totals.bytes_read) continue;
        std::string text = fmt::format("{} received {}", printable(link.name), show_bytes(link.received_bytes));
        if (link.bits_per_s) {
            text += fmt::format(", {:.0f} % of its {:.1f} Gb/s, {:.0f} % at most", link.busy_percent,
                                static_cast<double>(*link.bits_per_s) / 1e9, link.busy_percent_max);
        }
        line(out, "Network", text);
    }
}

/// Nobody shall take it for a measurement who reads two lines.
void model_line(const ModelFacts& model, ResultLines& out) {
    line(out, "Modelled",
         fmt::format("this is no measurement; model {} ({})", printable(model.name), printable(model.title)));
    line(out, "", fmt::format("seats on {} of {}", model.nodes_with_seats, counted(model.nodes, "node")));
}

void client_lines(const RunResult& result, ResultLines& out) {
    const ClientEvidence& client = result.client;
    line(out, "Computer",
         fmt::format("{}: {}, {}, {} of memory", printable(result.host.name), printable(result.host.os),
                     counted(result.host.cpus, "processor"), show_bytes(result.host.memory_bytes)));
    if (result.model) {
        line(out, "",
             fmt::format("took {} of processor time here, for {} of play", show_duration({client.cpu_ns}),
                         show_duration({result.wall_ns})));
        repeat_line(result, out);
        return;
    }
    line(out, "",
         fmt::format("used {:.0f} % of one processor in {}{}{}", client.cpu_percent,
                     counted(client.loops, "player thread"),
                     client.helpers_cpu_ns > 0 ? " and the processes that speak SMB" : "",
                     client.realtime ? ", real-time scheduling" : ""));
    std::string late =
        fmt::format("woke up late by: half within {}, 99 % within {}, worst {}",
                    show_duration({client.loop_lateness_p50_ns}), show_duration({client.loop_lateness_p99_ns}),
                    show_duration({client.loop_lateness_max_ns}));
    if (client.loop_stalls > 0) {
        late += fmt::format("; held up {} for {} in all", times(client.loop_stalls),
                            show_duration({client.loop_stalled_ns}));
    }
    line(out, "", late);
    line(out, "Measured", "delivery to this computer; streamsim does not decode or show the frames");
    repeat_line(result, out);
}

void scenario_lines(const RunResult& result, ResultLines& out) {
    if (!result.scenario) return;
    const ScenarioFacts& scenario = *result.scenario;
    if (!scenario.description.empty()) line(out, "Scenario", printable(scenario.description));
    if (scenario.expected.empty()) return;
    line(out, "Expected", printable(scenario.expected));
    if (scenario.as_expected == true) line(out, "", "so it came");
    for (const std::string& surprise : scenario.surprises) line(out, "", "otherwise: " + surprise);
}

constexpr const char* kPlain = "\x1b[0m";

const char* colour_of(Tone tone) {
    switch (tone) {
        case Tone::good: return "\x1b[1;32m";
        case Tone::doubtful: return "\x1b[1;33m";
        case Tone::bad: return "\x1b[1;31m";
    }
    return kPlain;
}

bool nothing_wrong(const FrameCounts& counts) {
    return counts.dropped == counts.startup_drops && counts.late + counts.failed + counts.stalls == 0;
}

/// Nothing was due after the first second, and frames were dropped in it; or nothing was played at all.
bool too_short(const RunResult& result) {
    if (result.totals.on_time == 0) return true;
    if (result.totals.startup_drops == 0) return false;
    return std::all_of(result.streams.begin(), result.streams.end(),
                       [](const StreamResult& stream) { return stream.last_due_ns < 1'000'000'000; });
}

struct Word {
    const char* text;
    Tone tone;
};

Word first_word(const RunResult& result) {
    if (result.interrupted) return {"INTERRUPTED", result.verdict.pass ? Tone::doubtful : Tone::bad};
    const bool whole = std::all_of(result.seats.begin(), result.seats.end(), [](const SeatResult& seat) {
        return seat.state == SeatResult::State::complete;
    });
    if (!whole && nothing_wrong(result.totals)) return {"INCOMPLETE", Tone::bad};
    if (result.streams.empty() && result.meters.empty()) return {"NOTHING PLAYED", Tone::doubtful};
    if (!paced(result)) {
        if (only_records(result))
            return result.verdict.pass ? Word{"WRITTEN", Tone::good}
                                       : Word{"WRITTEN, WITH FAILURES", Tone::bad};
        return result.verdict.pass ? Word{"READ", Tone::good} : Word{"READ, WITH FAILURES", Tone::bad};
    }
    if (result.verdict.pass && too_short(result)) return {"TOO SHORT TO TELL", Tone::doubtful};
    if (result.verdict.pass) return {"PLAYS", Tone::good};
    if (!nothing_wrong(result.totals)) return {"DOES NOT PLAY", Tone::bad};
    // Every frame was there in time. A storage that is to blame for more than that lost a recording, or failed
    // a meter.
    const bool meters_only = !result.media.server_cache_may_be_warm && !judges_storage(result);
    if (result.verdict.limit == Limit::storage || meters_only)
        return {"PLAYS, BUT NOT ALL WAS DONE", Tone::bad};
    return {"PLAYS, BUT PERHAPS FROM A CACHE", Tone::doubtful};
}

std::string after_headline(const RunResult& result) {
    const FrameCounts& totals = result.totals;
    std::string out;
    if (result.interrupted) out = " after " + show_duration({result.wall_ns});
    out += ": " + what_was_played(result);
    if (result.streams.empty()) return out + ": nothing was played";
    if (!paced(result)) {
        const double wall_s = static_cast<double>(std::max<std::int64_t>(result.wall_ns, 1)) / 1e9;
        const double written = static_cast<double>(totals.bytes_written) / wall_s;
        out += " as fast as it went: " + show_rate(only_records(result) ? written : result.read_bytes_per_s) +
               ", ";
        if (totals.failed > 0) return out + what_went_wrong(totals);
        out += counted(totals.on_time, "frame");
        if (result.wall_ns <= 0) return out;
        return out + fmt::format(", {:.1f} a second", static_cast<double>(totals.on_time) / wall_s);
    }
    out += ": " + (nothing_wrong(totals) ? what_went_well(totals) : what_went_wrong(totals)) + tightest(result);
    if (result.interrupted) out += fmt::format(", {} not played to their end", show_count(totals.cancelled));
    return out;
}

}  // namespace

Headline headline(const RunResult& result) {
    const Word word = first_word(result);
    const std::string banner = result.faults_injected ? disclaimer(result) + ": " : "";
    return {banner + word.text, after_headline(result), word.tone};
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
    std::string out;
    const std::uint64_t met =
        faults.operations_delayed + faults.operations_failed + faults.operations_shortened;
    if (faults.model_faults == 0 || met > 0) {
        out = fmt::format("{} delayed, {} failed, {} cut short; ",
                          counted(faults.operations_delayed, "operation"), show_count(faults.operations_failed),
                          show_count(faults.operations_shortened));
    }
    if (faults.model_faults > 0) out += fmt::format("{} in the model; ", counted(faults.model_faults, "fault"));
    return out + "no statement about storage";
}

std::string required_text(const RunResult& result) {
    constexpr std::size_t kSteps = 6;
    const std::vector<RequiredRate>& steps = result.required_rates;
    std::string out;
    for (std::size_t i = 0; i + 1 < std::min(steps.size(), kSteps + 1); ++i) {
        out += fmt::format("{}{} from {}", out.empty() ? "" : ", ", show_rate(steps[i].bytes_per_s),
                           show_duration({steps[i].t_ns}));
    }
    if (steps.size() < 2) return out;
    if (steps.size() > kSteps + 1)
        return out + fmt::format(", and {} more (required_rates in --json)",
                                 counted(steps.size() - 1 - kSteps, "step"));
    return out + " to " + show_duration({steps.back().t_ns});
}

std::string verdict_line(const RunResult& result) {
    const Headline head = headline(result);
    return head.word + head.rest;
}

ResultLines setup_lines(const RunResult& result) {
    ResultLines lines;
    scenario_lines(result, lines);
    how_lines(result, lines);
    cache_lines(result, lines);
    client_lines(result, lines);
    return lines;
}

std::string text_report(const RunResult& result, bool colour) {
    const Headline head = headline(result);
    std::string out = colour ? colour_of(head.tone) + head.word + kPlain : head.word;
    out += head.rest + "\n";
    ResultLines lines;
    if (!judges_storage(result))
        line(lines, result.faults_injected ? "Faults" : "Null", disclaimer_text(result));
    if (result.model) model_line(*result.model, lines);
    cause_lines(result, lines);
    scenario_lines(result, lines);
    add_lines(lines, out);
    out += "\n";
    lines.clear();
    frames_lines(result, lines);
    delivery_lines(result, lines);
    how_lines(result, lines);
    place_lines(result, lines);
    cache_lines(result, lines);
    client_lines(result, lines);
    add_lines(lines, out);
    for (const std::string& table : {parts_table(result), seats_table(result), streams_table(result),
                                     meters_table(result), alone_table(result), drops_table(result)}) {
        if (!table.empty()) out += "\n" + table;
    }
    return out;
}

}  // namespace streamsim::report
