// The tables of missed frames and their causes.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/units.h"
#include "report/facts/selection.h"
#include "report/facts/show.h"
#include "report/tables/run_tables.h"

namespace streamsim::report {
namespace {

constexpr std::size_t kRepetitionRowsMax = 20;

/// A frame of a clip, and how often it was missed.
struct Repetition {
    const DropRecord* drop = nullptr;
    std::uint64_t times = 0;
};

/// The frames that were missed more than once, the most often missed first.
std::vector<Repetition> repetitions(const RunResult& result) {
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, Repetition> frames;
    for (const DropRecord& drop : result.drops) {
        Repetition& frame = frames[{drop.seat, drop.stream, drop.clip_frame}];
        if (frame.times++ == 0) frame.drop = &drop;
    }
    std::vector<Repetition> out;
    for (const auto& [key, frame] : frames) {
        if (frame.times > 1) out.push_back(frame);
    }
    std::ranges::stable_sort(out, std::ranges::greater{}, &Repetition::times);
    return out;
}

}  // namespace

Table drops_table(const RunResult& result, std::size_t rows_max) {
    const std::vector<std::size_t> shown = earliest_drops(result, rows_max);
    const std::uint64_t all = result.drops.size() + result.drops_omitted;
    const bool seats = several_seats(result);
    Table table{.title = "Missed frames"};
    if (all > shown.size()) {
        table.title =
            fmt::format("Missed frames (the first {} of {})", show_count(shown.size()), show_count(all));
        table.note = fmt::format("{} more: --csv, or drops in --json", show_count(all - shown.size()));
    }
    table.left({seats ? "seat.stream" : "stream"});
    table.right({"frame"});
    table.left({"timecode"});
    table.right({"deadline", "late by"});
    table.left({"what", "why"});
    table.left({"attributed to"}, Keep::always, Form::page);
    table.left({"file"});
    for (const std::size_t index : shown) {
        const DropRecord& drop = result.drops[index];
        const std::string prefix = fmt::format("drops.{}.", index);
        Cell deadline = time_cell(prefix + "due_ns", drop.due_ns);
        deadline.text = show_clock(drop.due_ns, true);
        table.row({stream_name(drop.seat, drop.stream, seats), count_cell(prefix + "frame", drop.frame),
                   drop.timecode, std::move(deadline), show_lateness(drop), to_string(drop.kind),
                   show_reason(drop, result.model.has_value()), to_string(drop.cause), name_cell(drop.file)});
    }
    return table;
}

Table repetitions_table(const RunResult& result) {
    std::vector<Repetition> often = repetitions(result);
    const std::size_t count = often.size();
    often.resize(std::min(count, kRepetitionRowsMax));
    const bool seats = several_seats(result);
    Table table{.title = "Frames of clips that were missed more than once"};
    table.left({seats ? "seat.stream" : "stream"});
    table.right({"frame of the clip"});
    table.left({"timecode"});
    table.right({"missed"});
    table.left({"file"});
    for (const Repetition& frame : often) {
        const DropRecord& drop = *frame.drop;
        table.row({stream_name(drop.seat, drop.stream, seats), count_cell(drop.clip_frame), drop.timecode,
                   fmt::format("{} times", show_count(frame.times)), name_cell(drop.file)});
    }
    if (count > often.size())
        table.note = fmt::format("{} more frames, missed as often or less", show_count(count - often.size()));
    return table;
}

Table causes_table(const RunResult& result) {
    Table table{.title = "What the missed frames are attributed to", .css_class = "named prose"};
    table.left({"cause", "limit"});
    table.right({"frames"});
    table.right({"stalls"}, Keep::where_not_zero);
    table.left({"in short"});
    table.left({"for an engineer"}, Keep::where_not_zero);
    for (std::size_t i = 0; i < result.causes.size(); ++i) {
        const CauseResult& cause = result.causes[i];
        const std::string prefix = fmt::format("causes.{}.", i);
        table.row({to_string(cause.cause), to_string(cause.limit), count_cell(prefix + "frames", cause.frames),
                   count_cell(prefix + "stalls", cause.stalls), cause.summary, cause.detail});
    }
    return table;
}

}  // namespace streamsim::report
