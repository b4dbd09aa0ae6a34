#include "view/stream_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/units.h"
#include "base/utf8.h"
#include "view/terminal.h"

namespace streamsim::view {
namespace {

constexpr std::size_t kStateWidth = 7;
constexpr std::size_t kBarCells = 8;
constexpr std::size_t kBarCellsWide = 16;
constexpr std::size_t kWideColumnsMin = 120;
constexpr std::size_t kMarkedColumnsMin = 30;
constexpr std::int64_t kNowNs = 2'000'000'000;
constexpr int kFirstNow = 2;  // Column::order
constexpr int kFirstEver = 5;

std::string buffer_cell(const StreamView& stream) {
    if (stream.period_ns == 0 || stream.over()) return "-";
    return fmt::format("{}/{}", stream.buffered, stream.readahead);
}

std::string played_cell(const StreamView& stream) {
    if (stream.frames_total == 0) return std::to_string(stream.on_time);
    return fmt::format("{}/{}", stream.due, stream.frames_total);
}

std::string last_cell(const StreamView& stream) {
    return stream.misses.empty() ? "-" : show_duration({stream.misses.front().at_ns});
}

std::string padded(const std::string& text, std::size_t width, bool right) {
    const std::string field = clip(text, static_cast<int>(width));
    return right ? fmt::format("{:>{}} ", field, width) : fmt::format("{:<{}} ", field, width);
}

std::string duration_or_dash(const std::optional<std::int64_t>& ns) {
    return ns ? show_duration({*ns}) : "-";
}

/// A stream's state now: "ok", "TIGHT", "DROPS", or "dropped" where it has missed frames before.
const char* state_word(const StreamView& stream, std::int64_t elapsed_ns) {
    switch (stream.state) {
        case StreamState::idle: return "waits";
        case StreamState::prerolling: return "preroll";
        case StreamState::waiting: return "STALLED";
        case StreamState::removed: return "removed";
        case StreamState::playing:
        case StreamState::ended: break;
    }
    const bool playing = stream.state == StreamState::playing;
    if (playing && misses_now(stream, elapsed_ns)) return "DROPS";
    if (playing && tight_now(stream)) return "TIGHT";
    if (stream.bad > 0 || stream.stalls > 0) return "dropped";
    return playing ? "ok" : "ended";
}

Paint state_paint(const StreamView& stream, std::int64_t elapsed_ns) {
    if (stream.state == StreamState::removed) return Paint::faint;
    if (misses_now(stream, elapsed_ns)) return Paint::bad;
    if (stream.bad > 0 || stream.stalls > 0) return Paint::warning;
    if (stream.state == StreamState::ended) return Paint::faint;
    if (stream.state != StreamState::playing) return Paint::plain;
    return tight_now(stream) ? Paint::warning : Paint::good;
}

struct Column {
    int order;  // from the left
    const char* heading;
    std::size_t width;
    bool right;
    std::function<std::string(const StreamView& stream)> cell;
};

// Widths of columns that hold names.
constexpr std::size_t kClipWidthMax = 60;
constexpr std::size_t kLabelWidthMin = 4;
constexpr std::size_t kLabelWidthMax = 40;

/// Takes columns in order of their importance while they fit, gives the rest to the label, then sorts them.
std::vector<Column> columns_of(const ViewState& state,
                               const std::vector<std::size_t>& shown,
                               std::size_t columns) {
    std::size_t label = 6;
    std::size_t buffer = 3;
    std::size_t played = 6;
    std::size_t clip = 4;
    bool deadlines = false;
    bool stalls = false;
    bool reads = false;
    bool records = false;
    for (const std::size_t index : shown) {
        const StreamView& stream = state.streams[index];
        label = std::max(label, printable(stream.label).size());
        buffer = std::max(buffer, buffer_cell(stream).size());
        const std::string total = std::to_string(std::max(stream.frames_total, stream.on_time));
        played = std::max(played, stream.frames_total > 0 ? 2 * total.size() + 1 : total.size());
        clip = std::max(clip, printable(stream.clip).size());
        deadlines |= stream.period_ns > 0;
        stalls |= stream.stalls > 0;
        (stream.records ? records : reads) = true;
    }
    label = std::min(label, kLabelWidthMax);
    clip = std::min(clip, kClipWidthMax);
    const std::size_t bar_cells = columns >= kWideColumnsMin ? kBarCellsWide : kBarCells;
    const auto bar_cell = [bar_cells, utf8 = state.utf8](const StreamView& stream) {
        if (stream.period_ns == 0 || stream.over()) return std::string();
        return bar(stream.buffered, stream.readahead, bar_cells, utf8);
    };
    const std::pair<Column, bool> choices[] = {
        {{7, "DROPS", 6, true, [](const auto& stream) { return show_count(stream.bad); }}, true},
        {{3, "", buffer, true, buffer_cell}, deadlines},
        {{4, "MARGIN", 9, true,
          [](const auto& stream) { return stream.over() ? "-" : duration_or_dash(stream.margin_lately_ns); }},
         deadlines},
        {{2, "BUFFER", bar_cells + (state.utf8 ? 0 : 2), false, bar_cell}, deadlines},
        {{8, "STALLS", 6, true, [](const auto& stream) { return show_count(stream.stalls); }}, stalls},
        {{9, "LAST AT", 8, true, last_cell}, deadlines},
        {{5, "MIN MARGIN", 10, true, [](const auto& stream) { return duration_or_dash(stream.margin_min_ns); }},
         deadlines},
        {{10, "PLAYED", played, true, played_cell}, true},
        {{11,
          records && reads ? "BYTES"
          : records        ? "WRITTEN"
                           : "READ",
          8, true, [](const auto& stream) { return show_bytes(stream.bytes); }},
         true},
        {{12, "CLIP", clip, false, [](const auto& stream) { return printable(stream.clip); }}, true},
    };
    const auto state_cell = [elapsed_ns = state.elapsed_ns](const StreamView& stream) {
        return std::string(state_word(stream, elapsed_ns));
    };
    std::vector<Column> taken{{0, "STATE", kStateWidth, false, state_cell}};
    std::size_t used = kStateWidth;
    for (const auto& [column, wanted] : choices) {
        if (!wanted) continue;
        // The first column may narrow the label; the others take only what the label leaves.
        const std::size_t least = taken.size() == 1 ? kLabelWidthMin : label;
        if (used + 1 + column.width + 1 + least > columns) break;
        taken.push_back(column);
        used += 1 + column.width;
    }
    const std::size_t left = columns > used + 1 ? columns - used - 1 : 0;
    const auto label_cell = [is_short = left < label](const StreamView& stream) {
        return printable(is_short ? stream.short_label : stream.label);
    };
    taken.push_back({1, "STREAM", std::min(label, left), false, label_cell});
    std::ranges::sort(taken, {}, &Column::order);
    return taken;
}

/// The headings of a block.
ViewLine heading_line(const std::vector<Column>& taken, const std::string& marker) {
    ViewLine line{marker, Paint::faint};
    for (const Column& column : taken) line.text += padded(column.heading, column.width, column.right);
    return line;
}

/// "NOW" above the first column of this moment, "EVER" above the first one since the beginning.
ViewLine groups_line(const std::vector<Column>& taken, const std::string& marker) {
    ViewLine line{marker, Paint::faint};
    int last = 0;
    for (const Column& column : taken) {
        const bool now = last < kFirstNow && column.order >= kFirstNow && column.order < kFirstEver;
        const bool ever = last < kFirstEver && column.order >= kFirstEver;
        last = column.order;
        const bool right = column.right && ever;
        line.text += padded(now ? "NOW" : ever ? "EVER" : "", column.width, right);
    }
    return line;
}

}  // namespace

bool misses_now(const StreamView& stream, std::int64_t elapsed_ns) {
    if (stream.state != StreamState::playing) return stream.state == StreamState::waiting;
    const bool overdue = stream.margin_lately_ns.value_or(0) < 0;
    return overdue || (!stream.misses.empty() && elapsed_ns - stream.misses.front().at_ns < kNowNs);
}

bool tight_now(const StreamView& stream) {
    return stream.period_ns > 0 && stream.margin_lately_ns && *stream.margin_lately_ns * 4 < stream.period_ns;
}

std::vector<ViewLine> stream_lines(const ViewState& state,
                                   const std::vector<std::size_t>& shown,
                                   const TableShape& shape) {
    const auto all = static_cast<std::size_t>(std::max(shape.columns, 0));
    const std::size_t gaps = kBlockGap * (shape.blocks - 1);
    const std::size_t room = (all - std::min(all, gaps)) / shape.blocks;
    const bool marked = room >= kMarkedColumnsMin && state.keys;
    const std::vector<Column> taken = columns_of(state, shown, room - (marked ? 2 : 0));
    const std::string unmarked = marked ? "  " : "";
    std::vector<ViewLine> first;
    if (shape.groups) first.push_back(groups_line(taken, unmarked));
    if (shape.heading) first.push_back(heading_line(taken, unmarked));
    std::vector<ViewLine> lines;
    for (std::size_t block = 0; block < shape.blocks; ++block) {
        std::vector<ViewLine> its = first;
        const std::size_t end = std::min(shown.size(), (block + 1) * shape.rows);
        for (std::size_t i = block * shape.rows; i < end; ++i) {
            const StreamView& stream = state.streams[shown[i]];
            const bool selected = state.scroll.selected == shown[i];
            const std::string marker = marked && selected ? "> " : unmarked;
            ViewLine& line = its.emplace_back(
                ViewLine{marker, state_paint(stream, state.elapsed_ns), marker.size(), kStateWidth, selected});
            for (const Column& column : taken)
                line.text += padded(column.cell(stream), column.width, column.right);
        }
        for (ViewLine& line : its) line.text.pop_back();  // the space behind the last column
        if (block == 0) {
            lines = std::move(its);
            continue;
        }
        for (std::size_t i = 0; i < its.size(); ++i) {
            ViewLine& left = lines[i].beside.empty() ? lines[i] : lines[i].beside.back();
            const std::size_t width = room + kBlockGap;
            left.text += std::string(width - std::min(width, shown_width(left.text)), ' ');
            lines[i].beside.push_back(std::move(its[i]));
        }
    }
    return lines;
}

}  // namespace streamsim::view
