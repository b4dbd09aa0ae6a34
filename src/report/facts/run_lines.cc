#include "report/facts/run_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/units.h"
#include "base/utf8.h"
#include "judge/run_verdicts.h"
#include "report/facts/headline.h"
#include "report/facts/prediction_facts.h"
#include "report/facts/selection.h"
#include "report/facts/show.h"

namespace streamsim::report {
namespace {

/// A clause a line: the sentences for an engineer are long.
void add_clauses(std::string_view heading, std::string_view text, ReportLines& out) {
    while (!text.empty()) {
        const std::size_t end = text.find("; ");
        out.add(heading, printable(std::string(text.substr(0, end))));
        heading = "";
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
    }
}

std::string attributed_text(const RunResult& result) {
    std::string out;
    for (const CauseResult& cause : result.causes) {
        std::string lost = cause.frames > 0 || cause.stalls == 0 ? counted(cause.frames, "frame") : "";
        if (cause.stalls > 0) lost += (lost.empty() ? "" : " and ") + counted(cause.stalls, "stall");
        out += fmt::format("{}{} to {}", out.empty() ? "" : ", ", lost, to_string(cause.cause));
    }
    return out;
}

std::string repetition_text(const PlaceTest& test) {
    switch (test.answer) {
        case PlaceTest::Answer::nothing_missed: break;
        case PlaceTest::Answer::one_pass: return "unknown: the clips were played once";
        case PlaceTest::Answer::everywhere:
            return "unknown: so many frames were missed that the same ones on each pass prove nothing";
        case PlaceTest::Answer::same_place:
            return fmt::format("the same frames on each pass ({} of {}): this points to the media",
                               show_count(test.every_pass), counted(test.places, "frame"));
        case PlaceTest::Answer::random: return "other frames on each pass: this speaks against the media";
    }
    return {};
}

/// Missed frames by who was late: the storage or this computer.
std::string late_text(const RunResult& result) {
    const char* late = "read too late";
    if (records(result)) late = judges_storage(result) ? "by the storage" : "read or written too late";
    std::string client = "because this computer did not run the player";
    if (result.model) client = records(result) ? client + " or decoded too late" : "decoded too late";
    std::string out;
    for (const auto& [count, text] :
         {std::pair{result.reasons.late, std::string(late)}, {result.reasons.client, client}}) {
        if (count > 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", show_count(count), text);
    }
    return out;
}

bool anything_due(const FrameCounts& counts) {
    return counts.on_time + missed_ever(counts) > 0;
}

std::string throughput_text(const RunResult& result) {
    const std::string until = until_last_frame(result);
    std::string out =
        show_rate(result.read_bytes_per_s) +
        (until.empty() ? " over the whole run" : until + ", after " + show_duration({result.wall_ns}));
    if (result.required_bytes_per_s > 0)
        out += ", " + show_rate(result.required_bytes_per_s) +
               (result.required_rates.empty() ? " required while playing" : " required at the peak");
    if (result.model && !result.probes.empty())
        out += fmt::format("; {} at most without deadlines", show_rate(result.probes.front().bytes_per_s));
    return fmt::format("{} ({} in {})", out, show_bytes(result.totals.bytes_read),
                       show_duration({result.wall_ns}));
}

std::string start_text(const RunResult& result) {
    const auto slowest = std::ranges::max_element(result.streams, {}, &StreamResult::start_delay_ns);
    return fmt::format("play began after {} of {}{}", show_duration({slowest->start_delay_ns}),
                       only_records(result) ? "creating the files to record into" : "preroll",
                       result.streams.size() > 1 ? " (slowest stream)" : "");
}

constexpr std::size_t kSkippedShownMax = 10;

std::string io_text(const RunResult& result) {
    const bool written = only_records(result);
    if (result.io_size_bytes == 0) return written ? "a frame in one write" : "a frame in one read";
    return fmt::format("{} of {}, {} of a frame in flight", written ? "writes" : "reads",
                       show_io_size(result.io_size_bytes), result.io_depth);
}

std::string path_text(const RunResult& result) {
    if (result.model) return "no bytes are moved: the model says when they would arrive";
    if (result.backend == "nfs" || result.backend == "smb")
        return "by streamsim itself (no mount, no kernel cache)";
    if (result.backend != "local") return "nothing is read: every request is complete at once";
    return result.direct ? "direct (past this computer's page cache)"
                         : "buffered (through this computer's page cache)";
}

std::string player_text(const RunResult& result) {
    std::string out = fmt::format("read-ahead {}, {} in flight, {} order, {}, on a miss: {}",
                                  counted(result.readahead, "frame"), result.inflight, printable(result.order),
                                  printable(result.pattern), printable(result.on_miss));
    if (result.layers > 1) out += fmt::format(", {} layers", result.layers);
    if (result.sync) out += ", the streams of a seat on one clock";
    if (result.multicam == "active") out += ", only the angle that is shown";
    if (result.audio) out += ", with audio";
    return out;
}

bool is_young(const MediaFacts& media) {
    return media.age_s && *media.age_s < judge::kServerCacheSeconds;
}

/// Why a server's cache may have held the media: it keeps what was written or read shortly before.
std::string warmth_text(const RunResult& result) {
    const MediaFacts& media = result.media;
    std::vector<std::string> reasons;
    if (is_young(media)) {
        const std::string age = *media.age_s > 0 ? show_duration(seconds(*media.age_s)) : "less than a second";
        reasons.push_back("written or changed " + age + " ago");
    }
    if (media.looped) reasons.emplace_back("played more than once");
    if (media.read_for_index) reasons.emplace_back("read through for their index (--keep-index)");
    std::string out;
    for (const std::string& reason : reasons) out += (out.empty() ? ": the media were " : " and ") + reason;
    if (!media.shared) return out;
    const char* const advice = result.order == "cuts" ? "" : " (--media own gives each its own)";
    return out + (out.empty() ? ": " : "; ") + "several streams played one clip" + advice;
}

void add_skipped(const std::vector<std::string>& skipped, ReportLines& out) {
    for (std::size_t i = 0; i < std::min(skipped.size(), kSkippedShownMax); ++i)
        out.add(i == 0 ? "Not played" : "", printable(skipped[i]));
    if (skipped.size() > kSkippedShownMax)
        out.add("", fmt::format("and {} more (media.skipped in --json)", skipped.size() - kSkippedShownMax));
}

void add_repeat_line(const RunResult& result, ReportLines& out) {
    const std::string timing = result.timing_digest ? ", timing " + *result.timing_digest : "";
    out.add("Repeat", printable(fmt::format("seed {}, digest {}{}", result.seed, result.digest, timing)));
}

std::string lateness_text(const ClientEvidence& client) {
    std::string out = "timer lateness: " + show_lateness(client);
    if (client.loop_stalls > 0)
        out += fmt::format("; scheduling stalls: {}, {} in all", show_count(client.loop_stalls),
                           show_duration({client.loop_stalled_ns}));
    return out;
}

/// "10.77.0.10, NFSv3, 4 connections, reads of up to 1 MiB", with the seats where there are several.
std::string server_text(const ServerResult& server, bool with_seats) {
    std::string out = fmt::format("{}, {}, {}", printable(server.address), printable(server.protocol),
                                  counted(server.connections, "connection"));
    if (server.read_bytes > 0) out += ", reads of up to " + show_io_size(server.read_bytes);
    if (with_seats)
        out += fmt::format("; seat{} {}", server.seats.size() == 1 ? "" : "s", show_seats(server.seats));
    return out;
}

/// "12,345 requests, 27.3 a frame, for 4.2 GB; 1 reconnect; 3 segments sent again; RTT 250.0 us"
std::string requests_text(const ServerResult& server) {
    std::string out = fmt::format("{}, {:.1f} a frame, for {}", counted(server.requests, "request"),
                                  server.requests_per_frame, show_bytes(server.received_bytes));
    if (server.reconnects > 0) out += "; " + counted(server.reconnects, "reconnect");
    if (server.retransmitted_segments > 0)
        out += fmt::format("; {} sent again", counted(server.retransmitted_segments, "segment"));
    if (server.rtt_ns) out += fmt::format("; RTT {}", show_duration({*server.rtt_ns}));
    return out;
}

}  // namespace

void add_cause_lines(const RunResult& result, ReportLines& out) {
    add_clauses(result.verdict.pass ? "Reason" : "Cause", result.verdict.reason, out);
    if (!result.verdict.pass) out.add("Limit", to_string(result.verdict.limit));
    add_clauses("Detail", result.verdict.detail, out);
    if (!result.verdict.next.empty()) out.add("Next", printable(result.verdict.next));
    if (result.causes.size() > 1) out.add("Attributed", attributed_text(result));
    if (!result.model && judges_storage(result) && result.places.answer != PlaceTest::Answer::nothing_missed)
        out.add("Repetition", repetition_text(result.places));
}

void add_frames_lines(const RunResult& result, ReportLines& out) {
    if (result.streams.empty() && !result.meters.empty()) return;
    const FrameCounts& totals = result.totals;
    std::string text =
        fmt::format("{} scheduled: {} on time, {} dropped, {} late, {} failed", show_count(totals.scheduled),
                    show_count(totals.on_time), show_count(totals.dropped), show_count(totals.late),
                    show_count(totals.failed));
    if (totals.cancelled > 0) text += fmt::format(", {} cancelled", show_count(totals.cancelled));
    out.add("Frames", text);
    if (totals.startup_drops > 0)
        out.add("", counted(totals.startup_drops, "drop") + " in the first second do not count in the verdict");
    if (totals.stalls > 0)
        out.add("Stalls",
                fmt::format("{}, {} in all", show_count(totals.stalls), show_duration({totals.stall_ns})));
    const ReasonCounts& reasons = result.reasons;
    if (reasons.late + reasons.client > 0) out.add("Missed", late_text(result));
    if (totals.failed > 0) {
        std::string failed = fmt::format("{}, {} cut short, {} missing",
                                         counted(reasons.error, records(result) ? "error" : "read error"),
                                         show_count(reasons.short_read), show_count(reasons.missing));
        if (reasons.corrupt > 0) failed += fmt::format(", {} corrupt", show_count(reasons.corrupt));
        out.add("Failed", failed);
    }
    if (result.content) {
        const ContentCheck& check = *result.content;
        const double of_frame =
            static_cast<double>(check.cpu_ns) / std::max<double>(static_cast<double>(check.frames), 1);
        out.add("Content", fmt::format("{} compared, {} differ; cost {} of CPU, {} a frame",
                                       counted(check.frames, "frame"), show_count(check.corrupt),
                                       show_duration({check.cpu_ns}),
                                       show_duration({static_cast<std::int64_t>(of_frame)})));
    }
}

void add_claim_lines(const RunResult& result, ReportLines& out) {
    if (!result.claims) return;
    const Claims& claims = *result.claims;
    if (claims.prove) {
        const bool undecided = claims.prove->decided == ProveDecision::undecided;
        out.add("Prove", undecided
                             ? claims.prove->sentence
                             : fmt::format("{}: {}", to_string(claims.prove->decided), claims.prove->sentence));
    }
    if (!claims.sentence.empty()) out.add("Claim", claims.sentence);
}

void add_delivery_lines(const RunResult& result, ReportLines& out) {
    if (!result.streams.empty() && !only_records(result)) out.add("Throughput", throughput_text(result));
    if (const std::string steps = required_text(result); !steps.empty()) out.add("Required", steps);
    if (records(result)) {
        const double seconds = static_cast<double>(result.wall_ns) * 1e-9;
        const auto written = static_cast<double>(result.totals.bytes_written);
        out.add("Recorded", fmt::format("{}{} ({} in {})", show_rate(seconds > 0 ? written / seconds : 0),
                                        until_last_frame(result), show_bytes(result.totals.bytes_written),
                                        show_duration({result.wall_ns})));
    }
    if (paced(result) && anything_due(result.totals)) out.add("Start", start_text(result));
    if (result.margin_ns) out.add("Margin", show_margin(*result.margin_ns));
    if (result.service_ns) out.add("Latency", "service: " + show_latency(*result.service_ns));
    if (result.response_ns) out.add("", "response: " + show_latency(*result.response_ns));
    if (result.open_ns) out.add("", "open: " + show_latency(*result.open_ns));
    if (result.totals.seeks > 0) {
        std::string text = counted(result.totals.seeks, "seek");
        if (result.seek_ns) text += ", to the first frame: " + show_latency(*result.seek_ns);
        out.add("Seeks", text);
    }
}

std::string required_text(const RunResult& result) {
    constexpr std::size_t kStepsMax = 6;
    const std::vector<RequiredRate>& steps = result.required_rates;
    std::string out;
    for (std::size_t i = 0; i + 1 < std::min(steps.size(), kStepsMax + 1); ++i) {
        out += fmt::format("{}{} from {}", out.empty() ? "" : ", ", show_rate(steps[i].bytes_per_s),
                           show_duration({steps[i].t_ns}));
    }
    if (steps.size() < 2) return out;
    if (steps.size() > kStepsMax + 1)
        return out + fmt::format(", and {} more (required_rates in --json)",
                                 counted(steps.size() - 1 - kStepsMax, "step"));
    return out + " to " + show_duration({steps.back().t_ns});
}

void add_disclaimer_lines(const RunResult& result, ReportLines& out) {
    if (!judges_storage(result)) out.add(result.faults_injected ? "Faults" : "Null", disclaimer_text(result));
    if (!result.model) return;
    const ModelFacts& model = *result.model;
    out.add("Modelled", fmt::format("this is no measurement; model {} ({})", printable(model.name),
                                    printable(model.title)));
    out.add("", fmt::format("seats on {} of {}", model.nodes_with_seats, counted(model.nodes, "node")));
}

void add_trust_lines(const RunResult& result, ReportLines& out) {
    if (!result.model) return;
    const std::vector<std::string>& trust = result.model->trust;
    for (const std::string& sentence : trust)
        out.add(&sentence == trust.data() ? "Trust" : "", printable(sentence));
}

void add_prediction_lines(const RunResult& result, ReportLines& out) {
    if (!result.prediction) return;
    const std::vector<std::string> sentences = prediction_sentences(*result.prediction);
    for (std::size_t i = 0; i < sentences.size(); ++i) out.add(i == 0 ? "Predicted" : "", sentences[i]);
}

void add_scenario_lines(const RunResult& result, ReportLines& out) {
    if (!result.scenario) return;
    const ScenarioFacts& scenario = *result.scenario;
    if (!scenario.description.empty()) out.add("Scenario", printable(scenario.description));
    if (scenario.expected.empty()) return;
    out.add("Expected", printable(scenario.expected));
    if (scenario.as_expected == true) out.add("", "as expected");
    for (const std::string& surprise : scenario.surprises) out.add("", "not as expected: " + surprise);
}

std::uint64_t omitted_rows(const RunResult& result) {
    std::uint64_t rows = 0;
    for (const MeterResult& meter : result.meters) rows += meter.rows_omitted;
    return rows;
}

std::string omitted_rows_text(std::uint64_t rows) {
    if (rows == 0) return "";
    return fmt::format("--csv has the first rows of each meter only: {} more left out", show_count(rows));
}

void add_options_lines(const RunResult& result, ReportLines& out) {
    if (result.streams.empty() || result.scenario) {  // groups of streams of a scenario may differ in the rest
        out.add("Read with", fmt::format("{}, {}", printable(result.io), path_text(result)));
        if (!result.streams.empty()) out.add("Played", "each group of streams as the scenario says");
    } else {
        out.add(only_records(result) ? "Written" : "Read with",
                fmt::format("{}, {}, {}", printable(result.io), path_text(result), io_text(result)));
        out.add("Played", player_text(result));
    }
    for (const std::string& notice : result.notices) out.add("Note", printable(notice));
    if (const std::uint64_t rows = omitted_rows(result); rows > 0) out.add("Note", omitted_rows_text(rows));
}

std::string mount_text(const MountFacts& mount) {
    return fmt::format("{} on {}, {} ({})", printable(mount.source), printable(mount.point),
                       printable(mount.type), printable(mount.options));
}

/// Computers that see file systems of several types are named, one of each.
void add_mounts(const RunResult& result, ReportLines& out) {
    if (judge::mounts_apart(result.seats).empty()) return out.add("Mounted", mount_text(*result.mount));
    std::set<std::string> types;
    for (const SeatResult& seat : result.seats) {
        if (!seat.mount || !types.insert(seat.mount->type).second) continue;
        out.add(types.size() == 1 ? "Mounted" : "",
                printable(judge::seat_name(seat)) + ": " + mount_text(*seat.mount));
    }
}

void add_storage_lines(const RunResult& result, ReportLines& out) {
    if (const auto& mount = result.mount) {
        add_mounts(result, out);
        if (!mount->protocol.empty()) out.add("", show_share(*mount));
        for (const std::string& hint : mount->hints) out.add("Hint", printable(hint));
    }
    for (const ServerResult& server : result.servers) {
        out.add(&server == result.servers.data() ? "Server" : "", server_text(server, several_seats(result)));
        out.add("", requests_text(server));
    }
    for (const LinkEvidence& link : result.links) {
        if (link.received_bytes * 10 < result.totals.bytes_read) continue;
        std::string text = fmt::format("{} received {}", printable(link.name), show_bytes(link.received_bytes));
        if (result.totals.bytes_written > 0 && link.sent_bytes > 0)
            text += fmt::format(" and sent {}", show_bytes(link.sent_bytes));
        if (link.bits_per_s) {
            text += fmt::format(", {:.0f} % of its {:.1f} Gb/s, {:.0f} % at most", link.busy_percent,
                                static_cast<double>(*link.bits_per_s) / 1e9, link.busy_percent_max);
        }
        out.add("Network", text);
    }
}

bool own_memory_is_known(const RunResult& result) {
    return result.client.page_cache_bytes || result.totals.bytes_read == 0;
}

void add_cache_lines(const RunResult& result, ReportLines& out) {
    if (result.model) {
        const bool filled_by_passes = !result.model->warm && result.media.server_cache_may_be_warm;
        out.add(
            "Cache",
            fmt::format("the model's caches were {} when play began{}", result.model->warm ? "warm" : "cold",
                        filled_by_passes ? "; clips played more than once came from them in part" : ""));
        return;
    }
    const std::string proof = result.counters ? result.counters->summary : "";
    const bool cold = result.counters && result.counters->reads == ColdReads::cold;
    if (!proof.empty()) out.add("Cache", printable(proof));
    if (cold) {
        // Media that are new, or were played before, have been read from the drives all the same.
    } else if (result.media.server_cache_may_be_warm) {
        out.add(proof.empty() ? "Cache" : "", "may have come from the server's cache" + warmth_text(result));
        const bool otherwise = result.media.shared || result.media.read_for_index;
        if (is_young(result.media) || result.media.looped || !otherwise)
            out.add("", "to measure its disks, play media that are older and longer than its memory");
    } else if (result.backend == "local" && proof.empty() && own_memory_is_known(result)) {
        out.add("Cache", "no sign of a warm cache in this run; reads before it are unknown");
    }
    const auto& local = result.client.page_cache_bytes;
    if (local && *local > 0) {
        const bool much = *local > result.totals.bytes_read / 20;
        out.add("", fmt::format("{} came from this computer's own page cache{}", show_bytes(*local),
                                much ? ": that is no measurement of the storage (--cold, --direct)" : ""));
    } else if (!own_memory_is_known(result)) {
        const bool headed = !proof.empty() || result.media.server_cache_may_be_warm;
        out.add(headed ? "" : "Cache", "how much came from this computer's own memory is not known");
    }
    for (std::size_t i = 0; i < result.media.notes.size(); ++i)
        out.add(i == 0 ? "Media" : "", printable(result.media.notes[i]));
    add_skipped(result.media.skipped, out);
}

void add_step_lines(const RunResult& result, ReportLines& out) {
    constexpr std::size_t kCountersShownMax = 20;
    if (result.before_step) {
        const BeforeStep& before = *result.before_step;
        out.add("Before", fmt::format("{}: exit code {} after {}", printable(before.command), before.exit_code,
                                      show_duration({before.duration_ns})));
    }
    if (!result.counters) return;
    const std::vector<CounterChange>& all = result.counters->values;
    out.add("Counters", printable(result.counters->command));
    for (std::size_t i = 0; i < std::min(all.size(), kCountersShownMax); ++i)
        out.add("", fmt::format("{} {}", printable(all[i].name), show_difference(all[i])));
    if (all.size() > kCountersShownMax)
        out.add("", fmt::format("and {} more (counters in --json)", all.size() - kCountersShownMax));
    out.add("", fmt::format("{} were read meanwhile", show_bytes(result.counters->bytes_read)));
}

void add_computer_lines(const RunResult& result, ReportLines& out) {
    const ClientEvidence& client = result.client;
    out.add("Computer",
            fmt::format("{}: {}, {}, {} of memory", printable(result.host.name), printable(result.host.os),
                        counted(result.host.cpus, "processor"), show_bytes(result.host.memory_bytes)));
    if (result.model) {
        out.add("", fmt::format("CPU {} for {} of play", show_duration({client.cpu_ns}),
                                show_duration({result.wall_ns})));
    } else {
        out.add("", fmt::format("CPU {:.0f} % in {}{}{}", client.cpu_percent,
                                counted(client.loops, "player thread"),
                                client.helpers_cpu_ns > 0 ? " and the SMB helper processes" : "",
                                client.realtime ? ", real-time scheduling" : ""));
        out.add("", lateness_text(client));
        out.add("Measured", "delivery to this computer; streamsim does not decode or show the frames");
    }
    add_repeat_line(result, out);
}

ReportLines setup_lines(const RunResult& result) {
    ReportLines lines;
    add_scenario_lines(result, lines);
    add_options_lines(result, lines);
    add_cache_lines(result, lines);
    add_computer_lines(result, lines);
    return lines;
}

}  // namespace streamsim::report
