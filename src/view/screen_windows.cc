// A console that obeys escape sequences (Windows 10). Keys are not read: Ctrl-C ends play.
#include <string_view>

#include "view/screen.h"
#include "view/terminal.h"

namespace streamsim::view {
namespace {

// Alternate screen, no cursor, no wrapping.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l";
constexpr std::string_view kLeave = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

}  // namespace

bool Screen::keys_possible(int /*fd*/) {
    return false;
}

Screen::Screen(int out, int in) : out_(out), in_(in) {}

Screen::~Screen() {
    leave();
}

bool Screen::keep(bool& taken) {
    taken = !taken_ && !left_;
    if (taken) write_all(out_, kEnter);
    taken_ = taken_ || taken;
    return !left_;
}

std::string Screen::typed() const {
    return {};
}

void Screen::give_back_at_once() {}  // Ctrl-C ends play, and with that the view

void Screen::leave() {
    if (taken_ && !left_) write_all(out_, kLeave);
    left_ = true;
}

}  // namespace streamsim::view
