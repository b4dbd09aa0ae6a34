#include "view/stream_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "base/utf8.h"
#include "view/terminal.h"

namespace streamsim::view {
namespace {

constexpr std::size_t kStateWidth = 7;
constexpr std::size_t kBarCells = 8;
constexpr std::size_t kBarCellsWide = 16;
constexpr std::size_t kWideFrom = 120;  // columns
constexpr std::size_t kClipMax = 60;
constexpr std::size_t kLabelMin = 4;
constexpr std::size_t kLabelMax = 40;
constexpr std::size_t kMarkedFrom = 30;  // columns

bool tight(const StreamView& stream) {
    // A quarter of a frame is what the report calls tight.
    return stream.period_ns > 0 && stream.margin_min_ns && *stream.margin_min_ns * 4 < stream.period_ns;
}

std::string duration_or_dash(const std::optional<std::int64_t>& ns) {
    return ns ? show_duration({*ns}) : "-";
}

}  // namespace

const char* state_word(const StreamView& stream) {
    switch (stream.state) {
        case StreamState::idle: return "waits";
        case StreamState::prerolling: return "preroll";
        case StreamState::waiting: return "STALLED";
        case StreamState::removed: return "removed";
        case StreamState::playing:
        case StreamState::ended: break;
    }
    if (stream.bad > 0 || stream.stalls > 0) return "DROPS";
    if (stream.state == StreamState::ended) return "ended";
    return tight(stream) ? "TIGHT" : "ok";
}

Paint state_paint(const StreamView& stream) {
    if (stream.state == StreamState::removed) return Paint::faint;
    if (stream.state == StreamState::waiting || stream.bad > 0 || stream.stalls > 0) return Paint::bad;
    if (stream.state == StreamState::ended) return Paint::faint;
    if (stream.state != StreamState::playing) return Paint::plain;
    return tight(stream) ? Paint::warning : Paint::good;
}

StreamTable::StreamTable(const ViewState& state, const std::vector<std::size_t>& shown, int columns)
    : state_(state) {
    const auto room = static_cast<std::size_t>(std::max(columns, 0));
    marked_ = room >= kMarkedFrom && state.keys;
    choose(shown, room - (marked_ ? 2 : 0));
}

/// Adds columns by what they tell, and lets the label have what is left; then brings them in order.
void StreamTable::choose(const std::vector<std::size_t>& shown, std::size_t columns) {
    std::size_t label = 6;
    std::size_t buffer = 3;
    std::size_t played = 6;
    std::size_t clip = 4;
    bool deadlines = false;
    bool stalls = false;
    for (const std::size_t index : shown) {
        const StreamView& stream = state_.streams[index];
        label = std::max(label, printable(stream.label).size());
        buffer = std::max(buffer, buffer_cell(stream).size());
        const std::string total = std::to_string(std::max(stream.frames_total, stream.on_time));
        played = std::max(played, stream.frames_total > 0 ? 2 * total.size() + 1 : total.size());
        clip = std::max(clip, printable(stream.clip).size());
        deadlines |= stream.period_ns > 0;
        stalls |= stream.stalls > 0;
    }
    label = std::min(label, kLabelMax);
    clip = std::min(clip, kClipMax);
    bar_cells_ = columns >= kWideFrom ? kBarCellsWide : kBarCells;
    using T = StreamTable;
    struct Choice {
        int place;
        Column column;
        bool wanted;
    };
    const Choice choices[] = {
        {7, {"DROPS", 6, true, &T::drops_cell}, true},
        {3, {"", buffer, true, &T::buffer_cell}, deadlines},
        {4, {"MARGIN", 9, true, &T::lately_cell}, deadlines},
        {2, {"BUFFER", bar_cells_ + (state_.utf8 ? 0 : 2), false, &T::bar_cell}, deadlines},
        {8, {"STALLS", 6, true, &T::stalls_cell}, stalls},
        {9, {"LAST AT", 8, true, &T::last_cell}, deadlines},
        {5, {"TIGHTEST", 9, true, &T::tightest_cell}, deadlines},
        {10, {"PLAYED", played, true, &T::played_cell}, true},
        {11, {"READ", 8, true, &T::read_cell}, true},
        {12, {"CLIP", clip, false, &T::clip_cell}, true},
    };
    std::vector<std::pair<int, Column>> taken{{0, {"STATE", kStateWidth, false, &T::state_cell}}};
    std::size_t used = kStateWidth;
    for (const Choice& choice : choices) {
        if (!choice.wanted) continue;
        // The first one may press the label, the others only take what it leaves.
        const std::size_t least = taken.size() == 1 ? kLabelMin : label;
        if (used + 1 + choice.column.width + 1 + least > columns) break;
        taken.emplace_back(choice.place, choice.column);
        used += 1 + choice.column.width;
    }
    const std::size_t left = columns > used + 1 ? columns - used - 1 : 0;
    short_labels_ = left < label;
    taken.push_back({1, {"STREAM", std::min(label, left), false, &T::label_cell}});
    std::sort(taken.begin(), taken.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [place, column] : taken) columns_.push_back(column);
}

ViewLine StreamTable::heading() const {
    std::string text = marker(false);
    for (const Column& column : columns_) {
        const std::string heading = clip(column.heading, static_cast<int>(column.width));
        text += column.right ? fmt::format("{:>{}} ", heading, column.width)
                             : fmt::format("{:<{}} ", heading, column.width);
    }
    return {text, Paint::faint, 0, kWholeLine, false};
}

ViewLine StreamTable::row(std::size_t index) const {
    const StreamView& stream = state_.streams[index];
    const bool selected = state_.scroll.selected == index;
    ViewLine line{marker(selected), state_paint(stream), marker(selected).size(), kStateWidth, selected};
    for (const Column& column : columns_) {
        const std::string cell = clip((this->*column.cell)(stream), static_cast<int>(column.width));
        line.text += column.right ? fmt::format("{:>{}} ", cell, column.width)
                                  : fmt::format("{:<{}} ", cell, column.width);
    }
    return line;
}

std::string StreamTable::state_cell(const StreamView& stream) const {
    return state_word(stream);
}

std::string StreamTable::label_cell(const StreamView& stream) const {
    return printable(short_labels_ ? stream.short_label : stream.label);
}

std::string StreamTable::clip_cell(const StreamView& stream) const {
    return printable(stream.clip);
}

std::string StreamTable::bar_cell(const StreamView& stream) const {
    if (stream.period_ns == 0 || stream.over()) return {};
    return bar(stream.buffered, stream.readahead, bar_cells_, state_.utf8);
}

std::string StreamTable::buffer_cell(const StreamView& stream) const {
    if (stream.period_ns == 0 || stream.over()) return "-";
    return fmt::format("{}/{}", stream.buffered, stream.readahead);
}

std::string StreamTable::lately_cell(const StreamView& stream) const {
    return stream.over() ? "-" : duration_or_dash(stream.margin_lately_ns);
}

std::string StreamTable::tightest_cell(const StreamView& stream) const {
    return duration_or_dash(stream.margin_min_ns);
}

std::string StreamTable::drops_cell(const StreamView& stream) const {
    return show_count(stream.bad);
}

std::string StreamTable::stalls_cell(const StreamView& stream) const {
    return show_count(stream.stalls);
}

std::string StreamTable::last_cell(const StreamView& stream) const {
    return stream.misses.empty() ? "-" : show_duration({stream.misses.front().at_ns});
}

std::string StreamTable::played_cell(const StreamView& stream) const {
    if (stream.frames_total == 0) return std::to_string(stream.on_time);
    return fmt::format("{}/{}", stream.due, stream.frames_total);
}

std::string StreamTable::read_cell(const StreamView& stream) const {
    return show_bytes(stream.bytes);
}

}  // namespace streamsim::view
