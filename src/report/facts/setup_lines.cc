#include "report/facts/setup_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "base/utf8.h"
#include "report/facts/headline.h"
#include "report/facts/selection.h"
#include "report/facts/servers.h"
#include "report/facts/show.h"

namespace streamsim::report {
namespace {

constexpr std::int64_t kAgeShownSecondsMax = 86'400;  // the age of older media explains no warm cache
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
                                  counted(result.readahead, "frame"), result.inflight, result.order,
                                  result.pattern, result.on_miss);
    if (result.layers > 1) out += fmt::format(", {} layers", result.layers);
    if (result.sync) out += ", the streams of a seat on one clock";
    if (result.multicam == "active") out += ", only the angle that is shown";
    if (result.audio) out += ", with audio";
    return out;
}

/// Why a server's cache may have held the media: it keeps what was written or read shortly before.
std::string warmth_text(const MediaFacts& media) {
    std::vector<std::string> reasons;
    if (media.age_s && *media.age_s < kAgeShownSecondsMax)
        reasons.push_back("written " + show_duration(seconds(*media.age_s)) + " ago");
    if (media.looped) reasons.emplace_back("played more than once");
    if (reasons.empty()) return {};
    return ": the media were " + reasons[0] + (reasons.size() > 1 ? " and " + reasons[1] : "");
}

void add_skipped(const std::vector<std::string>& skipped, ReportLines& out) {
    for (std::size_t i = 0; i < std::min(skipped.size(), kSkippedShownMax); ++i)
        out.add(i == 0 ? "Not played" : "", printable(skipped[i]));
    if (skipped.size() > kSkippedShownMax)
        out.add("", fmt::format("and {} more (media.skipped in --json)", skipped.size() - kSkippedShownMax));
}

void add_repeat_line(const RunResult& result, ReportLines& out) {
    out.add("Repeat", fmt::format("seed {}, digest {}{}", result.seed, result.digest,
                                  result.timing_digest ? ", timing " + *result.timing_digest : ""));
}

std::string lateness_text(const ClientEvidence& client) {
    std::string out =
        fmt::format("timer lateness: median {}, p99 {}, max {}", show_duration({client.loop_lateness_p50_ns}),
                    show_duration({client.loop_lateness_p99_ns}), show_duration({client.loop_lateness_max_ns}));
    if (client.loop_stalls > 0)
        out += fmt::format("; scheduling stalls: {}, {} in all", show_count(client.loop_stalls),
                           show_duration({client.loop_stalled_ns}));
    return out;
}

}  // namespace

void add_disclaimer_lines(const RunResult& result, ReportLines& out) {
    if (!judges_storage(result)) out.add(result.faults_injected ? "Faults" : "Null", disclaimer_text(result));
    if (!result.model) return;
    const ModelFacts& model = *result.model;
    out.add("Modelled", fmt::format("this is no measurement; model {} ({})", printable(model.name),
                                    printable(model.title)));
    out.add("", fmt::format("seats on {} of {}", model.nodes_with_seats, counted(model.nodes, "node")));
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

void add_options_lines(const RunResult& result, ReportLines& out) {
    if (result.scenario) {  // its groups of streams may differ in all of this
        out.add("Read with", fmt::format("{}, {}", printable(result.io), path_text(result)));
        out.add("Played", "each group of streams as the scenario says");
    } else {
        out.add(only_records(result) ? "Written" : "Read with",
                fmt::format("{}, {}, {}", printable(result.io), path_text(result), io_text(result)));
        out.add("Played", player_text(result));
    }
    for (const std::string& notice : result.notices) out.add("Note", printable(notice));
}

void add_storage_lines(const RunResult& result, ReportLines& out) {
    if (const auto& mount = result.mount) {
        out.add("Mounted", fmt::format("{} on {}, {} ({})", printable(mount->source), printable(mount->point),
                                       printable(mount->type), printable(mount->options)));
        if (!mount->protocol.empty()) out.add("", share_text(*mount));
        for (const std::string& hint : mount->hints) out.add("Hint", printable(hint));
    }
    for (const ServerResult& server : result.servers) {
        out.add(&server == result.servers.data() ? "Server" : "", server_text(server, several_seats(result)));
        out.add("", requests_text(server));
    }
    for (const LinkEvidence& link : result.links) {
        if (link.received_bytes * 10 < result.totals.bytes_read) continue;
        std::string text = fmt::format("{} received {}", printable(link.name), show_bytes(link.received_bytes));
        if (link.bits_per_s) {
            text += fmt::format(", {:.0f} % of its {:.1f} Gb/s, {:.0f} % at most", link.busy_percent,
                                static_cast<double>(*link.bits_per_s) / 1e9, link.busy_percent_max);
        }
        out.add("Network", text);
    }
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
    if (result.media.server_cache_may_be_warm) {
        out.add("Cache", "may have come from the server's cache" + warmth_text(result.media));
        out.add("", "to measure its disks, play media that are older and longer than its memory");
    } else if (result.backend == "local") {
        out.add("Cache", "no sign of a warm cache in this run; reads before it are unknown");
    }
    const auto& local = result.client.page_cache_bytes;
    if (local && *local > 0) {
        const bool much = *local > result.totals.bytes_read / 20;
        out.add("", fmt::format("{} came from this computer's own page cache{}", show_bytes(*local),
                                much ? ": that is no measurement of the storage (--cold, --direct)" : ""));
    }
    for (const std::string& note : result.media.notes) out.add("", printable(note));
    add_skipped(result.media.skipped, out);
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
