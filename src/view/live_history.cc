#include "view/live_history.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/units.h"
#include "view/live_lines.h"

namespace streamsim::view {
namespace {

constexpr std::size_t kPointsMax = 1024;
constexpr std::size_t kEventsKept = 64;
constexpr std::int64_t kPauseNs = 100'000'000;
constexpr std::int64_t kPausePeriods = 3;

template <typename Value>
std::optional<Value> lower(const std::optional<Value>& a, const std::optional<Value>& b) {
    return a && b ? std::min(a, b) : a ? a : b;
}

}  // namespace

void LiveHistory::note(std::int64_t at_ns, ViewState& state) {
    if (at_ns > 0) note_point(at_ns, state);
    note_misses(state);
    state.history = points_;
    state.history_step_ns = point_ns_;
    state.events = events_;
}

void LiveHistory::note_point(std::int64_t at_ns, const ViewState& state) {
    while (static_cast<std::size_t>(at_ns / point_ns_) >= kPointsMax) {
        for (std::size_t i = 0; i < points_.size(); ++i) {
            LivePoint& into = points_[i / 2];
            if (i % 2 == 0) {
                into = points_[i];
                continue;
            }
            into.bytes_per_s = (into.bytes_per_s + points_[i].bytes_per_s) / 2;
            into.margin_min_ns = lower(into.margin_min_ns, points_[i].margin_min_ns);
        }
        points_.resize((points_.size() + 1) / 2);
        point_ns_ *= 2;
    }
    const auto index = static_cast<std::size_t>(at_ns / point_ns_);
    if (index >= points_.size()) points_.resize(index + 1);
    LivePoint& point = points_[index];
    point.bytes_per_s = state.bytes_per_s;
    for (const StreamView& stream : state.streams) {
        if (!stream.over()) point.margin_min_ns = lower(point.margin_min_ns, stream.margin_lately_ns);
    }
}

namespace {

/// The first frame after a stall was submitted too late as well: it belongs to what came before.
bool of_one_kind(const LiveEvent& event, const Miss& miss) {
    const bool follows = event.reason == DropReason::late && miss.reason == DropReason::client;
    return event.stall == miss.stall && (event.reason == miss.reason || follows);
}

}  // namespace

LiveEvent& LiveHistory::event_of(std::size_t stream, const ViewState& state, std::size_t which) {
    const StreamView& view = state.streams[stream];
    const Miss& miss = view.misses[which];
    const std::int64_t pause_ns = std::max(kPauseNs, kPausePeriods * view.period_ns);
    for (auto event = events_.rbegin(); event != events_.rend(); ++event) {
        if (of_one_kind(*event, miss) && miss.at_ns - event->to_ns <= pause_ns) return *event;
    }
    if (events_.size() >= kEventsKept) events_.erase(events_.begin());
    LiveEvent& event = events_.emplace_back();
    event.from_ns = event.to_ns = miss.at_ns;
    event.reason = miss.reason;
    event.kind = miss.kind;
    event.stall = miss.stall;
    event.timecode = timecode(miss.clip_frame, view.rate);
    return event;
}

void LiveHistory::note_misses(const ViewState& state) {
    seen_.resize(std::max(seen_.size(), state.streams.size()));
    std::vector<std::tuple<std::int64_t, std::size_t, std::size_t>> fresh;  // time, stream, index of its misses
    for (std::size_t i = 0; i < state.streams.size(); ++i) {
        const std::vector<Miss>& misses = state.streams[i].misses;
        for (std::size_t k = 0; k < misses.size(); ++k) {
            if (std::pair(misses[k].at_ns, misses[k].slot) > std::pair(seen_[i].at_ns, seen_[i].slot))
                fresh.emplace_back(misses[k].at_ns, i, k);
        }
    }
    std::ranges::sort(fresh);
    // A stream keeps its last few misses: those that it has lost meanwhile belong to the oldest that it has.
    // Overdue frames are counted before they come, and are then among its misses.
    std::vector<std::uint64_t> left(state.streams.size());  // of its fresh misses
    for (const auto& each : fresh) ++left[std::get<1>(each)];
    for (const auto& [at_ns, i, k] : fresh) {
        LiveEvent& event = event_of(i, state, k);
        event.to_ns = std::max(event.to_ns, at_ns + state.streams[i].period_ns);
        if (std::ranges::find(event.streams, i) == event.streams.end()) event.streams.push_back(i);
        const std::uint64_t missed = state.streams[i].bad + state.streams[i].stalls;
        --left[i];
        const std::uint64_t upto = std::max(missed - std::min(missed, left[i]), seen_[i].missed);
        event.frames += std::max<std::uint64_t>(upto - seen_[i].missed, event.frames == 0 ? 1 : 0);
        seen_[i].missed = upto;
        seen_[i].at_ns = at_ns;
        seen_[i].slot = state.streams[i].misses[k].slot;
    }
}

std::vector<std::string> spark_chart(const std::vector<std::optional<double>>& values,
                                     double most,
                                     const SparkShape& shape) {
    constexpr const char* kBlocks[] = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                       "\u2585", "\u2586", "\u2587", "\u2588"};
    constexpr const char* kLetters[] = {" ", ".", ".", ":", "-", "=", "+", "*", "#"};
    std::vector<std::string> out(shape.rows);
    if (shape.columns == 0 || values.empty()) return out;
    const std::size_t step = (values.size() + shape.columns - 1) / shape.columns;
    const std::size_t points = std::max(values.size(), shape.points);
    const std::size_t width = std::max<std::size_t>(1, shape.columns / points);
    for (std::size_t i = 0; i < values.size(); i += step) {
        std::optional<double> joined;
        for (std::size_t k = i; k < std::min(i + step, values.size()); ++k) {
            if (!values[k]) continue;
            joined = !joined       ? *values[k]
                     : shape.least ? std::min(*joined, *values[k])
                                   : std::max(*joined, *values[k]);
        }
        const double full = static_cast<double>(8 * shape.rows);
        const auto height =
            joined && most > 0 ? std::llround(std::clamp(std::ceil(*joined / most * full), 1.0, full)) : 0;
        for (std::size_t row = 0; row < shape.rows; ++row) {
            const auto below = static_cast<std::int64_t>(8 * (shape.rows - 1 - row));
            const auto eighths = static_cast<std::size_t>(std::clamp<std::int64_t>(height - below, 0, 8));
            for (std::size_t k = 0; k < width; ++k) out[row] += (shape.utf8 ? kBlocks : kLetters)[eighths];
        }
    }
    return out;
}

}  // namespace streamsim::view
