// The live view: the streams of a run, redrawn in place on a terminal's alternate screen. It leaves nothing
// behind on the terminal; the report follows it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "view/live_lines.h"
#include "view/screen.h"

namespace streamsim::view {

/// Draws on a terminal, and reads keys if there is a keyboard. Not thread-safe: one thread draws. Call leave()
/// before anything else is written to the same terminal.
class LiveView {
public:
    /// True if `fd` is a terminal that can be drawn on (and not TERM=dumb).
    static bool possible(int fd);
    /// True if `fd` is a terminal and NO_COLOR is not set.
    static bool colours_wanted(int fd);

    /// `fd` and `keys` stay the caller's; `keys` below 0: no keyboard. REQUIRES: possible(fd).
    LiveView(int fd, int keys, bool colour) : fd_(fd), keys_(keys), colour_(colour), screen_(fd, keys) {}
    LiveView(const LiveView&) = delete;
    LiveView& operator=(const LiveView&) = delete;

    /// The keys typed since the last call that are not the view's own: quit, add, remove, begin.
    std::vector<Key> typed();
    /// Writes the lines that changed since the last call, or all of them if the terminal's size changed.
    /// `scroll`, `keys` and `utf8` of the state are the view's own.
    void draw(ViewState state);
    /// The same of any lines; what does not fit is cut.
    void draw(const std::function<std::vector<ViewLine>(int columns, int rows)>& lines_for);
    /// The stream chosen with the keys; nullopt: none.
    std::optional<std::size_t> selected() const { return scroll_.selected; }
    /// Restores the terminal.
    void leave() { screen_.leave(); }

private:
    std::string painted(const ViewLine& line) const;

    const int fd_;
    const int keys_;
    const bool colour_;
    Screen screen_;
    KeyParser parser_;
    Scroll scroll_;
    std::vector<std::size_t> order_;  // as last drawn
    std::size_t in_view_ = 0;
    int columns_ = 0;
    int rows_ = 0;
    std::vector<std::string> drawn_;
};

}  // namespace streamsim::view
