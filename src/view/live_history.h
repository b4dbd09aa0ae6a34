// The past of a run as the live view shows it: throughput and margin over time, and misses grouped as events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "streamsim/outcome.h"

namespace streamsim::view {

struct ViewState;

/// Misses of one reason that follow each other closely.
struct LiveEvent {
    std::int64_t from_ns = 0, to_ns = 0;  // from the first play_start
    std::uint64_t frames = 0;             // or stalls
    std::vector<std::size_t> streams;     // ViewState::streams
    DropReason reason = DropReason::late;
    FrameKind kind = FrameKind::dropped;
    bool stall = false;
    std::string timecode;  // of the first frame
};

/// A second, or 2, 4, 8 ... of a long run.
struct LivePoint {
    double bytes_per_s = 0;
    std::optional<std::int64_t> margin_min_ns;
};

class LiveHistory {
public:
    /// Takes over what has happened since the last call, and gives it to the state: `history` and `events`.
    /// `at_ns`: since the beginning of play; preroll is not kept.
    void note(std::int64_t at_ns, ViewState& state);

private:
    struct Seen {
        std::int64_t at_ns = INT64_MIN;
        std::uint64_t slot = 0;
        std::uint64_t missed = 0;  // frames and stalls
    };

    void note_point(std::int64_t at_ns, const ViewState& state);
    void note_misses(const ViewState& state);
    LiveEvent& event_of(std::size_t stream, const ViewState& state, std::size_t miss);

    std::vector<Seen> seen_;  // by stream
    std::vector<LiveEvent> events_;
    std::vector<LivePoint> points_;
    std::int64_t point_ns_ = 1'000'000'000;
};

/// The values as bars of eight heights from 0 to `most`, at most `columns` of them: neighbours are joined, by
/// `least` to the lower one. Values that are not known are blank.
std::string spark_line(
    const std::vector<std::optional<double>>& values, double most, std::size_t columns, bool least, bool utf8);

}  // namespace streamsim::view
