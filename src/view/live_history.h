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
    /// Takes over what has happened since the last call, and gives it to the state: `history`, its step and
    /// `events`. `at_ns`: since the beginning of play; preroll is not kept.
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

/// How values become a chart of characters.
struct SparkShape {
    std::size_t columns = 0;
    std::size_t rows = 1;    // eight heights each
    std::size_t points = 0;  // of the whole run, where that is known: so many fill the columns
    bool least = false;      // neighbours that are joined: the lower one counts
    bool utf8 = false;
};

/// The values as bars from 0 to `most`, the top row first. If there are more values than columns, neighbours
/// are joined; if the run has fewer points, each is several columns wide. Values that are not known are blank.
std::vector<std::string> spark_chart(const std::vector<std::optional<double>>& values,
                                     double most,
                                     const SparkShape& shape);

}  // namespace streamsim::view
