#include "report/html/html_report.h"

#include <fmt/format.h>

#include "base/units.h"
#include "base/utf8.h"
#include "report/facts/headline.h"
#include "report/facts/prediction_facts.h"
#include "report/facts/run_lines.h"
#include "report/facts/selection.h"
#include "report/facts/show.h"
#include "report/html/html_charts.h"
#include "report/html/html_page.h"
#include "report/html/html_text.h"
#include "report/tables/load_tables.h"
#include "report/tables/run_tables.h"

namespace streamsim::report {
namespace {

using html::escaped;
using html::name;
using html::number;
using html::paragraph;
using html::section;
using html::table_html;

constexpr std::size_t kStreamsUpFrontMax = 24;  // more of them stand at the end of the page
constexpr std::size_t kEventRowsMax = 200;
constexpr std::size_t kPartRowsMax = 30;

const char* tone_class(Tone tone) {
    switch (tone) {
        case Tone::good: return "good";
        case Tone::doubtful: return "doubtful";
        case Tone::bad: return "bad";
    }
    return "";
}

/// The heading has the text of the verdict line.
std::string verdict_html(const RunResult& result) {
    const Headline head = headline(result);
    const std::size_t colon = head.rest.find(": ");
    std::string out = fmt::format(
        "<header class=\"verdict {}\">\n<p class=\"kind\">streamsim report</p>\n"
        "<h1><data class=\"word\" value=\"{}\" data-key=\"verdict.pass\">{}</data><span class=\"colon\">: "
        "</span><span "
        "class=\"sentence\">{}</span></h1>\n",
        tone_class(head.tone), result.verdict.pass, escaped(head.word + head.rest.substr(0, colon)),
        escaped(head.rest.substr(colon + 2)));
    if (result.model)
        out += paragraph("<strong>Modelled.</strong> This is no measurement: no storage was read.", "warning");
    if (!judges_storage(result)) {
        out += paragraph(
            fmt::format("<strong>{}.</strong> {}.", result.faults_injected ? "Faults injected" : "Null target",
                        escaped(disclaimer_text(result))),
            "warning");
    }
    // While it plays nothing is decided, and no cause is looked for.
    if (result.playing) return out + "</header>\n";
    out += paragraph(escaped(printable(result.verdict.reason)), "reason");
    if (result.prediction) {
        for (const std::string& text : prediction_sentences(*result.prediction))
            out += paragraph("Predicted: " + escaped(text));
    }
    html::Facts facts;
    facts.add("Limit", fmt::format("<data value=\"{0}\" data-key=\"verdict.limit\">{0}</data>",
                                   to_string(result.verdict.limit)));
    if (!result.verdict.detail.empty()) facts.add("Detail", escaped(result.verdict.detail));
    if (!result.verdict.next.empty()) facts.add("Next", escaped(result.verdict.next));
    ReportLines claims;
    add_claim_lines(result, claims);
    for (const ReportLine& line : claims) facts.add(escaped(line.heading), escaped(line.text));
    return out + facts.html() + "</header>\n";
}

std::string key_figure(const std::string& term, const std::string& figure, const std::string& note) {
    return fmt::format("<div><dt>{}</dt><dd class=\"figure\">{}</dd><dd>{}</dd></div>\n", term, figure, note);
}

std::string key_figures(const RunResult& result) {
    if (result.streams.empty()) return {};
    const FrameCounts& totals = result.totals;
    std::string out = "<dl class=\"figures\">\n";
    out += key_figure("Frames on time", number("totals.frames_on_time", totals.on_time),
                      "of " + number("totals.frames_scheduled", totals.scheduled));
    std::string not_counted;
    if (totals.startup_drops > 0)
        not_counted = fmt::format(" ({} in the first second, not counted)",
                                  number("totals.startup_drops", totals.startup_drops));
    out += key_figure(
        "Frames missed", show_count(missed(totals)),
        fmt::format("{} dropped{}, {} late, {} failed", number("totals.frames_dropped", totals.dropped),
                    not_counted, number("totals.frames_late", totals.late),
                    number("totals.frames_failed", totals.failed)));
    if (totals.stalls > 0) {
        out += key_figure("Stalls", number("totals.stalls", totals.stalls),
                          "in all " + html::duration("totals.stall_ns", totals.stall_ns));
    }
    if (result.margin_ns) {
        out += key_figure("Min margin", html::duration("totals.margin_ns.min", result.margin_ns->min),
                          "p1 " + html::duration("totals.margin_ns.p1", result.margin_ns->p1));
    }
    const bool required = !(result.required_bytes_per_s <= 0);
    const std::string until = until_last_frame(result);
    if (!only_records(result)) {
        out += key_figure(
            "Read", html::rate("totals.read_bytes_per_s", result.read_bytes_per_s),
            (until.empty() ? "" : until.substr(1) + ", ") +
                (required ? html::rate("totals.required_bytes_per_s", result.required_bytes_per_s) + " required"
                          : "nothing was required"));
    }
    if (records(result)) {
        out += key_figure("Recorded", html::bytes("totals.bytes_written", totals.bytes_written),
                          "in " + html::duration("totals.wall_ns", result.wall_ns) + until);
    }
    if (result.response_ns) {
        out += key_figure("p99 response", html::duration("totals.response_ns.p99", result.response_ns->p99),
                          "from the read-ahead window to completion");
    }
    return out + "</dl>\n";
}

void add_storage(const RunResult& result, html::Facts& facts) {
    facts.add(judges_storage(result) ? "Storage" : "Target",
              name(result.url) + ", backend " + escaped(result.backend));
    if (result.mount) {
        const MountFacts& mount = *result.mount;
        facts.add("Mount", name(mount.source) + " on " + name(mount.point) + ", type " + escaped(mount.type));
        facts.add("", "options: " + name(mount.options));
        if (!mount.protocol.empty()) facts.add("", name(show_share(mount)));
        for (const std::string& hint : mount.hints) facts.add("Hint", escaped(hint));
    } else if (!result.servers.empty()) {
        facts.add("Mount", "none: read from the server by streamsim itself");
    } else if (!result.model) {
        facts.add("Mount", "not recorded");
    }
    if (result.model) {
        const ModelFacts& model = *result.model;
        facts.add("Model", name(model.name) + ": " + name(model.title));
        facts.add("", fmt::format("seats on {} of {}, caches {} at the start; this is no measurement",
                                  model.nodes_with_seats, counted(model.nodes, "node"),
                                  model.warm ? "warm" : "cold"));
        for (const std::string& sentence : model.trust)
            facts.add(&sentence == model.trust.data() ? "Trust" : "", escaped(sentence));
        return;
    }
    if (result.links.empty()) facts.add("Network", "no link was recorded");
    for (const LinkEvidence& link : result.links) {
        const std::string speed =
            link.bits_per_s ? fmt::format(", {:g} Gbit/s", static_cast<double>(*link.bits_per_s) / 1e9)
                            : ", speed not known";
        facts.add(&link == result.links.data() ? "Network" : "", name(link.name) + speed);
    }
}

std::string about(const RunResult& result) {
    html::Facts facts;
    facts.add("Date", fmt::format("<time>{}</time>", escaped(result.started_at)));
    add_storage(result, facts);
    for (const ReportLine& line : setup_lines(result)) facts.add(escaped(line.heading), escaped(line.text));
    if (result.before_step)
        facts.add("Before play",
                  "<code>" + name(result.before_step->command) + "</code>, in " +
                      html::duration("before_step.duration_ns", result.before_step->duration_ns));
    facts.add("Command", "<code>" + name(html::show_command(result.command)) + "</code>");
    facts.add("streamsim", fmt::format("{} ({})", escaped(result.version), escaped(result.revision)));
    return section(
        "about", "Set-up",
        facts.html() + paragraph("A Linux client is no Windows SMB seat. The JSON document (--json) has every "
                                 "number of this page and more.",
                                 "note"));
}

std::string all_streams(const RunResult& result) {
    return table_html(streams_table(result, result.streams.size(), StreamOrder::as_numbered));
}

std::string streams(const RunResult& result) {
    std::string out = table_html(formats_table(result)) + table_html(seats_table(result));
    if (result.streams.size() <= kStreamsUpFrontMax) {
        out += all_streams(result);
    } else {
        out += paragraph(fmt::format("<a href=\"#all-streams\">All {} streams one by one</a> stand at the end.",
                                     show_count(result.streams.size())));
    }
    return section("streams", "Streams", out);
}

std::string throughput(const RunResult& result, html::Charts& charts) {
    const FrameCounts& totals = result.totals;
    return section(
        "throughput",
        records(result) ? "Read and record rate against what is required"
                        : "Read rate against what is required",
        html::throughput_figure(result, charts) +
            paragraph(fmt::format(
                "{} were read in {}{}, in {} over the clips.",
                html::bytes("totals.bytes_read", totals.bytes_read),
                html::duration("totals.wall_ns", result.wall_ns), until_last_frame(result),
                html::data("totals.passes", std::to_string(totals.passes),
                           show_count(totals.passes) + (totals.passes == 1 ? " pass" : " passes")))) +
            (records(result)
                 ? paragraph(html::bytes("totals.bytes_written", totals.bytes_written) + " were recorded.")
                 : ""));
}

std::string margins(const RunResult& result, html::Charts& charts) {
    std::string words = "No frame with a deadline was complete.";
    if (result.margin_ns) {
        const MarginSummary& margin = *result.margin_ns;
        const auto field = [](const char* key, std::int64_t ns) {
            return html::duration(fmt::format("totals.margin_ns.{}", key), ns);
        };
        words = fmt::format("min {}, p0.1 {}, p1 {}, p10 {}, median {}, max {}.", field("min", margin.min),
                            field("p0_1", margin.p0_1), field("p1", margin.p1), field("p10", margin.p10),
                            field("p50", margin.p50), field("max", margin.max));
    }
    return section("margin", "Margin: how long before its deadline a frame was complete",
                   paragraph(words) + html::margin_figures(result, charts) +
                       html::margin_distribution_figure(result, charts));
}

std::string latencies(const RunResult& result, html::Charts& charts) {
    const std::string table = table_html(latency_table(result));
    return section(
        "latency", "Latency",
        table.empty() ? paragraph("No frame was complete.") : table + html::latency_figures(result, charts));
}

/// Whether the same frames are missed on each pass: then the media are the cause.
std::string repetition(const PlaceTest& test) {
    const auto counts = [&test] {
        return fmt::format("{} of {} missed frames were missed on every pass",
                           number("places.every_pass", test.every_pass), number("places.places", test.places));
    };
    switch (test.answer) {
        case PlaceTest::Answer::nothing_missed: return "Repetition on each pass: not recorded.";
        case PlaceTest::Answer::one_pass:
            return "<strong>Repetition: unknown.</strong> No missed frame was due twice. Play the clips more "
                   "than "
                   "once to tell the media from the storage.";
        case PlaceTest::Answer::everywhere:
            return "<strong>Repetition: unknown.</strong> So many frames were missed that the same ones on "
                   "each "
                   "pass prove nothing about the media.";
        case PlaceTest::Answer::same_place:
            return fmt::format(
                "<strong>The same frames on each pass:</strong> {}. This points to the media, or "
                "to the disk blocks that they are in.",
                counts());
        case PlaceTest::Answer::random:
            return fmt::format("<strong>Other frames on each pass:</strong> {}. This speaks against the media.",
                               counts());
    }
    return {};
}

std::string missed_frames(const RunResult& result) {
    const FrameCounts& totals = result.totals;
    if (missed_ever(totals) + totals.stalls == 0) return section("missed", "Frames missed", paragraph("None."));
    return section("missed", "Frames missed",
                   (judges_storage(result) ? paragraph(repetition(result.places)) : "") +
                       table_html(repetitions_table(result)) + table_html(events_table(result, kEventRowsMax)) +
                       paragraph("Single frames: --csv, or drops in --json.", "note"));
}

std::string percent(const std::optional<double>& value) {
    return value ? fmt::format("{:.1f} %", *value) : "not recorded";
}

std::string client_facts(const RunResult& result, html::Charts& charts) {
    const ClientEvidence& client = result.client;
    const SystemEvidence& system = result.system;
    html::Facts facts;
    facts.add("Timer lateness", show_lateness(client));
    facts.add("Scheduling stalls", client.loop_stalls == 0
                                       ? "none"
                                       : show_count(client.loop_stalls) + ", " +
                                             show_duration({client.loop_stalled_ns}) + " in all");
    facts.add("Run-queue wait",
              system.run_queue_wait_ns ? show_duration({*system.run_queue_wait_ns}) : "not recorded");
    facts.add("CPU", fmt::format("{:.0f} %", client.cpu_percent));
    facts.add("CPU of all processes", percent(system.cpu_busy_percent));
    facts.add("CPU stolen by a hypervisor", percent(system.stolen_percent));
    facts.add("CPU pressure", percent(system.cpu_pressure_percent));
    facts.add("I/O pressure", percent(system.io_pressure_percent));
    facts.add("Memory pressure", percent(system.memory_pressure_percent));
    std::string cached = "not known";
    if (client.page_cache_bytes) {
        cached = show_bytes(*client.page_cache_bytes);
        if (result.totals.bytes_read > 0)
            cached += fmt::format(", {:.1f} % of what was read",
                                  100.0 * static_cast<double>(*client.page_cache_bytes) /
                                      static_cast<double>(result.totals.bytes_read));
    }
    facts.add("Read from this computer's cache", cached);
    return "<h3>This computer</h3>\n" + facts.html() + html::computer_figures(result, charts);
}

std::string evidence(const RunResult& result, html::Charts& charts) {
    std::string out = table_html(causes_table(result));
    if (result.causes.empty() && !result.streams.empty()) {
        const bool none = missed_ever(result.totals) + result.totals.stalls == 0;
        out = paragraph(none ? "No frame was missed." : "Causes: not recorded.");
    }
    out += table_html(counters_table(result));
    if (!result.model)
        out += client_facts(result, charts) + table_html(servers_table(result)) +
               table_html(links_table(result)) + table_html(probes_table(result));
    out += table_html(parts_table(result, kPartRowsMax)) + html::parts_figure(result, charts);
    return section("evidence", "Cause and evidence", out);
}

/// The table of seats, which the section of streams has where there are some.
std::string seats(const RunResult& result) {
    const std::string table = table_html(seats_table(result));
    return table.empty() ? "" : section("seats", "Seats", table);
}

std::string meters(const RunResult& result) {
    if (result.meters.empty()) return {};
    return section("meters", "Meters", table_html(meters_table(result)) + table_html(alone_table(result)));
}

std::string figures_at_the_end(const RunResult& result) {
    std::string out;
    if (result.streams.size() > kStreamsUpFrontMax)
        out += section("all-streams", "All streams", all_streams(result));
    const std::string tables = table_html(time_table(result)) + table_html(margins_table(result));
    if (!tables.empty()) out += section("numbers", "The charts in numbers", tables);
    return out;
}

}  // namespace

html::Page html_report_page(const RunResult& result) {
    html::Charts charts;
    html::begin_time_charts(result, charts);
    const bool has_streams = !result.streams.empty();
    const bool has_events = missed_ever(result.totals) + result.totals.stalls > 0;
    html::Page page;
    page.title = verdict_line(result);
    page.main = html::project_html(result.project) + verdict_html(result) + key_figures(result);
    if (has_events) page.main += missed_frames(result);
    page.main += about(result);
    if (has_streams) {
        page.main += streams(result) + throughput(result, charts) + margins(result, charts) +
                     section("time-lines", "Each stream over time", html::stream_strips(result));
    } else {
        page.main += seats(result);
    }
    page.main += meters(result);
    if (has_streams && !has_events) page.main += missed_frames(result);
    if (has_streams) page.main += latencies(result, charts);
    page.main += evidence(result, charts) + figures_at_the_end(result);
    page.data = charts.data();
    return page;
}

std::string html_report(const RunResult& result) {
    return html::document(html_report_page(result));
}

}  // namespace streamsim::report
