#include "view/live_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/units.h"
#include "base/utf8.h"
#include "view/live_header.h"
#include "view/stream_table.h"
#include "view/terminal.h"

namespace streamsim::view {
namespace {

constexpr int kSpacingRowsMin = 20;  // a terminal with fewer rows shows no empty lines and no last drops
constexpr int kSparkRowsMin = 22;
constexpr std::size_t kSparkRowsMax = 8;  // of one chart
constexpr std::size_t kChartLabelWidth = 12;
constexpr int kMissRowsMin = 4;
constexpr std::size_t kMeterRowsMax = 4;  // a heading and three meters beside streams

std::string footer_text(const ViewState& state, std::size_t columns) {
    if (!state.keys) return "Ctrl-C ends the run with its result so far";
    if (only_meters(state)) return columns >= 22 ? "q quit with the result" : "q";
    const std::string add = state.can_add ? "   + add a stream   - remove one" : "";
    const std::string add_short = state.can_add ? "  + add  - remove" : "";
    const std::string choices[] = {
        "q quit with the result" + add + "   up/down, PgUp/PgDn scroll   w worst first",
        "q quit" + add_short + "  up/down, PgUp/PgDn scroll  w worst first",
        "q quit" + add_short + "  j/k scroll  w worst",
        "q quit" + add_short,
    };
    for (const std::string& choice : choices) {
        if (choice.size() <= columns) return choice;
    }
    return state.can_add ? "q + - j k w" : "q j k w";
}

const char* reason_text(DropReason reason) {
    switch (reason) {
        case DropReason::none: return "";
        case DropReason::late: return "read too late";
        case DropReason::client: return "client delay";
        case DropReason::error: return "read error";
        case DropReason::short_read: return "the file is too short";
        case DropReason::missing: return "no such file";
        case DropReason::corrupt: return "wrong content";
    }
    return "?";
}

constexpr std::string_view kEventLine = "{:>11}  {:>9}  {:<14} {:<11} {:<13} {}";

/// The last events, the last one first.
std::vector<ViewLine> event_lines(const ViewState& state, std::size_t most) {
    std::vector<ViewLine> lines;
    for (auto event = state.events.rbegin(); event != state.events.rend() && lines.size() < most; ++event) {
        const std::string missed =
            event->stall ? counted(event->frames, "stall")
                         : fmt::format("{} {}", show_count(event->frames), to_string(event->kind));
        lines.push_back({fmt::format(fmt::runtime(kEventLine), show_duration({event->from_ns}),
                                     show_duration({event->to_ns - event->from_ns}), missed,
                                     counted(event->streams.size(), "stream"), reason_text(event->reason),
                                     event->timecode)});
    }
    return lines;
}

/// A chart with its name at the left, and above it, where there is room, the value that fills its height.
void add_chart(const char* name,
               const std::string& most_text,
               const std::vector<std::string>& rows,
               std::vector<ViewLine>& lines) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::string left = i + 1 == rows.size() ? name : i == 0 ? most_text : "";
        lines.push_back({fmt::format("{:<{}}{}", left, kChartLabelWidth, rows[i])});
    }
}

/// Throughput and margin since the beginning, each `rows` high.
std::vector<ViewLine> spark_lines(const ViewState& state, std::size_t columns, std::size_t rows) {
    std::vector<std::optional<double>> rates;
    std::vector<std::optional<double>> margins;
    double most_rate = state.required_bytes_per_s;
    double most_margin = 0;
    for (const LivePoint& point : state.history) {
        rates.emplace_back(point.bytes_per_s);
        margins.push_back(point.margin_min_ns ? std::optional(static_cast<double>(*point.margin_min_ns))
                                              : std::nullopt);
        most_rate = std::max(most_rate, point.bytes_per_s);
        most_margin = std::max(most_margin, margins.back().value_or(0));
    }
    SparkShape shape;
    shape.columns = columns - std::min(columns, kChartLabelWidth);
    shape.rows = rows;
    if (state.history_step_ns > 0)
        shape.points =
            static_cast<std::size_t>(std::max<std::int64_t>(state.total_ns, 0) / state.history_step_ns);
    shape.utf8 = state.utf8;
    std::vector<ViewLine> lines;
    add_chart("throughput", fmt::format("{:.0f} MB/s", most_rate / 1e6), spark_chart(rates, most_rate, shape),
              lines);
    shape.least = true;
    add_chart("min margin", show_duration({static_cast<std::int64_t>(most_margin)}),
              spark_chart(margins, most_margin, shape), lines);
    return lines;
}

/// How the rows of a terminal are shared out.
struct Layout {
    std::size_t header = 1;
    bool spacing = false;
    bool heading = false;
    std::size_t sparks = 0;       // rows of each of the two charts
    std::size_t blocks = 1;       // of streams, side by side
    std::size_t stream_rows = 0;  // of a block
    bool others = false;          // a line counts the streams that are out of view
    std::size_t in_view = 0;      // number of streams
    std::size_t meters = 0;       // rows, with the heading
    std::size_t misses = 0;       // rows, with the heading
    bool message = false;         // has a row of its own
    bool footer = false;
};

/// Shares `room` rows out to the streams: side by side if they are too many for one block.
void lay_out_streams(std::size_t streams, int columns, std::size_t room, Layout& out) {
    const std::size_t needed = room > 0 ? (streams + room - 1) / room : 1;
    const std::size_t fit =
        (static_cast<std::size_t>(std::max(columns, 0)) + kBlockGap) / (kBlockColumnsMin + kBlockGap);
    out.blocks = std::max<std::size_t>(std::min(needed, fit), 1);
    // The line that counts the streams out of view takes a row of its own, if there are two.
    out.others = streams > out.blocks * room && room > 1;
    out.stream_rows = std::min(room - (out.others ? 1 : 0), (streams + out.blocks - 1) / out.blocks);
    out.in_view = std::min(streams, out.blocks * out.stream_rows);
}

Layout layout_of(const ViewState& state, int columns, int rows) {
    Layout out;
    const bool meters_alone = only_meters(state);
    out.header = rows <= 5 ? 1 : rows < kHeadingRowsMin || meters_alone ? 2 : 3;
    out.footer = rows >= 3;
    out.heading = rows >= kHeadingRowsMin && !meters_alone;
    out.message = rows >= kHeadingRowsMin;
    out.spacing = rows >= kSpacingRowsMin;
    out.sparks = rows >= kSparkRowsMin && !meters_alone && state.history.size() > 1 ? 1 : 0;
    const auto all = static_cast<std::size_t>(std::max(rows, 0));
    std::size_t used = out.header + (out.footer ? 1 : 0) + (out.heading ? 1 : 0) + (out.message ? 1 : 0) +
                       (out.spacing ? 2 : 0) + 2 * out.sparks;
    if (out.spacing && !meters_alone)
        out.misses = static_cast<std::size_t>(std::clamp<int>(rows / 5, kMissRowsMin, RecentMisses::kKept)) + 1;
    used += out.misses;
    std::size_t room = all > used ? all - used : 0;
    if (!state.meters.empty() && room >= kMeterRowsMax) {
        out.meters = std::min(meters_alone ? room : kMeterRowsMax, state.meters.size() + 1);
        room -= out.meters + (meters_alone ? 0 : 1);
    }
    lay_out_streams(state.streams.size(), columns, room, out);
    room -= out.stream_rows + (out.others ? 1 : 0);
    if (out.spacing && !meters_alone) {
        const std::size_t events = std::min(room, RecentMisses::kKept + 1 - out.misses);
        out.misses += events;
        room -= events;
    }
    if (out.sparks > 0) out.sparks += std::min(room / 2, kSparkRowsMax - 1);
    return out;
}

/// The first stream in view, so that no row below the streams stays empty.
std::size_t first_in_view(const ViewState& state, const std::vector<std::size_t>& order, std::size_t in_view) {
    const std::size_t last_top = order.size() - std::min(order.size(), in_view);
    return std::min(state.scroll.top, last_top);
}

ViewLine others_line(
    const ViewState& state, std::size_t top, std::size_t in_view, std::uint64_t bad_in_view, int columns) {
    std::uint64_t bad = 0;
    for (const StreamView& stream : state.streams) bad += stream.bad;
    const std::string elsewhere = show_count(bad - bad_in_view);
    const std::string all = show_count(state.streams.size());
    std::string text = fmt::format("  {} to {} of {} streams, {} missed by the others", top + 1, top + in_view,
                                   all, elsewhere);
    if (text.size() > static_cast<std::size_t>(std::max(columns, 0))) {
        text = fmt::format("  {}-{} of {}, {} missed elsewhere", top + 1, top + in_view, all, elsewhere);
    }
    return {text, Paint::faint};
}

void add_streams(const ViewState& state, const Layout& layout, int columns, std::vector<ViewLine>& lines) {
    const auto order = shown_order(state);
    const std::size_t top = first_in_view(state, order, layout.in_view);
    const auto begin = order.begin() + static_cast<std::ptrdiff_t>(top);
    const std::vector<std::size_t> shown(begin, begin + static_cast<std::ptrdiff_t>(layout.in_view));
    const TableShape shape{columns, layout.blocks, layout.stream_rows, layout.heading, layout.spacing};
    for (ViewLine& line : stream_lines(state, shown, shape)) lines.push_back(std::move(line));
    std::uint64_t bad = 0;
    for (const std::size_t index : shown) bad += state.streams[index].bad;
    if (layout.others) lines.push_back(others_line(state, top, layout.in_view, bad, columns));
}

}  // namespace

void StreamView::read(const StreamProgress& progress) {
    constexpr auto kOrder = std::memory_order_relaxed;
    misses.clear();
    progress.misses.read(misses);  // first: those that it has are counted
    state = progress.state.load(kOrder);
    due = progress.due.load(kOrder);
    on_time = progress.on_time.load(kOrder);
    bad = progress.bad.load(kOrder);
    stalls = progress.stalls.load(kOrder);
    bytes = progress.bytes.load(kOrder);
    buffered = progress.buffered.load(kOrder);
    const auto margin = [](std::int64_t ns) { return ns == INT64_MAX ? std::nullopt : std::optional(ns); };
    margin_min_ns = margin(progress.margin_min_ns.load(kOrder));
    margin_lately_ns = margin(progress.margin_lately_ns.load(kOrder));
    std::ranges::sort(misses, std::ranges::greater{},
                      [](const Miss& miss) { return std::pair(miss.at_ns, miss.slot); });
}

void Scroll::handle(Key key, const std::vector<std::size_t>& order, std::size_t page) {
    if (key == Key::worst_first) {
        worst_first = !worst_first;
        top = 0;
        return;
    }
    if (order.empty()) return;
    const std::size_t last = order.size() - 1;
    const auto found = selected ? std::ranges::find(order, *selected) : order.end();
    const bool any = found != order.end();
    std::size_t row = any ? static_cast<std::size_t>(found - order.begin()) : std::min(top, last);
    const std::size_t step = std::max<std::size_t>(page, 1);
    switch (key) {
        case Key::up: row -= any && row > 0 ? 1U : 0U; break;
        case Key::down: row += any && row < last ? 1U : 0U; break;
        case Key::page_up:
            row -= std::min(row, step);
            top -= std::min(top, step);
            break;
        case Key::page_down:
            row = std::min(row + step, last);
            top = std::min(top + step, order.size() - std::min(order.size(), step));
            break;
        case Key::home: row = 0; break;
        case Key::end: row = last; break;
        default: return;
    }
    selected = order[row];
    if (row < top) top = row;
    if (row >= top + step) top = row + 1 - step;
}

std::vector<std::size_t> shown_order(const ViewState& state) {
    std::vector<std::size_t> order(state.streams.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (!state.scroll.worst_first) return order;
    const auto badness = [&state](std::size_t index) {
        const StreamView& stream = state.streams[index];
        return std::tuple(~(stream.bad + stream.stalls), stream.margin_min_ns.value_or(INT64_MAX), index);
    };
    std::ranges::sort(order, {}, badness);
    return order;
}

std::size_t streams_in_view(const ViewState& state, int columns, int rows) {
    return layout_of(state, columns, rows).in_view;
}

std::string ViewLine::whole_text() const {
    std::string out = text;
    for (const ViewLine& block : beside) out += block.text;
    return out;
}

std::vector<ViewLine> live_lines(const ViewState& state, int columns, int rows) {
    const auto width = static_cast<std::size_t>(std::max(columns, 0));
    const Layout layout = layout_of(state, columns, rows);
    std::vector<ViewLine> lines = header_lines(state, width, rows);
    if (layout.sparks > 0) {
        for (ViewLine& line : spark_lines(state, width, layout.sparks)) lines.push_back(std::move(line));
    }
    if (only_meters(state) && layout.spacing) lines.emplace_back();
    if (!only_meters(state)) add_streams(state, layout, columns, lines);
    if (layout.meters > 0) {
        if (!only_meters(state)) lines.emplace_back();
        for (ViewLine& line : meter_lines(state.meters, layout.meters)) lines.push_back(std::move(line));
    }
    if (layout.misses > 0) {
        lines.emplace_back();
        const auto events = event_lines(state, layout.misses - 1);
        const LiveSums sums = sums_of(state);
        const bool none = sums.bad + sums.stalls == 0;
        lines.push_back({events.empty() ? (none ? "NO DROPS SO FAR" : "NO MISSED FRAME HAS COME SO FAR")
                                        : fmt::format(fmt::runtime(kEventLine), "LAST EVENTS", "LENGTH",
                                                      "MISSED", "STREAMS", "REASON", "FIRST FRAME"),
                         Paint::faint});
        lines.insert(lines.end(), events.begin(), events.end());
    }
    const std::size_t below = (layout.footer ? 1U : 0U) + (layout.message ? 1U : 0U);
    const auto all = static_cast<std::size_t>(std::max(rows, 0));
    if (lines.size() + below < all) lines.resize(all - below);
    if (layout.message) lines.push_back({printable(state.message), Paint::strong});
    if (layout.footer) {
        const bool message_instead = !layout.message && !state.message.empty();
        lines.push_back({message_instead ? printable(state.message) : footer_text(state, width), Paint::faint});
    }
    lines.resize(std::min(lines.size(), all));
    for (ViewLine& line : lines) {
        if (line.beside.empty()) line.text = clip(line.text, columns);
    }
    return lines;
}

std::string progress_text(const ViewState& state) {
    const std::string banner = state.faults_injected ? "FAULTS INJECTED  " : "";
    if (only_meters(state)) return banner + time_text(state, false) + "  " + meters_text(state.meters);
    const LiveSums sums = sums_of(state);
    std::string out = fmt::format("{}{}  {}  {}", banner, time_text(state, false),
                                  counted(sums.playing, "stream"), rate_text(state));
    if (sums.emptiest != nullptr)
        out += fmt::format("  buffer min {}/{}", sums.emptiest->buffered, sums.emptiest->readahead);
    out += "  " + missed_text(sums);
    return state.meters.empty() ? out : out + "  meters " + meters_text(state.meters);
}

}  // namespace streamsim::view
