#include "report/text/text_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <tuple>

#include "base/check.h"
#include "base/system/errno_name.h"
#include "base/units.h"
#include "base/utf8.h"
#include "report/text/server_text.h"

namespace streamsim::report {
namespace {

constexpr std::size_t kStreamRows = 40;
constexpr std::size_t kDropRows = 20;
constexpr std::size_t kPartRows = 12;

/// Characters of UTF-8 text as a terminal shows them, wide ones apart.
std::size_t width(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::uint64_t bad(const StreamResult& stream) {
    return stream.counts.dropped + stream.counts.late + stream.counts.failed + stream.counts.stalls;
}

/// Which streams are shown: all in their order, or the worst first where there are too many.
std::vector<std::size_t> shown_streams(const RunResult& result) {
    std::vector<std::size_t> order(result.streams.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (order.size() <= kStreamRows) return order;
    const auto badness = [&result](std::size_t index) {
        const StreamResult& stream = result.streams[index];
        return std::tuple(~bad(stream), stream.margin_ns ? stream.margin_ns->min : INT64_MAX, index);
    };
    std::partial_sort(order.begin(), order.begin() + kStreamRows, order.end(),
                      [&badness](std::size_t a, std::size_t b) { return badness(a) < badness(b); });
    order.resize(kStreamRows);
    return order;
}

std::string show_latency_p99(const std::optional<LatencySummary>& latency) {
    return latency ? show_duration({latency->p99}) : "-";
}

}  // namespace

bool several_seats(const RunResult& result) {
    return std::any_of(result.streams.begin(), result.streams.end(),
                       [](const StreamResult& stream) { return stream.seat != 0; });
}

std::uint64_t streams_of(const SeatResult& seat, const RunResult& result) {
    return static_cast<std::uint64_t>(
        std::count_if(result.streams.begin(), result.streams.end(), [&seat](const StreamResult& stream) {
            return std::find(seat.seats.begin(), seat.seats.end(), stream.seat) != seat.seats.end();
        }));
}

std::string stream_name(std::uint32_t seat, std::uint32_t stream, bool with_seat) {
    return with_seat ? fmt::format("{}.{}", seat, stream) : fmt::format("{}", stream);
}

std::string kind_of(const StreamResult& stream) {
    if (!stream.records) return stream.format;
    return (stream.durable ? "durably recorded " : "recorded ") + stream.format;
}

bool records(const RunResult& result) {
    return std::any_of(result.streams.begin(), result.streams.end(),
                       [](const StreamResult& stream) { return stream.records; });
}

bool only_records(const RunResult& result) {
    return std::all_of(result.streams.begin(), result.streams.end(),
                       [](const StreamResult& stream) { return stream.records; }) &&
           !result.streams.empty();
}

std::vector<std::size_t> earliest_drops(const RunResult& result, std::size_t limit) {
    std::vector<std::size_t> order(result.drops.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::size_t count = std::min(limit, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                      [&result](std::size_t a, std::size_t b) {
                          return std::pair(result.drops[a].due_ns, a) < std::pair(result.drops[b].due_ns, b);
                      });
    order.resize(count);
    return order;
}

std::vector<std::size_t> fullest_parts(const RunResult& result, std::size_t limit) {
    std::vector<std::size_t> order(result.parts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto rank = [&result](std::size_t index) {
        const PartResult& part = result.parts[index];
        return std::tuple(-part.utilisation_missed.value_or(part.utilisation), -part.queue_mean, index);
    };
    const std::size_t count = std::min(limit, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                      [&rank](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
    order.resize(count);
    return order;
}

std::string show_share(const std::optional<double>& share) {
    return share ? fmt::format("{:.0f} %", *share * 100) : "";
}

std::string show_hits(const PartStats& stats) {
    const std::uint64_t asked = stats.hits + stats.misses;
    if (asked == 0) return "";
    return fmt::format("{:.0f} % of {}", 100.0 * static_cast<double>(stats.hits) / static_cast<double>(asked),
                       show_count(asked));
}

std::string show_reason(const DropRecord& drop, bool modelled) {
    switch (drop.reason) {
        case DropReason::client: return modelled ? "decoding" : "this computer";
        case DropReason::error: {
            const char* name = errno_name(drop.error);
            return name != nullptr ? fmt::format("error {}", name) : fmt::format("error {}", drop.error);
        }
        case DropReason::short_read: return "cut short";
        default: return to_string(drop.reason);
    }
}

std::string show_lateness(const DropRecord& drop) {
    if (!drop.completed_ns) return "never came";
    return show_duration({*drop.completed_ns - drop.due_ns});
}

void TextTable::column(std::string heading, Align align, Keep keep) {
    columns_.push_back({std::move(heading), align, keep});
}

void TextTable::row(std::vector<std::string> fields) {
    STREAMSIM_CHECK(fields.size() == columns_.size(), "a table row has a field for each column");
    for (std::string& field : fields) field = printable(field);  // whichever of them is a name
    rows_.push_back(std::move(fields));
}

bool TextTable::shown(std::size_t column) const {
    if (columns_[column].keep == Keep::always) return true;
    return std::any_of(rows_.begin(), rows_.end(), [column](const std::vector<std::string>& row) {
        return row[column] != "0" && !row[column].empty();
    });
}

std::string TextTable::text() const {
    std::vector<std::size_t> columns;
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (!shown(i)) continue;
        columns.push_back(i);
        std::size_t widest = width(columns_[i].heading);
        for (const auto& row : rows_) widest = std::max(widest, width(row[i]));
        widths.push_back(widest);
    }
    std::string out;
    const auto line = [&](const auto& field_of) {
        std::string text;
        for (std::size_t at = 0; at < columns.size(); ++at) {
            const std::string& field = field_of(columns[at]);
            const std::string padding(widths[at] - width(field), ' ');
            text += "  ";
            text += columns_[columns[at]].align == Align::right ? padding + field : field + padding;
        }
        text.erase(text.find_last_not_of(' ') + 1);
        out += text + "\n";
    };
    line([this](std::size_t column) -> const std::string& { return columns_[column].heading; });
    for (const auto& row : rows_) {
        line([&row](std::size_t column) -> const std::string& { return row[column]; });
    }
    return out;
}

std::string parts_table(const RunResult& result) {
    if (result.parts.empty()) return {};
    using Align = TextTable::Align;
    using Keep = TextTable::Keep;
    TextTable table;
    table.column("part", Align::left);
    table.column("busy", Align::right);
    table.column("when frames were missed", Align::right, Keep::where_not_zero);
    table.column("requests", Align::right);
    table.column("there at once", Align::right);
    table.column("at most", Align::right);
    table.column("hits", Align::right, Keep::where_not_zero);
    table.column("lost", Align::right, Keep::where_not_zero);
    const auto shown = fullest_parts(result, kPartRows);
    for (const std::size_t index : shown) {
        const PartResult& part = result.parts[index];
        table.row({printable(part.stats.name), show_share(part.utilisation),
                   show_share(part.utilisation_missed), show_count(part.stats.requests),
                   fmt::format("{:.1f}", part.queue_mean), show_count(part.stats.longest_queue),
                   show_hits(part.stats), show_count(part.stats.lost)});
    }
    std::string out = "The fullest parts of the model\n" + table.text();
    if (const std::size_t more = result.parts.size() - shown.size(); more > 0)
        out += fmt::format("  and {} more, none fuller than these; over time: parts in --json\n",
                           show_count(more));
    return out;
}

std::string seats_table(const RunResult& result) {
    if (result.seats.size() < 2) return {};
    using Align = TextTable::Align;
    using Keep = TextTable::Keep;
    TextTable table;
    table.column("seats", Align::left);
    table.column("host", Align::left);
    table.column("node", Align::left, Keep::where_not_zero);
    table.column("streams", Align::right);
    for (const char* heading : {"on time", "dropped", "in 1st second", "late", "failed", "stalls", "cancelled"})
        table.column(heading, Align::right, heading[0] == 'o' ? Keep::always : Keep::where_not_zero);
    table.column("margin p1", Align::right);
    table.column("began after", Align::right);
    table.column("clocks within", Align::right);
    table.column("state", Align::left);
    table.column("verdict", Align::left);
    for (const SeatResult& seat : result.seats) {
        const FrameCounts& counts = seat.totals;
        table.row({seat.seats.empty() ? fmt::format("rank {}", seat.rank) : seats_text(seat.seats),
                   seat.host.name.empty() ? "?" : printable(seat.host.name), printable(seat.node),
                   show_count(streams_of(seat, result)), show_count(counts.on_time), show_count(counts.dropped),
                   show_count(counts.startup_drops), show_count(counts.late), show_count(counts.failed),
                   show_count(counts.stalls), show_count(counts.cancelled),
                   seat.margin_ns ? show_duration({seat.margin_ns->p1}) : "-",
                   seat.start_ns ? show_duration({*seat.start_ns}) : "-",
                   seat.clock_bound_ns > 0 ? show_duration({seat.clock_bound_ns}) : "-", to_string(seat.state),
                   verdict_text(seat)});
    }
    return "Seats\n" + table.text();
}

std::string streams_table(const RunResult& result) {
    if (result.streams.empty()) return {};
    using Align = TextTable::Align;
    using Keep = TextTable::Keep;
    TextTable table;
    const bool seats = several_seats(result);
    table.column(seats ? "seat.stream" : "stream", Align::left);
    table.column("format", Align::left);
    table.column("on time", Align::right);
    table.column("dropped", Align::right);
    table.column("in 1st second", Align::right, Keep::where_not_zero);
    table.column("in a row", Align::right, Keep::where_not_zero);
    table.column("late", Align::right, Keep::where_not_zero);
    table.column("failed", Align::right, Keep::where_not_zero);
    table.column("stalls", Align::right, Keep::where_not_zero);
    table.column("cancelled", Align::right, Keep::where_not_zero);
    table.column("tightest", Align::right);
    table.column("response p99", Align::right);
    table.column("clip", Align::left);
    const auto shown = shown_streams(result);
    for (const std::size_t index : shown) {
        const StreamResult& stream = result.streams[index];
        const FrameCounts& counts = stream.counts;
        table.row({stream_name(stream.seat, stream.stream, seats), printable(kind_of(stream)),
                   show_count(counts.on_time), show_count(counts.dropped), show_count(counts.startup_drops),
                   show_count(stream.longest_drop_run), show_count(counts.late), show_count(counts.failed),
                   show_count(counts.stalls), show_count(counts.cancelled),
                   stream.margin_ns ? show_duration({stream.margin_ns->min}) : "-",
                   show_latency_p99(stream.response_ns), printable(stream.clip)});
    }
    std::string out = "Streams\n" + table.text();
    if (const std::size_t more = result.streams.size() - shown.size(); more > 0) {
        out += fmt::format("  and {} more, none worse than these\n", show_count(more));
    }
    return out;
}

std::string drops_table(const RunResult& result) {
    if (result.drops.empty()) return {};
    using Align = TextTable::Align;
    TextTable table;
    const bool seats = several_seats(result);
    table.column(seats ? "seat.stream" : "stream", Align::left);
    table.column("frame", Align::right);
    table.column("timecode", Align::left);
    table.column("due at", Align::right);
    table.column("too late by", Align::right);
    table.column("what", Align::left);
    table.column("why", Align::left);
    table.column("file", Align::left);
    const auto shown = earliest_drops(result, kDropRows);
    for (const std::size_t index : shown) {
        const DropRecord& drop = result.drops[index];
        table.row({stream_name(drop.seat, drop.stream, seats), show_count(drop.frame), drop.timecode,
                   fmt::format("{:.3f} s", static_cast<double>(drop.due_ns) / 1e9), show_lateness(drop),
                   to_string(drop.kind), show_reason(drop, result.model.has_value()), printable(drop.file)});
    }
    const std::uint64_t all = result.drops.size() + result.drops_omitted;
    std::string out = all > shown.size()
                          ? fmt::format("Frames that were not there in time (the first {} of {})\n",
                                        shown.size(), show_count(all))
                          : "Frames that were not there in time\n";
    out += table.text();
    if (all > shown.size()) out += "  all of them: --csv, or drops in --json\n";
    return out;
}

std::string show_fps(FrameRate rate) {
    if (rate.den == 1) return fmt::format("{} fps", rate.num);
    std::string digits = fmt::format("{:.3f}", rate.per_second());
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') digits.pop_back();
    return digits + " fps";
}

std::string counted(std::uint64_t count, std::string_view one) {
    return fmt::format("{} {}{}", show_count(count), one, count == 1 ? "" : "s");
}

}  // namespace streamsim::report
