#include "view/live_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/units.h"
#include "base/utf8.h"
#include "view/stream_table.h"
#include "view/terminal.h"

namespace streamsim::view {
namespace {

constexpr int kHeadingRowsMin = 8;   // a terminal with fewer rows shows no heading
constexpr int kSpacingRowsMin = 20;  // a terminal with fewer rows shows no empty lines and no last drops
constexpr int kSparkRowsMin = 22;
constexpr int kMissRowsMin = 4;
constexpr std::size_t kMeterRowsMax = 4;  // a heading and three meters beside streams
constexpr std::size_t kRateWidth = 43;    // of the throughput, so that the bar does not move

/// `left` and `right` at the two ends of a line; `left` is cut if they do not fit.
std::string spread(const std::string& left, const std::string& right, std::size_t columns) {
    if (right.empty()) return left;
    if (shown_width(right) + 2 >= columns) return right;
    const std::size_t room = columns - shown_width(right) - 2;
    const std::string kept = clip(left, static_cast<int>(room));
    return kept + std::string(room - shown_width(kept) + 2, ' ') + right;
}

bool only_meters(const ViewState& state) {
    return state.streams.empty() && !state.meters.empty();
}

struct Sums {
    std::uint64_t bad = 0;
    std::uint64_t stalls = 0;
    std::size_t playing = 0;
    std::size_t with_drops = 0;
    std::size_t tight = 0;
    const StreamView* emptiest = nullptr;  // the playing stream with the least share of its read-ahead
    std::optional<std::int64_t> margin_min_ns;
};

Sums sums_of(const ViewState& state) {
    Sums sums;
    for (const StreamView& stream : state.streams) {
        sums.bad += stream.bad;
        sums.stalls += stream.stalls;
        if (stream.bad > 0 || stream.stalls > 0) ++sums.with_drops;
        if (state_paint(stream) == Paint::warning) ++sums.tight;
        if (stream.margin_min_ns) {
            sums.margin_min_ns = std::min(sums.margin_min_ns.value_or(INT64_MAX), *stream.margin_min_ns);
        }
        if (stream.over()) continue;
        ++sums.playing;
        if (stream.period_ns == 0) continue;
        // Near its end a stream has less than its read-ahead to buffer.
        const auto share = [](const StreamView& each) {
            return static_cast<double>(each.buffered) / std::max<double>(each.readahead, 1);
        };
        if (sums.emptiest == nullptr || share(stream) < share(*sums.emptiest)) sums.emptiest = &stream;
    }
    return sums;
}

std::string time_text(const ViewState& state, bool with_rest) {
    if (state.elapsed_ns <= 0) return state.streams.empty() ? "preparing" : "filling the read-ahead";
    std::string out = show_duration({state.elapsed_ns});
    if (state.total_ns <= 0) return out;
    out += " of " + show_duration({state.total_ns});
    if (with_rest)
        out += fmt::format(", {} left",
                           show_duration({std::max<std::int64_t>(state.total_ns - state.elapsed_ns, 0)}));
    return out;
}

std::string rate_text(const ViewState& state, const char* after) {
    if (state.required_bytes_per_s <= 0) return fmt::format("{:.1f} MB/s", state.bytes_per_s / 1e6);
    return fmt::format("{:.1f} of {:.1f} MB/s{}", state.bytes_per_s / 1e6, state.required_bytes_per_s / 1e6,
                       after);
}

ViewLine missed_line(const Sums& sums, const std::string& text) {
    const bool any = sums.bad > 0 || sums.stalls > 0;
    constexpr std::string_view kWord = "missed";
    const std::size_t word = text.find(kWord);  // the count stands before it
    const std::size_t painted = word == std::string::npos ? text.size() : word + kWord.size();
    return {text, any ? Paint::bad : Paint::good, 0, painted};
}

std::string missed_text(const Sums& sums) {
    std::string out = fmt::format("{} missed", show_count(sums.bad));
    if (sums.stalls > 0) out += fmt::format(", {} stalls", show_count(sums.stalls));
    return out;
}

std::string title_of(const ViewState& state) {
    return (state.faults_injected ? "FAULTS INJECTED: " : "") + printable(state.title);
}

/// The header of a run without streams: title and time, failures, or one line of both.
std::vector<ViewLine> meter_header(const ViewState& state, std::size_t columns, int rows) {
    const MeterView all = all_of(state.meters);
    const Paint paint = all.counts.failed > 0 ? Paint::bad : Paint::good;
    std::string failed = fmt::format("{} failed", show_count(all.counts.failed));
    const std::size_t count = failed.size();
    if (rows <= 5) return {{spread(time_text(state, false), failed, columns)}};
    const bool wide = columns >= 60;
    failed += fmt::format("   {} done", show_count(all.counts.done));
    std::string title = spread(title_of(state), time_text(state, wide), columns);
    return {{std::move(title), Paint::strong},
            {spread(failed, fmt::format("{:.1f} MB/s", state.bytes_per_s / 1e6), columns), paint, 0, count}};
}

/// Title and time, throughput, missed frames: three lines, two, or one.
std::vector<ViewLine> header(const ViewState& state, std::size_t columns, int rows) {
    if (only_meters(state)) return meter_header(state, columns, rows);
    const Sums sums = sums_of(state);
    std::vector<ViewLine> lines;
    if (rows <= 5) {
        const std::string missed = fmt::format("{} missed", show_count(sums.bad + sums.stalls));
        std::string time = time_text(state, false);
        if (time.size() + 2 + missed.size() > columns)
            time = show_duration({std::max<std::int64_t>(state.elapsed_ns, 0)});
        return {{spread(time, missed, columns)}};
    }
    const bool wide = columns >= 60;
    std::string title = spread(title_of(state), time_text(state, wide), columns);
    lines.push_back({std::move(title), Paint::strong});
    std::string rate = (wide ? "throughput  " : "") + rate_text(state, wide ? " required" : "");
    if (wide)
        rate += std::string(kRateWidth - std::min(kRateWidth, rate.size()), ' ');  // the bar does not move
    const std::size_t room = columns - std::min(columns, shown_width(rate) + 2);
    if (room >= 12 && state.required_bytes_per_s > 0) {
        rate += "  " + bar_with_mark(state.bytes_per_s, state.required_bytes_per_s,
                                     std::min<std::size_t>(room, 50) - 2, state.utf8);
    }
    const bool enough =
        state.required_bytes_per_s <= 0 || state.bytes_per_s >= state.required_bytes_per_s * 0.95;
    ViewLine rate_line{std::move(rate), enough || state.elapsed_ns <= 0 ? Paint::plain : Paint::warning};
    if (rows < kHeadingRowsMin) {
        lines.front() = missed_line(sums, spread(missed_text(sums), time_text(state, false), columns));
        lines.push_back(std::move(rate_line));
        return lines;
    }
    lines.push_back(std::move(rate_line));
    std::string who = fmt::format("{} playing", show_count(sums.playing));
    if (sums.with_drops > 0) who += fmt::format(", {} with drops", show_count(sums.with_drops));
    if (sums.tight > 0) who += fmt::format(", {} tight", show_count(sums.tight));
    std::string all = missed_text(sums);
    const auto add = [&](const std::string& more) {
        if (all.size() + 3 + more.size() + 2 + (wide ? who.size() : 0) <= columns) all += "   " + more;
    };
    if (sums.margin_min_ns) add("min margin " + show_duration({*sums.margin_min_ns}));
    if (sums.emptiest != nullptr) {
        add(fmt::format("buffer min {}/{}", sums.emptiest->buffered, sums.emptiest->readahead));
    }
    lines.push_back(missed_line(sums, wide ? spread(all, who, columns) : all));
    return lines;
}

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

/// Throughput and margin since the beginning, in as many columns as there are.
std::vector<ViewLine> spark_lines(const ViewState& state, std::size_t columns) {
    constexpr std::string_view kRate = "throughput  ", kMargin = "min margin  ";
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
    const std::size_t room = columns - std::min(columns, kRate.size());
    return {{std::string(kRate) + spark_line(rates, most_rate, room, false, state.utf8)},
            {std::string(kMargin) + spark_line(margins, most_margin, room, true, state.utf8)}};
}

/// How the rows of a terminal are shared out.
struct Layout {
    std::size_t header = 1;
    bool spacing = false;
    bool heading = false;
    bool sparks = false;      // two rows and an empty one
    std::size_t streams = 0;  // rows, with the line that counts the streams out of view
    std::size_t in_view = 0;  // number of streams
    std::size_t meters = 0;   // rows, with the heading
    std::size_t misses = 0;   // rows, with the heading
    bool message = false;     // has a row of its own
    bool footer = false;
};

Layout layout_of(const ViewState& state, int rows) {
    Layout out;
    const bool meters_alone = only_meters(state);
    out.header = rows <= 5 ? 1 : rows < kHeadingRowsMin || meters_alone ? 2 : 3;
    out.footer = rows >= 3;
    out.heading = rows >= kHeadingRowsMin && !meters_alone;
    out.message = rows >= kHeadingRowsMin;
    out.spacing = rows >= kSpacingRowsMin;
    out.sparks = rows >= kSparkRowsMin && !meters_alone && state.history.size() > 1;
    const auto all = static_cast<std::size_t>(std::max(rows, 0));
    std::size_t used = out.header + (out.footer ? 1 : 0) + (out.heading ? 1 : 0) + (out.message ? 1 : 0) +
                       (out.spacing ? 2 : 0) + (out.sparks ? 2 : 0);
    if (out.spacing && !meters_alone)
        out.misses = static_cast<std::size_t>(std::clamp<int>(rows / 5, kMissRowsMin, RecentMisses::kKept)) + 1;
    used += out.misses;
    std::size_t room = all > used ? all - used : 0;
    if (!state.meters.empty() && room >= kMeterRowsMax) {
        out.meters = std::min(meters_alone ? room : kMeterRowsMax, state.meters.size() + 1);
        room -= out.meters + (meters_alone ? 0 : 1);
    }
    const std::size_t streams = state.streams.size();
    out.streams = std::min(room, streams);
    // The line that counts the streams out of view takes a row of its own, if there are two.
    out.in_view = streams > room && room > 1 ? room - 1 : out.streams;
    if (out.spacing && !meters_alone)
        out.misses += std::min(room - out.streams, RecentMisses::kKept + 1 - out.misses);
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
    for (ViewLine& line : stream_lines(state, shown, columns, layout.heading)) lines.push_back(std::move(line));
    std::uint64_t bad = 0;
    for (const std::size_t index : shown) bad += state.streams[index].bad;
    if (layout.in_view < layout.streams) lines.push_back(others_line(state, top, layout.in_view, bad, columns));
}

}  // namespace

void StreamView::read(const StreamProgress& progress) {
    constexpr auto kOrder = std::memory_order_relaxed;
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
    misses.clear();
    progress.misses.read(misses);
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

std::size_t streams_in_view(const ViewState& state, int rows) {
    return layout_of(state, rows).in_view;
}

std::vector<ViewLine> live_lines(const ViewState& state, int columns, int rows) {
    const auto width = static_cast<std::size_t>(std::max(columns, 0));
    const Layout layout = layout_of(state, rows);
    std::vector<ViewLine> lines = header(state, width, rows);
    if (layout.sparks) {
        for (ViewLine& line : spark_lines(state, width)) lines.push_back(std::move(line));
    }
    if (layout.spacing) lines.emplace_back();
    if (!only_meters(state)) add_streams(state, layout, columns, lines);
    if (layout.meters > 0) {
        if (!only_meters(state)) lines.emplace_back();
        for (ViewLine& line : meter_lines(state.meters, layout.meters)) lines.push_back(std::move(line));
    }
    if (layout.misses > 0) {
        lines.emplace_back();
        const auto events = event_lines(state, layout.misses - 1);
        lines.push_back({events.empty() ? "NO DROPS SO FAR"
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
    for (ViewLine& line : lines) line.text = clip(line.text, columns);
    return lines;
}

std::string progress_text(const ViewState& state) {
    const std::string banner = state.faults_injected ? "FAULTS INJECTED  " : "";
    if (only_meters(state)) return banner + time_text(state, false) + "  " + meters_text(state.meters);
    const Sums sums = sums_of(state);
    std::string out = fmt::format("{}{}  {}  {}", banner, time_text(state, false),
                                  counted(sums.playing, "stream"), rate_text(state, ""));
    if (sums.emptiest != nullptr)
        out += fmt::format("  buffer min {}/{}", sums.emptiest->buffered, sums.emptiest->readahead);
    out += "  " + missed_text(sums);
    return state.meters.empty() ? out : out + "  meters " + meters_text(state.meters);
}

}  // namespace streamsim::view
