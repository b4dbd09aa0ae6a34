#include "report/csv/streams_csv.h"

#include <fmt/format.h>

#include <cmath>

#include "report/csv/csv_report.h"

namespace streamsim::report {
namespace {

/// A row grows field by field, its headings along with it.
class Row {
public:
    void text(std::string_view name, std::string_view value) {
        heading(name);
        append_csv_text(value, fields);
    }
    template <typename Integer>
    void number(std::string_view name, Integer value) {
        heading(name);
        fields += std::to_string(value);
    }
    void nothing(std::string_view name) { heading(name); }

    std::string headings, fields;

private:
    void heading(std::string_view name) {
        if (!headings.empty()) {
            headings += ',';
            fields += ',';
        }
        headings += name;
    }
};

/// The parts of a summary; all are empty where there is none.
template <typename Summary, typename Integer>
void summary(Row& row,
             const char* name,
             const std::optional<Summary>& value,
             std::initializer_list<std::pair<const char*, Integer Summary::*>> parts) {
    for (const auto& [part, member] : parts) {
        const std::string heading = fmt::format("{}_{}", name, part);
        if (value) {
            row.number(heading, (*value).*member);
        } else {
            row.nothing(heading);
        }
    }
}

void latency(Row& row, const char* name, const std::optional<LatencySummary>& value) {
    summary<LatencySummary, std::int64_t>(row, name, value,
                                          {{"p50", &LatencySummary::p50},
                                           {"p90", &LatencySummary::p90},
                                           {"p99", &LatencySummary::p99},
                                           {"p99_9", &LatencySummary::p99_9},
                                           {"max", &LatencySummary::max}});
}

Row row_of(const StreamResult& stream) {
    Row row;
    row.number("seat", stream.seat);
    row.number("stream", stream.stream);
    row.text("format", stream.format);
    row.text("clip", stream.clip);
    row.text("rate", stream.rate.to_string());
    row.text("paced", stream.paced ? "true" : "false");
    row.text("pattern", stream.pattern);
    const FrameCounts& counts = stream.counts;
    row.number("frames_scheduled", counts.scheduled);
    row.number("frames_on_time", counts.on_time);
    row.number("frames_late", counts.late);
    row.number("frames_dropped", counts.dropped);
    row.number("frames_failed", counts.failed);
    row.number("frames_cancelled", counts.cancelled);
    row.number("startup_drops", counts.startup_drops);
    row.number("stalls", counts.stalls);
    row.number("stall_ns", counts.stall_ns);
    row.number("bytes_read", counts.bytes_read);
    row.number("passes", counts.passes);
    row.number("longest_drop_run", stream.longest_drop_run);
    if (std::isfinite(stream.required_bytes_per_s)) {
        row.number("required_bytes_per_s", std::llround(stream.required_bytes_per_s));
    } else {
        row.nothing("required_bytes_per_s");
    }
    row.number("play_start_ns", stream.play_start_ns);
    row.number("start_delay_ns", stream.start_delay_ns);
    summary<MarginSummary, std::int64_t>(row, "margin_ns", stream.margin_ns,
                                         {{"min", &MarginSummary::min},
                                          {"p0_1", &MarginSummary::p0_1},
                                          {"p1", &MarginSummary::p1},
                                          {"p10", &MarginSummary::p10},
                                          {"p50", &MarginSummary::p50},
                                          {"max", &MarginSummary::max}});
    latency(row, "service_ns", stream.service_ns);
    latency(row, "response_ns", stream.response_ns);
    latency(row, "open_ns", stream.open_ns);
    summary<BufferSummary, std::uint64_t>(
        row, "buffer_frames", stream.buffer_frames,
        {{"min", &BufferSummary::min}, {"p1", &BufferSummary::p1}, {"p50", &BufferSummary::p50}});
    row.text("records", stream.records ? "true" : "false");
    row.text("durable", stream.durable ? "true" : "false");
    row.number("bytes_written", counts.bytes_written);
    latency(row, "sync_ns", stream.sync_ns);
    return row;
}

}  // namespace

std::string streams_csv(const RunResult& result) {
    std::string out = row_of(StreamResult{}).headings;
    out += kCsvLineEnd;
    for (const StreamResult& stream : result.streams) {
        out += row_of(stream).fields;
        out += kCsvLineEnd;
    }
    return out;
}

}  // namespace streamsim::report
