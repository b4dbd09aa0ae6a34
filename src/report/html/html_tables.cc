#include "report/html/html_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "base/units.h"
#include "report/html/html_text.h"
#include "report/html/html_time.h"
#include "report/text/server_text.h"
#include "report/text/text_tables.h"

namespace streamsim::report::html {
namespace {

using Align = Table::Align;
using Keep = Table::Keep;

constexpr std::size_t kDropRows = 200;
constexpr std::size_t kPlaceRows = 20;
constexpr std::size_t kPartRows = 30;
constexpr std::size_t kTimeRows = 40;
constexpr const char* kNothing = "\u2013";

std::string show(std::int64_t ns) {
    return show_duration({ns});
}

std::string show_or_nothing(const std::optional<std::int64_t>& ns) {
    return ns ? show(*ns) : kNothing;
}

constexpr const char* kCountHeadings[] = {"scheduled", "on time", "dropped", "of them in 1st second",
                                          "late",      "failed",  "stalls",  "cancelled"};

void count_columns(Table& table, Keep rare) {
    for (const char* heading : kCountHeadings) {
        const std::string_view view = heading;
        const bool is_rare = view == "of them in 1st second" || view == "stalls" || view == "cancelled";
        table.column(heading, Align::right, is_rare ? rare : Keep::always);
    }
}

/// In the order of kCountHeadings. An empty `place`: sums that the document does not have.
std::vector<std::string> count_fields(const FrameCounts& counts, const std::string& place) {
    const std::pair<const char*, std::uint64_t> all[] = {{"frames_scheduled", counts.scheduled},
                                                         {"frames_on_time", counts.on_time},
                                                         {"frames_dropped", counts.dropped},
                                                         {"startup_drops", counts.startup_drops},
                                                         {"frames_late", counts.late},
                                                         {"frames_failed", counts.failed},
                                                         {"stalls", counts.stalls},
                                                         {"frames_cancelled", counts.cancelled}};
    std::vector<std::string> out;
    for (const auto& [key, count] : all)
        out.push_back(place.empty() ? show_count(count) : number(place + key, count));
    return out;
}

void append(std::vector<std::string>& to, std::vector<std::string> fields) {
    for (std::string& field : fields) to.push_back(std::move(field));
}

void add(const FrameCounts& counts, FrameCounts& to) {
    to.scheduled += counts.scheduled;
    to.on_time += counts.on_time;
    to.dropped += counts.dropped;
    to.startup_drops += counts.startup_drops;
    to.late += counts.late;
    to.failed += counts.failed;
    to.stalls += counts.stalls;
    to.cancelled += counts.cancelled;
}

/// The streams that are alike.
struct FormatSum {
    const StreamResult* first = nullptr;
    std::uint64_t streams = 0;
    FrameCounts counts;
    double required_bytes_per_s = 0;
    std::optional<std::int64_t> margin_min_ns;
};

std::vector<FormatSum> format_sums(const RunResult& result) {
    std::vector<FormatSum> sums;
    for (const StreamResult& stream : result.streams) {
        auto found = std::find_if(sums.begin(), sums.end(), [&stream](const FormatSum& sum) {
            return kind_of(*sum.first) == kind_of(stream) && sum.first->rate == stream.rate;
        });
        if (found == sums.end()) found = sums.insert(found, FormatSum{.first = &stream});
        ++found->streams;
        add(stream.counts, found->counts);
        found->required_bytes_per_s += stream.required_bytes_per_s;
        if (stream.margin_ns) {
            found->margin_min_ns =
                std::min(found->margin_min_ns.value_or(stream.margin_ns->min), stream.margin_ns->min);
        }
    }
    return sums;
}

std::string show_required(double bytes_per_s) {
    return bytes_per_s > 0 && std::isfinite(bytes_per_s) ? show_rate(bytes_per_s) : kNothing;
}

void latency_row(Table& table,
                 const char* heading,
                 const std::string& key,
                 const std::optional<LatencySummary>& latency) {
    if (!latency) return;
    const auto field = [&key](const char* part, std::int64_t ns) {
        return number("totals." + key + "." + part, ns, show(ns));
    };
    table.row({heading, field("p50", latency->p50), field("p90", latency->p90), field("p99", latency->p99),
               field("p99_9", latency->p99_9), field("max", latency->max)});
}

/// What the rows of a table leave out.
std::string more(std::uint64_t count, const std::string& of_what) {
    return paragraph(fmt::format("{} more {}", show_count(count), of_what), "more");
}

}  // namespace

std::string formats_table(const RunResult& result) {
    if (result.streams.empty()) return {};
    Table table("Streams by format", "counts");
    table.column("format", Align::left);
    table.column("rate", Align::right);
    table.column("streams", Align::right);
    table.column("required", Align::right);
    count_columns(table, Keep::always);
    table.column("tightest margin", Align::right);
    double required = 0;
    for (const FormatSum& sum : format_sums(result)) {
        required += sum.required_bytes_per_s;
        std::vector<std::string> fields = {name(kind_of(*sum.first)),
                                           sum.first->paced ? show_fps(sum.first->rate) : "as fast as it goes",
                                           show_count(sum.streams), show_required(sum.required_bytes_per_s)};
        append(fields, count_fields(sum.counts, ""));
        fields.push_back(show_or_nothing(sum.margin_min_ns));
        table.row(std::move(fields));
    }
    std::vector<std::string> all = {"all", "", show_count(result.streams.size()),
                                    // What is to be recorded is no part of what is to be read.
                                    records(result)
                                        ? show_required(required)
                                        : rate("totals.required_bytes_per_s", result.required_bytes_per_s)};
    append(all, count_fields(result.totals, "totals."));
    all.push_back(result.margin_ns
                      ? number("totals.margin_ns.min", result.margin_ns->min, show(result.margin_ns->min))
                      : kNothing);
    table.sum(std::move(all));
    return table.html();
}

std::string seats_table(const RunResult& result) {
    if (result.seats.size() < 2) return {};
    Table table("Seats, by computer", "counts");
    table.column("seats", Align::left);
    table.column("host", Align::left);
    table.column("node", Align::left);
    table.column("streams", Align::right);
    count_columns(table, Keep::where_not_zero);
    table.column("margin: 1 % under", Align::right);
    table.column("began after", Align::right);
    table.column("clocks within", Align::right);
    table.column("state", Align::left);
    table.column("verdict", Align::left);
    for (std::size_t i = 0; i < result.seats.size(); ++i) {
        const SeatResult& seat = result.seats[i];
        const std::string place = fmt::format("seats.{}.", i);
        std::vector<std::string> fields = {
            seat.seats.empty() ? fmt::format("rank {}", seat.rank) : seats_text(seat.seats),
            seat.host.name.empty() ? "?" : name(seat.host.name), seat.node.empty() ? kNothing : name(seat.node),
            show_count(streams_of(seat, result))};
        append(fields, count_fields(seat.totals, place + "totals."));
        append(fields,
               {seat.margin_ns ? number(place + "margin_ns.p1", seat.margin_ns->p1, show(seat.margin_ns->p1))
                               : kNothing,
                seat.start_ns ? number(place + "start_ns", *seat.start_ns, show(*seat.start_ns)) : kNothing,
                number(place + "clock_bound_ns", seat.clock_bound_ns, show(seat.clock_bound_ns)),
                to_string(seat.state), verdict_text(seat)});
        table.row(std::move(fields));
    }
    return table.html();
}

std::string streams_table(const RunResult& result) {
    if (result.streams.empty()) return {};
    const bool seats = several_seats(result);
    Table table(fmt::format("All {}", counted(result.streams.size(), "stream")), "counts streams");
    table.column(seats ? "seat.stream" : "stream", Align::left);
    table.column("format", Align::left);
    table.column("clip", Align::left);
    count_columns(table, Keep::where_not_zero);
    table.column("longest run missed", Align::right, Keep::where_not_zero);
    table.column("margin: least", Align::right);
    table.column("1 % under", Align::right);
    table.column("half under", Align::right);
    table.column("buffer: least", Align::right);
    table.column("half under", Align::right);
    table.column("response: 99 %", Align::right);
    for (std::size_t i = 0; i < result.streams.size(); ++i) {
        const StreamResult& stream = result.streams[i];
        const std::string place = fmt::format("streams.{}.", i);
        const std::string rate = stream.paced ? " " + show_fps(stream.rate) : "";
        std::vector<std::string> fields = {stream_name(stream.seat, stream.stream, seats),
                                           name(kind_of(stream)) + rate, name(stream.clip)};
        append(fields, count_fields(stream.counts, place));
        fields.push_back(number(place + "longest_drop_run", stream.longest_drop_run));
        const auto margin = [&](const char* key, std::int64_t MarginSummary::*member) {
            if (!stream.margin_ns) return std::string(kNothing);
            const std::int64_t ns = (*stream.margin_ns).*member;
            return number(place + "margin_ns." + key, ns, show(ns));
        };
        const auto buffer = [&](const char* key, std::uint64_t BufferSummary::*member) {
            if (!stream.buffer_frames) return std::string(kNothing);
            return number(place + "buffer_frames." + key, (*stream.buffer_frames).*member);
        };
        append(fields, {margin("min", &MarginSummary::min), margin("p1", &MarginSummary::p1),
                        margin("p50", &MarginSummary::p50), buffer("min", &BufferSummary::min),
                        buffer("p50", &BufferSummary::p50),
                        stream.response_ns ? number(place + "response_ns.p99", stream.response_ns->p99,
                                                    show(stream.response_ns->p99))
                                           : kNothing});
        table.row(std::move(fields));
    }
    return table.html();
}

std::string latency_table(const RunResult& result) {
    if (!result.service_ns && !result.response_ns && !result.open_ns) return {};
    Table table("How long frames took, all streams", "named");
    table.column("", Align::left);
    for (const char* heading : {"half within", "90 % within", "99 % within", "99.9 % within", "slowest"})
        table.column(heading, Align::right);
    latency_row(table, "service: from the request to the whole frame", "service_ns", result.service_ns);
    latency_row(table, "response: from when it was wanted", "response_ns", result.response_ns);
    latency_row(table, "opening: of that, to open the file", "open_ns", result.open_ns);
    latency_row(table, "seeks: from a jump to its first frame", "seek_ns", result.seek_ns);
    return table.html();
}

std::string drops_table(const RunResult& result) {
    if (result.drops.empty()) return {};
    const std::vector<std::size_t> shown = earliest_drops(result, kDropRows);
    const std::uint64_t all = result.drops.size() + result.drops_omitted;
    const bool seats = several_seats(result);
    Table table(all > shown.size() ? fmt::format("The first {} of {} frames that were not there in time",
                                                 show_count(shown.size()), show_count(all))
                                   : "The frames that were not there in time");
    table.column(seats ? "seat.stream" : "stream", Align::left);
    table.column("due at", Align::right);
    table.column("frame", Align::right);
    table.column("timecode", Align::left);
    table.column("too late by", Align::right);
    table.column("what", Align::left);
    table.column("why", Align::left);
    table.column("booked to", Align::left);
    table.column("file", Align::left);
    for (const std::size_t index : shown) {
        const DropRecord& drop = result.drops[index];
        const std::string place = fmt::format("drops.{}.", index);
        table.row({stream_name(drop.seat, drop.stream, seats),
                   number(place + "due_ns", drop.due_ns, clock(drop.due_ns, true)),
                   number(place + "frame", drop.frame), escaped(drop.timecode), show_lateness(drop),
                   to_string(drop.kind), show_reason(drop, result.model.has_value()), to_string(drop.cause),
                   name(drop.file)});
    }
    std::string out = table.html();
    if (all > shown.size())
        out += more(all - shown.size(), "follow; the JSON document (--json) has them, --csv every frame");
    return out;
}

std::string places_table(const RunResult& result) {
    struct Place {
        const DropRecord* drop = nullptr;
        std::uint64_t times = 0;
    };
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, Place> places;
    for (const DropRecord& drop : result.drops) {
        Place& place = places[{drop.seat, drop.stream, drop.clip_frame}];
        if (place.times++ == 0) place.drop = &drop;
    }
    std::vector<Place> often;
    for (const auto& [key, place] : places) {
        if (place.times > 1) often.push_back(place);
    }
    if (often.empty()) return {};
    std::stable_sort(often.begin(), often.end(),
                     [](const Place& a, const Place& b) { return a.times > b.times; });
    const std::size_t count = often.size();
    often.resize(std::min(count, kPlaceRows));
    const bool seats = several_seats(result);
    Table table("Places of the clips that were missed more than once");
    table.column(seats ? "seat.stream" : "stream", Align::left);
    table.column("frame of the clip", Align::right);
    table.column("timecode", Align::left);
    table.column("missed", Align::right);
    table.column("file", Align::left);
    for (const Place& place : often) {
        table.row({stream_name(place.drop->seat, place.drop->stream, seats), show_count(place.drop->clip_frame),
                   escaped(place.drop->timecode), fmt::format("{} times", show_count(place.times)),
                   name(place.drop->file)});
    }
    std::string out = table.html();
    if (count > often.size()) out += more(count - often.size(), "places were missed as often or less");
    return out;
}

std::string causes_table(const RunResult& result) {
    if (result.causes.empty()) return {};
    Table table("What the missed frames are booked to", "named prose");
    table.column("cause", Align::left);
    table.column("limit", Align::left);
    table.column("frames", Align::right);
    table.column("stalls", Align::right, Keep::where_not_zero);
    table.column("in short", Align::left);
    table.column("for an engineer", Align::left, Keep::where_not_zero);
    for (std::size_t i = 0; i < result.causes.size(); ++i) {
        const CauseResult& cause = result.causes[i];
        const std::string place = fmt::format("causes.{}.", i);
        table.row({to_string(cause.cause), to_string(cause.limit), number(place + "frames", cause.frames),
                   number(place + "stalls", cause.stalls), escaped(cause.summary), escaped(cause.detail)});
    }
    return table.html();
}

std::string servers_table(const RunResult& result) {
    if (result.servers.empty()) return {};
    Table table("File servers that streamsim spoke to itself", "named");
    table.column("node", Align::left);
    table.column("protocol", Align::left);
    table.column("seats", Align::left);
    table.column("connections", Align::right);
    table.column("largest read", Align::right);
    table.column("requests", Align::right);
    table.column("a frame", Align::right);
    table.column("received", Align::right);
    table.column("reconnects", Align::right);
    table.column("segments sent again", Align::right);
    table.column("round trip", Align::right);
    for (std::size_t i = 0; i < result.servers.size(); ++i) {
        const ServerResult& server = result.servers[i];
        const std::string place = fmt::format("servers.{}.", i);
        table.row({name(server.address), name(server.protocol), seats_text(server.seats),
                   number(place + "connections", server.connections), show_io_size(server.read_bytes),
                   number(place + "requests", server.requests),
                   fmt::format("{:.1f}", server.requests_per_frame), show_bytes(server.received_bytes),
                   number(place + "reconnects", server.reconnects),
                   number(place + "retransmitted_segments", server.retransmitted_segments),
                   server.rtt_ns ? show(*server.rtt_ns) : kNothing});
    }
    return table.html();
}

std::string links_table(const RunResult& result) {
    if (result.links.empty()) return {};
    Table table("Network links of this computer while it played");
    table.column("link", Align::left);
    table.column("speed", Align::right);
    table.column("received", Align::right);
    table.column("busy, mean", Align::right);
    table.column("busy, fullest interval", Align::right);
    table.column("round trip", Align::right);
    table.column("least ever", Align::right);
    table.column("segments sent again", Align::right);
    for (const LinkEvidence& link : result.links) {
        const auto busy = [&link](double percent) {
            return link.bits_per_s ? fmt::format("{:.0f} %", percent) : kNothing;
        };
        const auto trip = [](std::int64_t ns) { return ns > 0 ? show(ns) : kNothing; };
        table.row({name(link.name),
                   link.bits_per_s ? fmt::format("{:g} Gbit/s", static_cast<double>(*link.bits_per_s) / 1e9)
                                   : "not known",
                   show_bytes(link.received_bytes), busy(link.busy_percent), busy(link.busy_percent_max),
                   trip(link.rtt_ns), trip(link.rtt_min_ns), show_count(link.resent)});
    }
    return table.html();
}

std::string probes_table(const RunResult& result) {
    if (result.probes.empty()) return {};
    Table table("The same clips, read in other ways after play", "named");
    table.column("read", Align::left);
    table.column("frames in flight", Align::right);
    table.column("size of a read", Align::right);
    table.column("reads of a frame at once", Align::right);
    table.column("gave", Align::right);
    for (const ProbeResult& probe : result.probes) {
        table.row({escaped(probe.name), show_count(probe.inflight),
                   probe.io_size_bytes == 0 ? "a frame" : show_io_size(probe.io_size_bytes),
                   show_count(probe.io_depth), show_rate(probe.bytes_per_s)});
    }
    return table.html();
}

std::string parts_table(const RunResult& result) {
    if (result.parts.empty()) return {};
    const std::vector<std::size_t> shown = fullest_parts(result, kPartRows);
    Table table("The fullest parts of the model", "named");
    table.column("part", Align::left);
    table.column("busy", Align::right);
    table.column("when frames were missed", Align::right, Keep::where_not_zero);
    table.column("requests", Align::right);
    table.column("there at once, mean", Align::right);
    table.column("at most", Align::right);
    table.column("cache hits", Align::right, Keep::where_not_zero);
    table.column("segments lost", Align::right, Keep::where_not_zero);
    for (const std::size_t index : shown) {
        const PartResult& part = result.parts[index];
        table.row({name(part.stats.name), show_share(part.utilisation), show_share(part.utilisation_missed),
                   show_count(part.stats.requests), fmt::format("{:.1f}", part.queue_mean),
                   show_count(part.stats.longest_queue), show_hits(part.stats), show_count(part.stats.lost)});
    }
    std::string out = table.html();
    if (const std::size_t rest = result.parts.size() - shown.size(); rest > 0)
        out += more(rest, "parts, none fuller than these; the JSON document has them, over time too");
    return out;
}

std::string time_table(const RunResult& result) {
    const std::vector<TimelineEntry> entries = coarser(of_play(result.timeline), kTimeRows);
    if (entries.empty()) return {};
    Table table(fmt::format("Over time, in steps of {}", show(longest_interval_ns(entries))));
    table.column("from", Align::right);
    table.column("read", Align::right);
    table.column("on time", Align::right);
    table.column("dropped", Align::right);
    table.column("late", Align::right, Keep::where_not_zero);
    table.column("failed", Align::right, Keep::where_not_zero);
    table.column("least margin", Align::right);
    table.column("fewest frames buffered", Align::right);
    table.column("slowest frame", Align::right);
    for (const TimelineEntry& entry : entries) {
        table.row({clock(entry.t_ns, false), show_rate(bytes_per_s(entry)), show_count(entry.frames_on_time),
                   show_count(entry.frames_dropped), show_count(entry.frames_late),
                   show_count(entry.frames_failed), show_or_nothing(entry.margin_ns_min),
                   entry.buffer_frames_min ? show_count(*entry.buffer_frames_min) : kNothing,
                   entry.service_ns_max > 0 ? show(entry.service_ns_max) : kNothing});
    }
    return table.html();
}

std::string margins_table(const RunResult& result) {
    if (result.margin_bins.empty()) return {};
    std::uint64_t all = 0;
    for (const MarginBin& bin : result.margin_bins) all += bin.frames;
    Table table("Frames by margin");
    table.column("margin from", Align::right);
    table.column("to below", Align::right);
    table.column("frames", Align::right);
    table.column("share", Align::right);
    for (std::size_t i = 0; i < result.margin_bins.size(); ++i) {
        const MarginBin& bin = result.margin_bins[i];
        const double share = all > 0 ? 100.0 * static_cast<double>(bin.frames) / static_cast<double>(all) : 0;
        table.row({show(bin.from_ns), show(bin.to_ns),
                   number(fmt::format("margin_bins.{}.frames", i), bin.frames),
                   fmt::format("{:.2f} %", share)});
    }
    return table.html();
}

}  // namespace streamsim::report::html
