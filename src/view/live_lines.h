// What the live view shows, as lines of text: pure, from the state of a run and the size of a terminal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "streamsim/progress.h"
#include "view/keys.h"
#include "view/meter_table.h"

namespace streamsim::view {

/// One stream at one moment.
struct StreamView {
    std::string label;               // "1 dpx12", "seat 2, 3 dpx12"
    std::string short_label;         // "1", "2.3": where there is little room
    std::string clip;                // what it plays
    std::uint64_t frames_total = 0;  // 0: not known (--fps max)
    std::int64_t period_ns = 0;      // 0: no deadlines
    std::uint32_t readahead = 0;

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

    /// Takes over what the player's thread has written so far.
    void read(const StreamProgress& progress);
    bool over() const { return state == StreamState::ended || state == StreamState::removed; }
};

/// Which streams of many are in view.
struct Scroll {
    std::optional<std::size_t> selected;  // a stream's place in ViewState::streams
    std::size_t top = 0;                  // of the streams in the order shown, the first in view
    bool worst_first = false;

    /// `order`: streams as they are shown; `page`: how many of them are in view. Keys that mean something else
    /// do nothing.
    void handle(Key key, const std::vector<std::size_t>& order, std::size_t page);
};

struct ViewState {
    std::string title;            // "4 streams of dpx12 from /mnt/x"
    std::int64_t elapsed_ns = 0;  // played; below 0 or 0: still in preroll
    std::int64_t total_ns = 0;    // 0: not known
    double bytes_per_s = 0;       // lately, as the caller measured it
    double required_bytes_per_s = 0;
    std::vector<StreamView> streams;
    std::vector<MeterView> meters;
    bool faults_injected = false;  // by streamsim: what is seen says nothing about the storage
    std::string message;           // what was said last; empty: nothing
    bool keys = false;             // somebody can type
    bool can_add = false;          // and that adds and removes streams
    bool utf8 = false;             // bars of blocks; else of ASCII
    Scroll scroll;
};

enum class Paint : std::uint8_t { plain, faint, strong, good, warning, bad };

constexpr std::size_t kWholeLine = SIZE_MAX;

/// One line of the view; the paint is of `painted` characters from `from` on.
struct ViewLine {
    std::string text;
    Paint paint = Paint::plain;
    std::size_t from = 0;
    std::size_t painted = 0;
    bool selected = false;
};

/// The streams in the order in which they are shown.
std::vector<std::size_t> shown_order(const ViewState& state);
/// How many streams are in view on a terminal with so many rows.
std::size_t streams_in_view(const ViewState& state, int rows);

/// The lines for a terminal of this size, without newlines, each at most `columns` wide and at most `rows` of
/// them. What matters least is left out where there is little room.
std::vector<ViewLine> live_lines(const ViewState& state, int columns, int rows);

/// One line for a pipe: "12.0 s of 60.0 s  4 streams  480.1 of 460.0 MB/s  buffer min 7/8  0 not in time", and
/// what the meters do.
std::string progress_text(const ViewState& state);

}  // namespace streamsim::view
