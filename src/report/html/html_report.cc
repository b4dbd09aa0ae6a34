#include "report/html/html_report.h"

#include <fmt/format.h>

#include "base/units.h"
#include "base/utf8.h"
#include "report/html/html_charts.h"
#include "report/html/html_page.h"
#include "report/html/html_tables.h"
#include "report/html/html_text.h"
#include "report/text/server_text.h"
#include "report/text/text_report.h"
#include "report/text/text_tables.h"

namespace streamsim::report {
namespace {

using html::escaped;
using html::name;
using html::number;
using html::paragraph;
using html::section;

constexpr std::size_t kStreamsUpFront = 24;  // more of them stand at the end of the page

const char* tone_class(Tone tone) {
    switch (tone) {
        case Tone::good: return "good";
        case Tone::doubtful: return "doubtful";
        case Tone::bad: return "bad";
    }
    return "";
}

/// The text is that of the verdict line, word for word.
std::string verdict(const RunResult& result) {
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
    out += paragraph(escaped(printable(result.verdict.reason)), "reason");
    html::Facts facts;
    facts.add("Limit", fmt::format("<data value=\"{0}\" data-key=\"verdict.limit\">{0}</data>",
                                   to_string(result.verdict.limit)));
    if (!result.verdict.detail.empty()) facts.add("For an engineer", escaped(result.verdict.detail));
    if (!result.verdict.next.empty()) facts.add("Measure next", escaped(result.verdict.next));
    return out + facts.html() + "</header>\n";
}

std::string key_figure(const std::string& term, const std::string& figure, const std::string& note) {
    return fmt::format("<div><dt>{}</dt><dd class=\"figure\">{}</dd><dd>{}</dd></div>\n", term, figure, note);
}

std::string key_figures(const RunResult& result) {
    const FrameCounts& totals = result.totals;
    const std::uint64_t missed = totals.dropped + totals.late + totals.failed;
    std::string out = "<dl class=\"figures\">\n";
    out += key_figure("Frames on time", number("totals.frames_on_time", totals.on_time),
                      "of " + number("totals.frames_scheduled", totals.scheduled));
    out += key_figure(
        "Not there in time", show_count(missed),
        fmt::format("{} dropped, {} late, {} failed", number("totals.frames_dropped", totals.dropped),
                    number("totals.frames_late", totals.late), number("totals.frames_failed", totals.failed)));
    if (totals.stalls > 0) {
        out += key_figure(
            "Stood still", number("totals.stalls", totals.stalls, fmt::format("{}&times;", totals.stalls)),
            "for " + number("totals.stall_ns", totals.stall_ns, show_duration({totals.stall_ns})));
    }
    if (result.margin_ns) {
        out += key_figure(
            "Tightest margin",
            number("totals.margin_ns.min", result.margin_ns->min, show_duration({result.margin_ns->min})),
            fmt::format("1 % under {}", number("totals.margin_ns.p1", result.margin_ns->p1,
                                               show_duration({result.margin_ns->p1}))));
    }
    const bool required = !(result.required_bytes_per_s <= 0);
    if (!only_records(result)) {
        out += key_figure(
            "Read", html::rate("totals.read_bytes_per_s", result.read_bytes_per_s),
            required ? html::rate("totals.required_bytes_per_s", result.required_bytes_per_s) + " required"
                     : "nothing was required");
    }
    if (records(result)) {
        out += key_figure(
            "Recorded", number("totals.bytes_written", totals.bytes_written, show_bytes(totals.bytes_written)),
            "in " + number("totals.wall_ns", result.wall_ns, show_duration({result.wall_ns})));
    }
    if (result.response_ns) {
        out += key_figure(
            "Response, 99 %",
            number("totals.response_ns.p99", result.response_ns->p99, show_duration({result.response_ns->p99})),
            "from wanted to there");
    }
    return out + "</dl>\n";
}

/// As typed, where a shell would take it so.
std::string show_command(const std::vector<std::string>& command) {
    std::string out;
    for (const std::string& word : command) {
        const bool plain = !word.empty() && word.find_first_not_of(
                                                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                "0123456789_-+=./:,%@") == std::string::npos;
        std::string quoted = "'";
        for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
        if (!out.empty()) out += ' ';
        out += plain ? word : quoted + "'";
    }
    return out;
}

void add_storage(const RunResult& result, html::Facts& facts) {
    facts.add(judges_storage(result) ? "Storage" : "Target",
              name(result.url) + ", backend " + escaped(result.backend));
    if (result.mount) {
        const MountFacts& mount = *result.mount;
        facts.add("Mount", name(mount.source) + " on " + name(mount.point) + ", type " + escaped(mount.type));
        facts.add("", "options: " + name(mount.options));
        if (!mount.protocol.empty()) facts.add("", name(share_text(mount)));
        for (const std::string& hint : mount.hints) facts.add("Hint", escaped(hint));
    } else if (!result.servers.empty()) {
        facts.add("Mount", "none: read from the server by streamsim itself");
    } else if (!result.model) {
        facts.add("Mount", "not recorded");
    }
    if (result.model) {
        const ModelFacts& model = *result.model;
        facts.add("Model", name(model.name) + ": " + name(model.title));
        facts.add("", fmt::format("seats on {} of {}, caches {} at the begin; this is no measurement",
                                  model.nodes_with_seats, counted(model.nodes, "node"),
                                  model.warm ? "warm" : "cold"));
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
    for (const ResultLine& line : setup_lines(result)) facts.add(escaped(line.heading), escaped(line.text));
    facts.add("Command", "<code>" + name(show_command(result.command)) + "</code>");
    facts.add("streamsim", fmt::format("{} ({})", escaped(result.version), escaped(result.revision)));
    return section(
        "about", "What was tested, on what",
        facts.html() + paragraph("A Linux client is no Windows SMB seat. The JSON document (--json) has every "
                                 "number of this page and more.",
                                 "note"));
}

std::string streams(const RunResult& result) {
    std::string out = html::formats_table(result) + html::seats_table(result);
    if (result.streams.size() <= kStreamsUpFront) {
        out += html::streams_table(result);
    } else {
        out += paragraph(fmt::format("<a href=\"#all-streams\">All {} streams one by one</a> stand at the end.",
                                     show_count(result.streams.size())));
    }
    return section("streams", "Streams", out);
}

std::string throughput(const RunResult& result) {
    const FrameCounts& totals = result.totals;
    return section("throughput", "Read rate against what is required",
                   html::throughput_figure(result) +
                       paragraph(fmt::format(
                           "{} were read in {}, in {} over the clips.",
                           number("totals.bytes_read", totals.bytes_read, show_bytes(totals.bytes_read)),
                           number("totals.wall_ns", result.wall_ns, show_duration({result.wall_ns})),
                           number("totals.passes", totals.passes,
                                  show_count(totals.passes) + (totals.passes == 1 ? " pass" : " passes")))) +
                       (records(result) ? paragraph(number("totals.bytes_written", totals.bytes_written,
                                                           show_bytes(totals.bytes_written)) +
                                                    " were recorded.")
                                        : ""));
}

std::string margins(const RunResult& result) {
    std::string words = "No frame with a deadline came.";
    if (result.margin_ns) {
        const MarginSummary& margin = *result.margin_ns;
        const auto field = [](const char* key, std::int64_t ns) {
            return number(fmt::format("totals.margin_ns.{}", key), ns, show_duration({ns}));
        };
        words = fmt::format("Least {}, 0.1 % under {}, 1 % under {}, 10 % under {}, half under {}, most {}.",
                            field("min", margin.min), field("p0_1", margin.p0_1), field("p1", margin.p1),
                            field("p10", margin.p10), field("p50", margin.p50), field("max", margin.max));
    }
    return section("margin", "Margin: how long before it was due a frame was there",
                   paragraph(words) + html::margin_figure(result) + html::distribution_figure(result));
}

std::string latencies(const RunResult& result) {
    const std::string table = html::latency_table(result);
    return section("latency", "Latency", table.empty() ? paragraph("No frame came.") : table);
}

std::string same_place_or_random(const PlaceTest& test) {
    switch (test.answer) {
        case PlaceTest::Answer::nothing_missed: return "Same place or random: not recorded.";
        case PlaceTest::Answer::one_pass:
            return "<strong>Same place or random: not known.</strong> No missed place was due twice. Let the "
                   "clips "
                   "play more than once to tell the material from the storage.";
        case PlaceTest::Answer::everywhere:
            return "<strong>Same place or random: not known.</strong> So much was missed that the same places "
                   "on each pass say nothing about the material.";
        case PlaceTest::Answer::same_place:
            return fmt::format(
                "<strong>The same places on each pass:</strong> {} of {} missed places were missed "
                "whenever they were due. That is the material, or where it lies.",
                number("places.every_pass", test.every_pass), number("places.places", test.places));
        case PlaceTest::Answer::random:
            return fmt::format(
                "<strong>Random places:</strong> {} of {} missed places were missed whenever they were "
                "due. So it is not the material.",
                number("places.every_pass", test.every_pass), number("places.places", test.places));
    }
    return {};
}

std::string missed_frames(const RunResult& result) {
    const FrameCounts& totals = result.totals;
    if (totals.dropped + totals.late + totals.failed == 0)
        return section("missed", "Frames missed", paragraph("None."));
    return section("missed", "Frames missed",
                   (judges_storage(result) ? paragraph(same_place_or_random(result.places)) : "") +
                       html::places_table(result) + html::drops_table(result));
}

std::string percent(const std::optional<double>& value) {
    return value ? fmt::format("{:.1f} %", *value) : "not recorded";
}

std::string client_facts(const RunResult& result) {
    const ClientEvidence& client = result.client;
    const SystemEvidence& system = result.system;
    html::Facts facts;
    facts.add("Woke up late by", fmt::format("half within {}, 99 % within {}, worst {}",
                                             show_duration({client.loop_lateness_p50_ns}),
                                             show_duration({client.loop_lateness_p99_ns}),
                                             show_duration({client.loop_lateness_max_ns})));
    facts.add("Held up", client.loop_stalls == 0 ? "never"
                                                 : counted(client.loop_stalls, "time") + ", " +
                                                       show_duration({client.loop_stalled_ns}) + " in all");
    facts.add("Waited for a processor",
              system.run_queue_wait_ns ? show_duration({*system.run_queue_wait_ns}) : "not recorded");
    facts.add("Processor time", fmt::format("{:.0f} % of one processor", client.cpu_percent));
    facts.add("All processors busy", percent(system.cpu_busy_percent));
    facts.add("Taken by a hypervisor", percent(system.stolen_percent));
    facts.add("Pressure: processor", percent(system.cpu_pressure_percent));
    facts.add("Pressure: I/O", percent(system.io_pressure_percent));
    facts.add("Pressure: memory", percent(system.memory_pressure_percent));
    std::string cached = "not known";
    if (client.page_cache_bytes) {
        cached = show_bytes(*client.page_cache_bytes);
        if (result.totals.bytes_read > 0)
            cached += fmt::format(", {:.1f} % of what was read",
                                  100.0 * static_cast<double>(*client.page_cache_bytes) /
                                      static_cast<double>(result.totals.bytes_read));
    }
    facts.add("From this computer's cache", cached);
    return "<h3>This computer</h3>\n" + facts.html();
}

std::string evidence(const RunResult& result) {
    std::string out = html::causes_table(result);
    if (result.causes.empty()) {
        const bool none =
            result.totals.dropped + result.totals.late + result.totals.failed + result.totals.stalls == 0;
        out = paragraph(none ? "Nothing was missed, so nothing is blamed." : "Causes: not recorded.");
    }
    if (!result.model)
        out += client_facts(result) + html::servers_table(result) + html::links_table(result) +
               html::probes_table(result);
    out += html::parts_table(result);
    return section("evidence", "Cause and evidence", out);
}

std::string figures_at_the_end(const RunResult& result) {
    std::string out;
    if (result.streams.size() > kStreamsUpFront)
        out += section("all-streams", "All streams", html::streams_table(result));
    const std::string tables = html::time_table(result) + html::margins_table(result);
    if (!tables.empty()) out += section("numbers", "The charts in numbers", tables);
    return out;
}

std::string head(const RunResult& result) {
    return fmt::format(
        "\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n"
        // Nothing is fetched, whatever a name in the data says.
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "script-src 'unsafe-inline'\">\n"
        "<title>{}</title>\n<style>\n{}</style>\n</head>\n",
        escaped(verdict_line(result)), html::page_style());
}

}  // namespace

std::string html_report(const RunResult& result) {
    std::string out(kHtmlReportBegins);
    out += head(result);
    out += "<body>\n<main>\n";
    out += verdict(result) + key_figures(result) + about(result) + streams(result) + throughput(result) +
           margins(result) + section("time-lines", "Each stream over time", html::stream_strips(result)) +
           missed_frames(result) + latencies(result) + evidence(result) + figures_at_the_end(result);
    out += "</main>\n";
    out += "<script type=\"application/json\" id=\"data\">" + html::chart_data(result) + "</script>\n";
    out += "<script>\n";
    out += html::chart_library();
    out += "</script>\n<script>\n";
    out += html::page_script();
    return out + "</script>\n</body>\n</html>\n";
}

}  // namespace streamsim::report
