// The alternate screen of a terminal for the live view, without a cursor, with keys read one by one. The
// terminal's own state is restored by whatever ends or stops the process: leave(), the destructor, a failed
// check, a signal that kills, Ctrl-Z. After `fg` the next keep() takes the screen again.
#pragma once

#include <string>

namespace streamsim::view {

/// One in a process, on one thread.
class Screen {
public:
    /// True if `fd` is a terminal and the process is in its foreground, so that keys can be read.
    static bool keys_possible(int fd);

    /// Draws on `out`. Keys come from `in`; below 0: there are none. Both stay the caller's.
    Screen(int out, int in);
    ~Screen();
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    /// Call before each draw. False: the process is in the background and must not draw. Sets `taken` to true
    /// when the screen is empty: at first, and after Ctrl-Z.
    bool keep(bool& taken);
    /// The keys typed since the last call, as bytes.
    std::string typed() const;
    void leave();

    /// Restores the terminal from any thread, for a process that ends at once. Writes nothing to a terminal
    /// that takes nothing.
    static void give_back_at_once();

private:
    const int out_;
    const int in_;
    [[maybe_unused]] bool taken_ = false;  // unused where no signal handler reads it
    bool left_ = false;
};

}  // namespace streamsim::view
