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

/// `moved`: the word for its bytes.
std::string storage_text(const EventEvidence& evidence, const std::string& moved) {
    std::vector<std::string> parts;
    if (evidence.no_data_ns.value_or(0) > 0)
        parts.push_back("no data for " + show_duration({*evidence.no_data_ns}));
    if (evidence.read_bytes_per_s)
        parts.push_back(moved + " " + show_rate(static_cast<double>(*evidence.read_bytes_per_s)));
    if (evidence.service_ns_max.value_or(0) > 0)
        parts.push_back("max service " + show_duration({*evidence.service_ns_max}));
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string network_text(const EventEvidence& evidence) {
    std::vector<std::string> parts;
    if (evidence.link_busy) parts.push_back("link " + show_percent(evidence.link_busy));
    if (evidence.rtt_ns) parts.push_back("RTT " + show_duration({*evidence.rtt_ns}));
    if (evidence.lost_segments) parts.push_back(counted(*evidence.lost_segments, "segment") + " lost");
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string computer_text(const EventEvidence& evidence) {
    std::vector<std::string> parts;
    if (evidence.cpu_busy) parts.push_back("processors " + show_percent(evidence.cpu_busy));
    if (evidence.run_queue_wait_ns)
        parts.push_back("run-queue wait " + show_duration({*evidence.run_queue_wait_ns}));
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string part_text(const EventEvidence& evidence) {
    return evidence.part.empty() ? "" : evidence.part + " " + show_percent(evidence.part_utilisation);
}

}  // namespace

Table events_table(const RunResult& result, std::size_t rows_max) {
    const std::vector<MissEvent>& events = result.events;
    const std::size_t shown = std::min(events.size(), rows_max);
    Table table{.title = "Missed frames, as events", .css_class = "events"};
    std::vector<std::string> notes;
    if (events.size() > shown)
        notes.push_back(fmt::format("{} more events: events in --json", show_count(events.size() - shown)));
    if (result.drops_omitted > 0)
        notes.push_back(fmt::format("{} in no event: beyond what is kept of a stream",
                                    counted(result.drops_omitted, "missed frame")));
    table.note = fmt::format("{}", fmt::join(notes, "; "));
    table.right({"from"});
    table.right({"to"}, Keep::always, Form::page);
    table.right({"length", "frames"});
    table.right({"stalls"}, Keep::where_not_zero);
    table.right({"streams"});
    table.left({"first frame", "cause"});
    table.left({judges_storage(result) ? "storage" : "delivery"}, Keep::where_not_zero, Form::page);
    table.left({"network", "this computer"}, Keep::where_not_zero, Form::page);
    table.left({"busiest part"}, Keep::where_not_zero, Form::page);
    for (std::size_t i = 0; i < shown; ++i) {
        const MissEvent& event = events[i];
        const std::string prefix = fmt::format("events.{}.", i);
        const auto clock = [&prefix](const char* key, std::int64_t ns) {
            Cell cell = time_cell(prefix + key, ns);
            cell.text = show_clock(ns, true);
            return cell;
        };
        table.row({clock("from_ns", event.from_ns), clock("to_ns", event.to_ns),
                   time_cell(event.to_ns - event.from_ns), count_cell(prefix + "frames", event.frames),
                   count_cell(prefix + "stalls", event.stalls), count_cell(prefix + "streams", event.streams),
                   name_cell(show_first_frame(result, event)), to_string(event.cause),
                   storage_text(event.evidence, moved_word(result)), network_text(event.evidence),
                   computer_text(event.evidence), part_text(event.evidence)});
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
    table.left({"timecode"});
    table.right({"missed"});
    table.left({"file"});
    for (const Repetition& frame : often) {
        const DropRecord& drop = *frame.drop;
        table.row({stream_name(drop.seat, drop.stream, seats), drop.timecode,
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
