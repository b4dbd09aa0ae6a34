// The live view: a header and one line per stream, redrawn in place on a terminal. It shows what is known at
// the moment and leaves nothing behind; the report says everything again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "streamsim/progress.h"

namespace streamsim {

/// One stream at one moment.
struct StreamView {
    std::string label;               // "1 dpx12", "seat 2, 3 dpx12"
    std::uint64_t frames_total = 0;  // 0: not known (--fps max)
    std::int64_t period_ns = 0;      // 0: no deadlines
    std::uint32_t readahead = 0;

    std::uint64_t due = 0;
    std::uint64_t on_time = 0;
    std::uint64_t bad = 0;
    std::uint64_t stalls = 0;
    std::uint64_t bytes = 0;
    std::uint32_t buffered = 0;
    std::optional<std::int64_t> margin_min_ns;  // nullopt: no frame yet

    /// Takes over what the player's thread has written so far.
    void read(const StreamProgress& progress);
};

struct ViewState {
    std::string title;            // "4 streams of dpx12 at 24 fps from /mnt/x"
    std::int64_t elapsed_ns = 0;  // played; below 0 or 0: still in preroll
    std::int64_t total_ns = 0;    // 0: not known
    double bytes_per_s = 0;       // lately, as the caller measured it
    double required_bytes_per_s = 0;
    std::vector<StreamView> streams;
};

/// The lines for a terminal of this size, without colours and without newlines, each at most `columns` wide and
/// at most `rows` of them. Where not all streams fit, the worst are shown and the last line counts the others.
std::vector<std::string> live_lines(const ViewState& state, int columns, int rows);

/// Draws on a terminal. Not thread-safe: one thread draws. Before anything else is written to the same
/// terminal, call erase().
class LiveView {
public:
    /// Whether `fd` is a terminal that can be drawn on (and not TERM=dumb).
    static bool possible(int fd);
    /// Whether colours are wanted on `fd`: a terminal, and NO_COLOR is not set.
    static bool colours_wanted(int fd);

    /// `fd` stays the caller's. REQUIRES: possible(fd).
    LiveView(int fd, bool colour) : fd_(fd), colour_(colour) {}
    ~LiveView() { erase(); }
    LiveView(const LiveView&) = delete;
    LiveView& operator=(const LiveView&) = delete;

    void draw(const ViewState& state);
    /// Takes the view off the terminal; the next draw begins at the cursor. Does nothing when nothing is drawn.
    void erase();

private:
    int fd_;
    bool colour_;
    int drawn_ = 0;
};

}  // namespace streamsim
