// The tables of evidence: servers, links, re-reads, parts of a model, and what charts show.
#include <fmt/format.h>

#include <cmath>

#include "base/units.h"
#include "report/facts/selection.h"
#include "report/facts/show.h"
#include "report/tables/run_tables.h"

namespace streamsim::report {
namespace {

constexpr std::size_t kTimeRowsMax = 40;

Cell rtt_cell(std::int64_t ns) {
    return ns > 0 ? time_cell(ns) : Cell(kNoValue);
}

std::string show_counter(double value) {
    constexpr double kWholeMax = 9e15;  // a double counts so far
    const bool whole = value >= 0 && value <= kWholeMax && value == std::floor(value);
    return whole ? show_count(static_cast<std::uint64_t>(value)) : fmt::format("{:g}", value);
}

}  // namespace

Table servers_table(const RunResult& result) {
    Table table{.title = "File servers that streamsim spoke to itself", .css_class = "named"};
    table.left({"node", "protocol", "seats"});
    table.right({"connections", "largest read", "requests", "requests a frame", "received", "reconnects",
                 "segments sent again", "RTT"});
    for (std::size_t i = 0; i < result.servers.size(); ++i) {
        const ServerResult& server = result.servers[i];
        const std::string prefix = fmt::format("servers.{}.", i);
        table.row({name_cell(server.address), name_cell(server.protocol), show_seats(server.seats),
                   count_cell(prefix + "connections", server.connections), show_io_size(server.read_bytes),
                   count_cell(prefix + "requests", server.requests),
                   fmt::format("{:.1f}", server.requests_per_frame), show_bytes(server.received_bytes),
                   count_cell(prefix + "reconnects", server.reconnects),
                   count_cell(prefix + "retransmitted_segments", server.retransmitted_segments),
                   time_cell(server.rtt_ns)});
    }
    return table;
}

Table counters_table(const RunResult& result) {
    Table table{.title = "Counters of the server over play", .css_class = "named"};
    if (!result.counters) return table;
    table.left({"counter"});
    table.right({"before", "after", "difference"});
    for (const CounterChange& counter : result.counters->values) {
        table.row({name_cell(counter.name), show_counter(counter.before), show_counter(counter.after),
                   show_difference(counter)});
    }
    table.note = fmt::format("{} were read meanwhile", show_bytes(result.counters->bytes_read));
    return table;
}

Table links_table(const RunResult& result) {
    Table table{.title = "Network links of this computer during play"};
    table.left({"link"});
    table.right({"speed", "received", "sent", "busy, mean", "busy, max", "median RTT", "min RTT",
                 "segments sent again"});
    for (const LinkEvidence& link : result.links) {
        const auto busy = [&link](double percent) {
            return link.bits_per_s ? fmt::format("{:.0f} %", percent) : kNoValue;
        };
        table.row({name_cell(link.name),
                   link.bits_per_s ? fmt::format("{:g} Gbit/s", static_cast<double>(*link.bits_per_s) / 1e9)
                                   : "not known",
                   show_bytes(link.received_bytes),
                   link.sent_bytes > 0 ? show_bytes(link.sent_bytes) : kNoValue, busy(link.busy_percent),
                   busy(link.busy_percent_max), rtt_cell(link.rtt_ns), rtt_cell(link.rtt_min_ns),
                   count_cell(link.resent)});
    }
    return table;
}

Table probes_table(const RunResult& result) {
    Table table{.title = "The same clips, read in other ways after play", .css_class = "named"};
    table.left({"read"});
    table.right({"frames in flight", "size of a read", "reads in flight a frame", "throughput"});
    for (const ProbeResult& probe : result.probes) {
        table.row({probe.name, count_cell(probe.inflight),
                   probe.io_size_bytes == 0 ? "a frame" : show_io_size(probe.io_size_bytes),
                   count_cell(probe.io_depth), show_rate(probe.bytes_per_s)});
    }
    return table;
}

Table parts_table(const RunResult& result, std::size_t rows_max) {
    Table table{.title = "The busiest parts of the model", .css_class = "named"};
    table.left({"part"});
    table.right({"busy"});
    table.right({"when frames were missed"}, Keep::where_not_zero);
    table.right({"requests", "mean queue", "max queue"});
    table.right({"cache hits", "segments lost"}, Keep::where_not_zero);
    const std::vector<std::size_t> shown = fullest_parts(result, rows_max);
    for (const std::size_t index : shown) {
        const PartResult& part = result.parts[index];
        table.row({name_cell(part.stats.name), show_percent(part.utilisation),
                   show_percent(part.utilisation_missed), count_cell(part.stats.requests),
                   fmt::format("{:.1f}", part.queue_mean), count_cell(part.stats.longest_queue),
                   show_hits(part.stats), count_cell(part.stats.lost)});
    }
    if (const std::size_t more = result.parts.size() - shown.size(); more > 0)
        table.note =
            fmt::format("and {} more, none busier than these; over time: parts in --json", show_count(more));
    return table;
}

Table time_table(const RunResult& result) {
    const std::vector<TimelineEntry> entries = coarser(of_play(result.timeline), kTimeRowsMax);
    Table table;
    if (entries.empty()) return table;
    table.title = fmt::format("Over time, in steps of {}", show_duration({entries.front().interval_ns}));
    table.right({"from", moved_word(result), "on time", "dropped"});
    table.right({"late", "failed"}, Keep::where_not_zero);
    table.right({"min margin", "min buffered frames", "max service"});
    const bool short_steps = entries.front().interval_ns < 1'000'000'000;
    for (const TimelineEntry& entry : entries) {
        table.row({show_clock(entry.t_ns, short_steps), show_rate(bytes_per_s(entry)),
                   count_cell(entry.frames_on_time), count_cell(entry.frames_dropped),
                   count_cell(entry.frames_late), count_cell(entry.frames_failed),
                   time_cell(entry.margin_ns_min),
                   entry.buffer_frames_min ? count_cell(*entry.buffer_frames_min) : Cell(kNoValue),
                   entry.service_ns_max > 0 ? time_cell(entry.service_ns_max) : Cell(kNoValue)});
    }
    return table;
}

Table margins_table(const RunResult& result) {
    std::uint64_t all = 0;
    for (const MarginBin& bin : result.margin_bins) all += bin.frames;
    Table table{.title = "Frames by margin"};
    table.right({"margin from", "to below", "frames", "share"});
    for (std::size_t i = 0; i < result.margin_bins.size(); ++i) {
        const MarginBin& bin = result.margin_bins[i];
        const double share = all > 0 ? 100.0 * static_cast<double>(bin.frames) / static_cast<double>(all) : 0;
        table.row({time_cell(bin.from_ns), time_cell(bin.to_ns),
                   count_cell(fmt::format("margin_bins.{}.frames", i), bin.frames),
                   fmt::format("{:.2f} %", share)});
    }
    return table;
}

}  // namespace streamsim::report
