// The tables of streams, formats and seats.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/facts/selection.h"
#include "report/facts/show.h"
#include "report/tables/run_tables.h"

namespace streamsim::report {
namespace {

/// A count of frames: its column, and its key in the document.
struct CountColumn {
    const char* heading;
    const char* key;
    std::uint64_t FrameCounts::*count;
    Keep keep;
    Form form;
};

constexpr CountColumn kCounts[] = {
    {"scheduled", "frames_scheduled", &FrameCounts::scheduled, Keep::always, Form::page},
    {"on time", "frames_on_time", &FrameCounts::on_time, Keep::always, Form::screen},
    {"dropped", "frames_dropped", &FrameCounts::dropped, Keep::always, Form::screen},
    {"in 1st second", "startup_drops", &FrameCounts::startup_drops, Keep::where_not_zero, Form::full},
    {"late", "frames_late", &FrameCounts::late, Keep::on_page, Form::screen},
    {"failed", "frames_failed", &FrameCounts::failed, Keep::on_page, Form::screen},
    {"stalls", "stalls", &FrameCounts::stalls, Keep::where_not_zero, Form::screen},
    {"cancelled", "frames_cancelled", &FrameCounts::cancelled, Keep::where_not_zero, Form::full},
};

/// `all_kept`: also the counts that are seldom above 0.
void add_count_columns(Table& table, bool all_kept) {
    for (const CountColumn& column : kCounts)
        table.right({column.heading}, all_kept ? Keep::always : column.keep, column.form);
}

/// An empty `prefix`: sums that the document does not have.
void add_counts(const FrameCounts& counts, const std::string& prefix, std::vector<Cell>& row) {
    for (const CountColumn& column : kCounts)
        row.push_back(prefix.empty() ? count_cell(counts.*column.count)
                                     : count_cell(prefix + column.key, counts.*column.count));
}

/// "plays" or "fails"; "unknown" for a seat that missed nothing and vanished before its end.
const char* verdict_text(const SeatResult& seat) {
    using State = SeatResult::State;
    if (!seat.verdict.pass) return "fails";
    return seat.state == State::partial || seat.state == State::missing ? "unknown" : "plays";
}

/// A field of an optional summary: "streams.3.margin_ns.p1".
template <typename Summary>
Cell summary_time(const std::string& key,
                  const std::optional<Summary>& summary,
                  std::int64_t Summary::*member) {
    return time_cell(key, summary ? std::optional((*summary).*member) : std::nullopt);
}

void add_latency(Table& table,
                 const char* heading,
                 const std::string& key,
                 const std::optional<LatencySummary>& latency) {
    if (!latency) return;
    std::vector<Cell> row{heading};
    for (const auto& [part, member] : {std::pair{"p50", &LatencySummary::p50},
                                       {"p90", &LatencySummary::p90},
                                       {"p99", &LatencySummary::p99},
                                       {"p99_9", &LatencySummary::p99_9},
                                       {"max", &LatencySummary::max}})
        row.push_back(summary_time(fmt::format("totals.{}.{}", key, part), latency, member));
    table.row(std::move(row));
}

}  // namespace

Table formats_table(const RunResult& result) {
    Table table{.title = "Streams by format", .css_class = "counts"};
    if (result.streams.empty()) return table;
    table.left({"format"});
    table.right({"rate", "streams", "required"});
    add_count_columns(table, true);
    table.right({"min margin"});
    double required = 0;
    for (const StreamGroup& group : stream_groups(result)) {
        FrameCounts counts;
        double group_required = 0;
        std::optional<std::int64_t> margin_ns_min;
        for (const StreamResult* stream : group.streams) {
            counts += stream->counts;
            group_required += stream->required_bytes_per_s;
            if (stream->margin_ns)
                margin_ns_min = std::min(margin_ns_min.value_or(INT64_MAX), stream->margin_ns->min);
        }
        required += group_required;
        std::vector<Cell> row{name_cell(group.kind),
                              group.streams.front()->paced ? show_fps(group.rate) : "as fast as it goes",
                              count_cell(group.streams.size()), rate_cell(group_required)};
        add_counts(counts, "", row);
        row.push_back(time_cell(margin_ns_min));
        table.row(std::move(row));
    }
    // The document's required rate is that of the streams that read.
    table.sum = {"all", "", count_cell(result.streams.size()),
                 records(result) ? rate_cell(required)
                                 : rate_cell("totals.required_bytes_per_s", result.required_bytes_per_s)};
    add_counts(result.totals, "totals.", table.sum);
    table.sum.push_back(summary_time("totals.margin_ns.min", result.margin_ns, &MarginSummary::min));
    return table;
}

Table seats_table(const RunResult& result) {
    Table table{.title = "Seats", .css_class = "counts"};
    if (result.seats.size() < 2) return table;
    table.left({"seats", "host"});
    table.left({"node"}, Keep::where_not_zero);
    table.right({"streams"});
    add_count_columns(table, false);
    table.right({"p1 margin", "start", "clock error"});
    table.left({"state", "verdict"});
    for (std::size_t i = 0; i < result.seats.size(); ++i) {
        const SeatResult& seat = result.seats[i];
        const std::string prefix = fmt::format("seats.{}.", i);
        std::vector<Cell> row{seat.seats.empty() ? fmt::format("rank {}", seat.rank) : show_seats(seat.seats),
                              name_cell(seat.host.name.empty() ? "?" : seat.host.name), name_cell(seat.node),
                              count_cell(streams_of(seat, result))};
        add_counts(seat.totals, prefix + "totals.", row);
        row.push_back(summary_time(prefix + "margin_ns.p1", seat.margin_ns, &MarginSummary::p1));
        row.push_back(time_cell(prefix + "start_ns", seat.start_ns));
        row.push_back(seat.clock_bound_ns > 0 ? time_cell(prefix + "clock_bound_ns", seat.clock_bound_ns)
                                              : Cell(kNoValue));
        row.emplace_back(to_string(seat.state));
        row.emplace_back(verdict_text(seat));
        table.row(std::move(row));
    }
    return table;
}

Table streams_table(const RunResult& result, std::size_t rows_max, StreamOrder order) {
    Table table{.title = "Streams", .css_class = "counts streams"};
    if (result.streams.empty()) return table;
    const bool seats = several_seats(result);
    table.left({seats ? "seat.stream" : "stream", "format"});
    table.right({"rate"}, Keep::always, Form::page);
    add_count_columns(table, false);
    table.right({"longest run"}, Keep::where_not_zero, Form::full);
    table.right({"min margin"}, Keep::on_page);
    table.right({"p1 margin", "median margin", "min buffer", "median buffer"}, Keep::always, Form::page);
    table.right({"p99 response"}, Keep::always, Form::full);
    table.left({"clip"});
    const auto shown =
        order == StreamOrder::worst_first ? worst_streams(result, rows_max) : shown_streams(result, rows_max);
    for (const std::size_t index : shown) {
        const StreamResult& stream = result.streams[index];
        const std::string prefix = fmt::format("streams.{}.", index);
        const auto margin = [&](const char* part, std::int64_t MarginSummary::*member) {
            return summary_time(prefix + "margin_ns." + part, stream.margin_ns, member);
        };
        const auto buffer = [&](const char* part, std::uint64_t BufferSummary::*member) {
            if (!stream.buffer_frames) return Cell(kNoValue);
            return count_cell(prefix + "buffer_frames." + part, (*stream.buffer_frames).*member);
        };
        std::vector<Cell> row{stream_name(stream.seat, stream.stream, seats), name_cell(kind_of(stream)),
                              stream.paced ? show_fps(stream.rate) : kNoValue};
        add_counts(stream.counts, prefix, row);
        row.push_back(count_cell(prefix + "longest_drop_run", stream.longest_drop_run));
        row.push_back(margin("min", &MarginSummary::min));
        row.push_back(margin("p1", &MarginSummary::p1));
        row.push_back(margin("p50", &MarginSummary::p50));
        row.push_back(buffer("min", &BufferSummary::min));
        row.push_back(buffer("p50", &BufferSummary::p50));
        row.push_back(summary_time(prefix + "response_ns.p99", stream.response_ns, &LatencySummary::p99));
        row.push_back(name_cell(stream.clip));
        table.row(std::move(row));
    }
    if (const std::size_t more = result.streams.size() - shown.size(); more > 0)
        table.note = fmt::format("and {} more, none worse than these", count_cell(more).text);
    return table;
}

Table latency_table(const RunResult& result) {
    Table table{.title = "How long frames took, all streams", .css_class = "named"};
    table.left({""});
    table.right({"median", "p90", "p99", "p99.9", "max"});
    add_latency(table, "service: from submission to completion", "service_ns", result.service_ns);
    add_latency(table, "response: from the read-ahead window to completion", "response_ns", result.response_ns);
    add_latency(table, "open: the part of it that opened the file", "open_ns", result.open_ns);
    add_latency(table, "seek: from a jump to its first frame", "seek_ns", result.seek_ns);
    return table;
}

}  // namespace streamsim::report
