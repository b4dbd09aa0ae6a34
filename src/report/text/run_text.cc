#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "base/utf8.h"
#include "report/facts/headline.h"
#include "report/facts/run_lines.h"
#include "report/facts/selection.h"
#include "report/facts/show.h"
#include "report/tables/load_tables.h"
#include "report/tables/run_tables.h"
#include "report/text/screen.h"
#include "report/text/text_report.h"

namespace streamsim::report {
namespace {

constexpr std::size_t kStreamRowsMax = 40;
constexpr std::size_t kShownEventsMax = 40;
constexpr std::size_t kShownPartsMax = 12;

constexpr std::size_t kScreenEventsMax = 3;
constexpr std::size_t kVerdictLinesMax = 4;
constexpr std::size_t kTableRowsMin = 3;

constexpr const char* kPlain = "\x1b[0m";

const char* colour_of(Tone tone) {
    switch (tone) {
        case Tone::good: return "\x1b[1;32m";
        case Tone::doubtful: return "\x1b[1;33m";
        case Tone::bad: return "\x1b[1;31m";
    }
    return kPlain;
}

std::string painted(const Headline& line, bool colour) {
    return colour ? colour_of(line.tone) + line.word + kPlain + line.rest : line.word + line.rest;
}

void append_lines(const ReportLines& lines, std::string& out) {
    for (const ReportLine& line : lines) out += with_heading(line) + "\n";
}

std::string full_report(const RunResult& result, bool colour) {
    std::string out = painted(headline(result), colour) + "\n";
    ReportLines lines;
    add_disclaimer_lines(result, lines);
    add_prediction_lines(result, lines);
    add_trust_lines(result, lines);
    add_cause_lines(result, lines);
    add_scenario_lines(result, lines);
    append_lines(lines, out);
    out += "\n";
    lines.clear();
    add_claim_lines(result, lines);
    add_frames_lines(result, lines);
    add_delivery_lines(result, lines);
    add_options_lines(result, lines);
    add_storage_lines(result, lines);
    add_cache_lines(result, lines);
    add_step_lines(result, lines);
    add_computer_lines(result, lines);
    append_lines(lines, out);
    for (const Table& table :
         {parts_table(result, kShownPartsMax), seats_table(result),
          streams_table(result, kStreamRowsMax, StreamOrder::as_numbered), meters_table(result),
          alone_table(result), events_table(result, kShownEventsMax)}) {
        if (!table.empty()) out += "\n" + table_text(table);
    }
    return out + "\n" + painted(closing_line(result), colour) + "\n";
}

/// The warnings beside the cause: caches, media that were not played, notices, hints.
ReportLines warnings(const RunResult& result) {
    ReportLines out;
    const auto& local = result.client.page_cache_bytes;
    const bool proof = result.counters && !result.counters->summary.empty();
    const bool doubtful_cache = proof || result.media.server_cache_may_be_warm ||
                                (local && *local > result.totals.bytes_read / 20) ||
                                !own_memory_is_known(result) || !result.media.notes.empty();
    if (doubtful_cache || !result.media.skipped.empty() || (result.model && result.model->warm))
        add_cache_lines(result, out);
    for (const std::string& notice : result.notices) out.add("Note", printable(notice));
    if (const std::uint64_t rows = omitted_rows(result); rows > 0) out.add("Note", omitted_rows_text(rows));
    if (result.mount) {
        for (const std::string& hint : result.mount->hints) out.add("Hint", printable(hint));
    }
    return out;
}

/// The key figures, the most telling first.
ReportLines figures(const RunResult& result) {
    ReportLines out;
    add_frames_lines(result, out);
    if (result.margin_ns) out.add("Margin", show_margin(*result.margin_ns));
    if (result.response_ns) out.add("Response", show_latency(*result.response_ns));
    std::string rate;
    if (!only_records(result) && !result.streams.empty())
        rate = fmt::format("read {}{}{}", show_rate(result.read_bytes_per_s), until_last_frame(result),
                           result.required_bytes_per_s > 0
                               ? fmt::format(", {} required", show_rate(result.required_bytes_per_s))
                               : "");
    if (result.totals.bytes_written > 0 && result.wall_ns > 0)
        rate += fmt::format("{}recorded {}", rate.empty() ? "" : ", ",
                            show_rate(static_cast<double>(result.totals.bytes_written) * 1e9 /
                                      static_cast<double>(result.wall_ns)));
    if (!rate.empty()) out.add("Throughput", rate);
    return out;
}

/// Streams, else meters. Reserves their lines before the key figures take theirs.
std::size_t table_lines_wanted(const RunResult& result) {
    const std::size_t rows = result.streams.empty() ? result.meters.size() : result.streams.size();
    return rows == 0 ? 0 : std::min(rows, kTableRowsMin) + 2;  // an empty line and the heading
}

void add_screen_table(const RunResult& result, TextScreen& screen) {
    if (result.streams.empty() && result.meters.empty()) return;
    screen.add_line("");
    if (result.streams.empty()) return screen.add_cut_table(meters_table(result), 0);
    const std::size_t meter_lines = result.meters.empty() ? 0 : result.meters.size() + 1;
    const bool both = meter_lines > 0 && screen.left() > meter_lines + kTableRowsMin + 1;
    screen.add_cut_table(streams_table(result, result.streams.size(), StreamOrder::worst_first),
                         both ? meter_lines : 0);
    if (both) screen.add_cut_table(meters_table(result), 0);
}

/// The first events, two lines each at most.
void add_event_lines(const RunResult& result, std::size_t reserved, TextScreen& screen) {
    const std::size_t shown = std::min(result.events.size(), kScreenEventsMax);
    for (std::size_t i = 0; i < shown; ++i) {
        screen.add({i == 0 ? counted(result.events.size(), "event") : "",
                    printable(show_event(result, result.events[i]))},
                   2, reserved);
    }
}

std::string screen_report(const RunResult& result, bool colour) {
    TextScreen screen(painted(closing_line(result), colour));
    const Headline head = headline(result);
    screen.add_text(head.word + head.rest, kVerdictLinesMax);
    if (colour) screen.paint(head.word.size(), colour_of(head.tone), kPlain);
    const std::size_t reserved = table_lines_wanted(result) + 1;

    ReportLines lines;
    add_disclaimer_lines(result, lines);
    if (result.model) lines.pop_back();  // on how many nodes
    for (const ReportLine& line : lines) screen.add(line, 2, reserved);
    if (!result.verdict.reason.empty())
        screen.add({result.verdict.pass ? "Reason" : "Cause", printable(result.verdict.reason)}, 3, reserved);
    if (!result.verdict.pass) screen.add({"Limit", to_string(result.verdict.limit)}, 1, reserved);
    if (!result.verdict.next.empty()) screen.add({"Next", printable(result.verdict.next)}, 3, reserved);
    add_event_lines(result, reserved, screen);
    lines.clear();
    add_claim_lines(result, lines);
    for (const ReportLine& line : lines) screen.add(line, 3, reserved);
    lines.clear();
    add_prediction_lines(result, lines);
    for (const ReportLine& line : lines) screen.add(line, 2, reserved);
    lines.clear();
    add_scenario_lines(result, lines);
    for (const ReportLine& line : lines) screen.add(line, 1, reserved);

    const ReportLines key_figures = figures(result);
    const std::size_t kept = reserved + key_figures.size();
    for (const ReportLine& line : warnings(result)) screen.add(line, 2, kept);
    for (const ReportLine& line : key_figures) screen.add(line, 1, reserved);
    if (result.model && !result.model->trust.empty())
        screen.add({"Trust", printable(result.model->trust.back())}, 2, reserved);
    add_screen_table(result, screen);
    return screen.text();
}

}  // namespace

std::string text_report(const RunResult& result, TextDetail detail, bool colour) {
    return detail == TextDetail::full ? full_report(result, colour) : screen_report(result, colour);
}

}  // namespace streamsim::report
