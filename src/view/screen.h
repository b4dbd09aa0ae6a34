// The terminal while the live view has it: its alternate screen, without a cursor, and keys that come one by
// one. Whatever ends or stops the process gives it back as it was: leave(), the destructor, a failed check, a
// signal that kills, Ctrl-Z. After `fg` the next keep() takes it again.
#pragma once

#include <string>

namespace streamsim::view {

/// One in a process, on one thread.
class Screen {
public:
    /// Whether keys can be read from `fd`: a terminal, and the process has it.
    static bool keys_possible(int fd);

    /// Draws on `out`. Keys come from `in`; below 0: there are none. Both stay the caller's.
    Screen(int out, int in);
    ~Screen();
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    /// Call before each draw. False: the process is in the background, and the terminal is somebody else's.
    /// `taken` comes true when the screen is empty: at first, and after an interruption.
    bool keep(bool& taken);
    /// What was typed since the last call.
    std::string typed() const;
    void leave();

    /// Gives the terminal back from any thread, for a process that ends at once.
    static void give_back_at_once();

private:
    const int out_;
    const int in_;
    [[maybe_unused]] bool taken_ = false;  // where a signal does not have to know it
    bool left_ = false;
};

}  // namespace streamsim::view
