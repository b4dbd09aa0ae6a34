// The live view: what plays, redrawn in place on a terminal's alternate screen. It shows what is known at the
// moment and leaves nothing behind; the report says everything again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "view/live_lines.h"
#include "view/screen.h"

namespace streamsim::view {

/// Draws on a terminal, and reads keys where there are some. Not thread-safe: one thread draws. Before anything
/// else is written to the same terminal, call leave().
class LiveView {
public:
    /// Whether `fd` is a terminal that can be drawn on (and not TERM=dumb).
    static bool possible(int fd);
    /// Whether colours are wanted on `fd`: a terminal, and NO_COLOR is not set.
    static bool colours_wanted(int fd);

    /// `fd` and `keys` stay the caller's; `keys` below 0: nobody types. REQUIRES: possible(fd).
    LiveView(int fd, int keys, bool colour) : fd_(fd), keys_(keys), colour_(colour), screen_(fd, keys) {}
    LiveView(const LiveView&) = delete;
    LiveView& operator=(const LiveView&) = delete;

    /// What was typed since the last call and is not about the view itself: quit, add, remove.
    std::vector<Key> typed();
    /// Writes what has changed since the last time, or everything where the terminal has another size now.
    /// `scroll`, `keys` and `utf8` of the state are the view's own.
    void draw(ViewState state);
    /// The stream that a person has chosen; nullopt: none.
    std::optional<std::size_t> selected() const { return scroll_.selected; }
    /// Gives the terminal back, as it was.
    void leave() { screen_.leave(); }

private:
    std::string painted(const ViewLine& line) const;

    const int fd_;
    const int keys_;
    const bool colour_;
    Screen screen_;
    KeyParser parser_;
    Scroll scroll_;
    std::vector<std::size_t> order_;  // as drawn last
    std::size_t in_view_ = 0;
    int columns_ = 0;
    int rows_ = 0;
    std::vector<std::string> drawn_;
};

}  // namespace streamsim::view
