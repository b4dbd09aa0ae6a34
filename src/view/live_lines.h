// The live view as lines of text: pure functions of the state of a run and the size of a terminal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "streamsim/progress.h"
#include "view/keys.h"
#include "view/live_history.h"

namespace streamsim::view {

/// One stream at one moment.
struct StreamView {
    std::string label;        // "1 dpx12", "seat 2, 3 dpx12"
    std::string short_label;  // "1", "2.3": for narrow terminals
    std::string clip;
    std::uint64_t frames_total = 0;  // 0: not known (--fps max)
    std::int64_t period_ns = 0;      // 0: no deadlines
    FrameRate rate = {};             // of the clip, for its time codes
    std::uint32_t readahead = 0;
    bool records = false;  // its bytes are written

    StreamState state = StreamState::idle;
    std::uint64_t due = 0;
    std::uint64_t on_time = 0;
    std::uint64_t bad = 0;
    std::uint64_t stalls = 0;
    std::uint64_t bytes = 0;
    std::uint32_t buffered = 0;
    std::optional<std::int64_t> margin_min_ns;     // nullopt: no frame yet
    std::optional<std::int64_t> margin_lately_ns;  // of the last second or two
    std::vector<Miss> misses;                      // the last few, the last one first

    /// Copies the counters that the player's thread has written so far.
    void read(const StreamProgress& progress);
    bool over() const { return state == StreamState::ended || state == StreamState::removed; }
};

/// The counters of a meter so far, over all of its seats.
struct MeterCounts {
    std::uint64_t done = 0, failed = 0;
    std::uint64_t bytes_read = 0, bytes_written = 0;
    std::int64_t response_sum_ns = 0;

    /// Adds the counters that the meter's thread has written so far.
    void add(const MeterProgress& progress);
};

struct MeterView {
    std::string name;
    MeterCounts counts;
    // The rates of the last interval, as the caller measured them:
    double operations_per_s = 0, read_bytes_per_s = 0, write_bytes_per_s = 0;
    std::optional<double> latency_ns;  // mean; nullopt: no operation ended in the interval

    /// Computes the rates from `before` to `counts`, over `ns`.
    void measure(const MeterCounts& before, std::int64_t ns);
};

/// Which streams of many are in view.
struct Scroll {
    std::optional<std::size_t> selected;  // index in ViewState::streams
    std::size_t top = 0;                  // the first stream in view, by the order shown
    bool worst_first = false;

    /// `order`: streams as they are shown; `page`: how many of them are in view. Ignores keys that do not
    /// scroll.
    void handle(Key key, const std::vector<std::size_t>& order, std::size_t page);
};

struct ViewState {
    std::string title;            // "4 streams of dpx12 from /mnt/x"
    std::int64_t elapsed_ns = 0;  // of play; 0 or less in preroll
    std::int64_t total_ns = 0;    // 0: not known
    double bytes_per_s = 0;       // of the last interval, as the caller measured it
    double required_bytes_per_s = 0;
    std::vector<StreamView> streams;
    std::vector<MeterView> meters;
    std::vector<LivePoint> history;  // the first of them from the beginning of play
    std::int64_t history_step_ns = 1'000'000'000;
    std::vector<LiveEvent> events;  // the last few, by time
    bool faults_injected = false;   // by streamsim: the numbers say nothing about the storage
    std::string message;            // the last message; empty: none
    bool keys = false;              // the view reads keys
    bool can_add = false;           // keys add and remove streams
    bool utf8 = false;              // bars are drawn with block characters, else with ASCII
    Scroll scroll;
};

enum class Paint : std::uint8_t { plain, faint, strong, good, warning, bad };

/// One line of the view; `painted` characters from `from` on have the paint.
struct ViewLine {
    std::string text;
    Paint paint = Paint::plain;
    std::size_t from = 0;
    std::size_t painted = SIZE_MAX;  // at most: the whole line
    bool selected = false;
    std::vector<ViewLine> beside = {};  // right of it, each with its own paint

    /// With what is beside it.
    std::string whole_text() const;
};

/// The streams in the order in which they are shown.
std::vector<std::size_t> shown_order(const ViewState& state);
/// The number of streams in view on a terminal of this size.
std::size_t streams_in_view(const ViewState& state, int columns, int rows);

/// The lines for a terminal of this size, without newlines, each at most `columns` wide and at most `rows` of
/// them. A small terminal shows less.
std::vector<ViewLine> live_lines(const ViewState& state, int columns, int rows);

/// One line for a pipe: "12.0 s of 60.0 s  4 streams  480.1 of 460.0 MB/s  buffer min 7/8  0 missed", and the
/// rates of the meters.
std::string progress_text(const ViewState& state);

// The meters alone: meter_table.cc.

/// The sums over all meters.
MeterView all_of(const std::vector<MeterView>& meters);
/// "1,204 op/s, 310.2 MB/s read, 295.1 MB/s written, 0 failed".
std::string meters_text(const std::vector<MeterView>& meters);
/// A heading and a line for each meter; if that is more than `lines_max`, the last line counts the others.
/// REQUIRES: lines_max > 1.
std::vector<ViewLine> meter_lines(const std::vector<MeterView>& meters, std::size_t lines_max);

}  // namespace streamsim::view
