// The stream-count sheet: how many streams of each format play, from one search or from several side by side.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "base/utf8.h"
#include "report/facts/headline.h"
#include "report/facts/max_facts.h"
#include "report/facts/show.h"
#include "report/html/charts.h"
#include "report/html/html_page.h"
#include "report/html/html_report.h"
#include "report/html/html_text.h"
#include "report/tables/table.h"

namespace streamsim::report {
namespace {

using html::escaped;
using html::paragraph;
using html::section;

/// A column of the sheet: a target, or one of several rates of it.
struct SheetColumn {
    const MaxResult* result = nullptr;
    FrameRate rate;
};

std::vector<SheetColumn> columns_of(const std::vector<MaxResult>& results) {
    std::vector<SheetColumn> out;
    for (const MaxResult& result : results) {
        for (const MaxFormat& format : result.formats) {
            const bool there = std::ranges::any_of(out, [&](const SheetColumn& column) {
                return column.result == &result && column.rate == format.rate;
            });
            if (!there) out.push_back({&result, format.rate});
        }
    }
    return out;
}

/// The formats of all results, each once, as they first appear.
std::vector<const MaxFormat*> rows_of(const std::vector<MaxResult>& results) {
    std::vector<const MaxFormat*> out;
    for (const MaxResult& result : results) {
        for (const MaxFormat& format : result.formats) {
            if (std::ranges::none_of(out, [&](const MaxFormat* each) { return each->format == format.format; }))
                out.push_back(&format);
        }
    }
    return out;
}

const MaxFormat* format_of(const SheetColumn& column, const std::string& name) {
    for (const MaxFormat& format : column.result->formats) {
        if (format.format == name && format.rate == column.rate) return &format;
    }
    return nullptr;
}

const char* unit_of(const MaxResult& result, std::uint64_t count) {
    switch (result.counts) {
        case MaxCounts::streams: return count == 1 ? "stream" : "streams";
        case MaxCounts::streams_per_seat: return count == 1 ? "stream a seat" : "streams a seat";
        case MaxCounts::seats: return count == 1 ? "seat" : "seats";
    }
    return "";
}

/// "prores-hd 3840x2160"
std::string format_text(const MaxFormat& format) {
    return format.width > 0 ? fmt::format("{} {}x{}", format.format, format.width, format.height)
                            : format.format;
}

std::string cell_html(const MaxResult& result, const MaxFormat& format) {
    const MaxRun* const failing = format.one_more();
    std::vector<std::string> lines;
    if (failing != nullptr) lines.push_back(fmt::format("limited by {}", to_string(failing->limit)));
    if (const std::string margin = max_margin_text(format); !margin.empty())
        lines.push_back("headroom: p1 margin " + margin);
    lines.push_back(max_claim_text(format));
    std::string out = fmt::format("<td class=\"count {}\"><strong>{}{}</strong> {}",
                                  format.streams > 0 ? "good" : "bad", format.at_least.empty() ? "" : "\u2265 ",
                                  show_count(format.streams), unit_of(result, format.streams));
    for (const std::string& line : lines) out += "<br><span class=\"soft\">" + escaped(line) + "</span>";
    return out + "</td>";
}

std::string column_text(const SheetColumn& column, bool with_target) {
    std::string out = show_fps(column.rate);
    if (column.result->seats > 1 && column.result->counts != MaxCounts::seats)
        out += fmt::format(", {} seats", column.result->seats);
    if (column.result->counts == MaxCounts::seats)
        out += fmt::format(", {} a seat", counted(column.result->streams_of_seat, "stream"));
    return with_target ? printable(column.result->common.url) + ", " + out : out;
}

/// Formats by rates and targets, to be read in ten seconds.
std::string sheet(const std::vector<MaxResult>& results) {
    const std::vector<SheetColumn> columns = columns_of(results);
    std::string head = "<th scope=\"col\">format</th>";
    for (const SheetColumn& column : columns)
        head += "<th scope=\"col\">" + html::name(column_text(column, results.size() > 1)) + "</th>";
    std::string body;
    for (const MaxFormat* row : rows_of(results)) {
        body += "<tr><th scope=\"row\">" + html::name(format_text(*row)) + "</th>";
        for (const SheetColumn& column : columns) {
            const MaxFormat* const format = format_of(column, row->format);
            body += format == nullptr ? "<td>\u2013</td>" : cell_html(*column.result, *format);
        }
        body += "</tr>\n";
    }
    return "<div class=\"scroll short\" role=\"region\" tabindex=\"0\" aria-label=\"Streams that play\">\n"
           "<table class=\"sheet\">\n<caption><span>How many play without a dropped frame</span></caption>\n"
           "<thead><tr>" +
           head + "</tr></thead>\n<tbody>\n" + body + "</tbody>\n</table>\n</div>\n";
}

/// The numbers behind the sheet, a row for each search.
std::string details(const MaxResult& result) {
    Table table{.title = "Each search", .css_class = "named"};
    table.left({"format"});
    table.right({"rate", "plays", "one more fails at", "required", "p1 margin", "min margin"});
    table.left({"limit", "claim"});
    for (std::size_t i = 0; i < result.formats.size(); ++i) {
        const MaxFormat& format = result.formats[i];
        const std::string prefix = fmt::format("formats.{}.", i);
        const MaxRun* const plays = format.decided(format.streams);
        const std::uint64_t one = result.streams_of_one();
        const MaxRun* const failing = format.one_more();
        const auto time = [&](const char* key, std::optional<std::int64_t> MaxRun::*member) {
            return time_cell(prefix + key, plays != nullptr ? plays->*member : std::nullopt);
        };
        table.row({name_cell(format.format), show_fps(format.rate),
                   count_cell(prefix + "streams", format.streams * one),
                   format.fails_at ? count_cell(prefix + "fails_at", *format.fails_at * one) : Cell(kNoValue),
                   plays != nullptr ? rate_cell(prefix + "required_bytes_per_s", plays->required_bytes_per_s)
                                    : Cell(kNoValue),
                   time("margin_p1_ns", &MaxRun::margin_p1_ns), time("margin_min_ns", &MaxRun::margin_min_ns),
                   failing != nullptr ? to_string(failing->limit) : kNoValue, max_claim_text(format)});
    }
    return html::table_html(table);
}

/// The p1 margin of each number of streams that was tried, the last run of each.
std::string curve(const MaxResult& result,
                  const MaxFormat& format,
                  const std::string& id,
                  html::Charts& charts) {
    std::map<std::uint64_t, const MaxStep*> tried;
    for (const MaxStep& step : format.steps) tried[step.streams * result.streams_of_one()] = &step;
    OrderedJson line_x = OrderedJson::array(), line_y = OrderedJson::array();
    OrderedJson x[2] = {OrderedJson::array(), OrderedJson::array()};
    OrderedJson y[2] = {OrderedJson::array(), OrderedJson::array()};
    std::string words;
    for (const auto& [streams, step] : tried) {
        const MaxRun& run = step->runs.back();
        words += fmt::format("{}{} {}", words.empty() ? "" : ", ", show_count(streams),
                             step->pass ? "plays" : "fails");
        const double ms = run.margin_p1_ns ? html::to_ms(*run.margin_p1_ns) : 0;
        line_x.push_back(streams);
        line_y.push_back(ms);
        x[step->pass ? 1 : 0].push_back(streams);
        y[step->pass ? 1 : 0].push_back(ms);
    }
    if (tried.empty()) return {};
    OrderedJson series = OrderedJson::array();
    series.push_back({{"label", "p1 margin"}, {"role", "line"}, {"x", line_x}, {"y", line_y}});
    const char* const labels[] = {"fails", "plays"};
    const char* const roles[] = {"bad", "good"};
    const char* const marks[] = {"triangle", "circle"};
    for (const std::size_t i : {1u, 0u}) {
        if (x[i].empty()) continue;
        series.push_back({{"label", labels[i]},
                          {"role", roles[i]},
                          {"x", x[i]},
                          {"y", y[i]},
                          {"dots", true},
                          {"mark", marks[i]}});
    }
    const std::string title = fmt::format("{} at {}", format.format, show_fps(format.rate));
    return charts.add(id,
                      {{"kind", "xy"},
                       {"x", "streams"},
                       {"whole", true},
                       {"y", "p1 in ms"},
                       {"unit", "ms"},
                       {"series", series}},
                      fmt::format("{}: {}", title, words),
                      fmt::format("<strong>{}</strong>: {}", html::name(title), escaped(words)), true);
}

std::string remarks_html(const MaxResult& result) {
    std::string out = "<ul class=\"remarks\">\n";
    for (const std::string& remark : max_remarks(result)) out += "<li>" + escaped(remark) + "</li>\n";
    return out + "</ul>\n";
}

/// The command that was run before each step; empty: none was.
std::string before_each_step(const MaxResult& result) {
    for (const MaxFormat& format : result.formats) {
        for (const MaxStep& step : format.steps) {
            if (!step.runs.empty() && step.runs.front().before_step)
                return step.runs.front().before_step->command;
        }
    }
    return {};
}

std::string about(const MaxResult& result) {
    const RunResult& common = result.common;
    html::Facts facts;
    facts.add("Date", fmt::format("<time>{}</time>", escaped(common.started_at)));
    facts.add(judges_storage(common) ? "Storage" : "Target",
              html::name(common.url) + ", backend " + escaped(common.backend));
    const bool confirmed = result.confirm_ns > 0 && std::ranges::any_of(result.formats, &MaxFormat::confirmed);
    facts.add(
        "Each step",
        show_duration({result.step_ns}) +
            (confirmed ? "; the number found was played again for " + show_duration({result.confirm_ns}) : ""));
    facts.add("Played",
              fmt::format("read-ahead {}, {} in flight, {} order, on a miss: {}",
                          counted(common.readahead, "frame"), common.inflight, common.order, common.on_miss));
    if (const std::string command = before_each_step(result); !command.empty())
        facts.add("Before each step", "<code>" + html::name(command) + "</code>");
    facts.add("Computer", html::name(fmt::format("{}: {}, {}, {} of memory", common.host.name, common.host.os,
                                                 counted(common.host.cpus, "processor"),
                                                 show_bytes(common.host.memory_bytes))));
    facts.add("Command", "<code>" + html::name(html::show_command(common.command)) + "</code>");
    facts.add("streamsim", fmt::format("{} ({})", escaped(common.version), escaped(common.revision)));
    return facts.html();
}

std::string heading(const std::vector<MaxResult>& results) {
    const MaxResult& first = results.front();
    const std::string word =
        results.size() > 1 ? fmt::format("{} searches compared", results.size()) : max_closing(first);
    const bool plays = std::ranges::all_of(results, [](const MaxResult& result) {
        return std::ranges::all_of(result.formats, [](const MaxFormat& format) { return format.streams > 0; });
    });
    std::string out = fmt::format(
        "<header class=\"verdict {}\">\n<p class=\"kind\">streamsim stream-count sheet</p>\n<h1><span "
        "class=\"word counts\">{}</span></h1>\n",
        plays ? "good" : "bad", escaped(word));
    for (const MaxResult& result : results) {
        out += paragraph(escaped(max_title(result)) + ".", "reason");
        for (const std::string& text : max_disclaimers(result.common))
            out += paragraph(escaped(text), "warning");
    }
    return out + "</header>\n";
}

}  // namespace

std::string max_html_report(const std::vector<MaxResult>& results) {
    html::Charts charts;
    html::Page page;
    page.begins = kMaxHtmlBegins;
    page.title = "streamsim: " + max_closing(results.front());
    page.main = html::project_html(results.front().common.project) + heading(results) +
                section("sheet", "Streams that play", sheet(results));
    for (std::size_t i = 0; i < results.size(); ++i) {
        const MaxResult& result = results[i];
        const std::string of = results.size() > 1 ? ": " + html::name(result.common.url) : "";
        std::string curves;
        for (std::size_t k = 0; k < result.formats.size(); ++k)
            curves += curve(result, result.formats[k], fmt::format("search-{}-{}", i, k), charts);
        page.main +=
            section(fmt::format("search-{}", i), "How it was found" + of,
                    details(result) + remarks_html(result) + "<div class=\"few\">\n" + curves + "</div>\n");
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
        const std::string of = results.size() > 1 ? ": " + html::name(results[i].common.url) : "";
        page.main += section(fmt::format("about-{}", i), "Set-up" + of, about(results[i]));
    }
    page.data = charts.empty() ? "" : charts.data();
    return html::document(page);
}

}  // namespace streamsim::report
