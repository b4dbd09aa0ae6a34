#include <pthread.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <string_view>

#include "view/screen.h"
#include "view/terminal.h"

namespace streamsim::view {
namespace {

// Alternate screen, no cursor, no wrapping: a terminal that becomes narrower between two draws cuts lines off.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l";
constexpr std::string_view kLeave = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

constexpr int kKilling[] = {SIGQUIT, SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV};

// The state of signal handlers, which take no arguments.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<bool> taken_now{false};
std::atomic<bool> continued{false};
int out_now = -1;
int in_now = -1;
termios mode_before{};
std::array<struct sigaction, NSIG> actions_before{};
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

/// Calls only write(), poll() and tcsetattr(), which a signal handler may call. Without `waiting`, for a
/// process that ends, a terminal that takes nothing does not block it.
void give_back(bool waiting) {
    const int error = errno;
    if (taken_now.exchange(false)) {
        waiting ? write_all(out_now, kLeave) : write_while_ready(out_now, kLeave);
        // TCSADRAIN also waits for a thread that is blocked in a write to the terminal.
        if (in_now >= 0) tcsetattr(in_now, waiting ? TCSADRAIN : TCSANOW, &mode_before);
    }
    errno = error;
}

bool has_terminal(int fd) {
    return tcgetpgrp(fd) == getpgrp();
}

/// False if `fd` is another terminal than the one that started the process.
bool in_background(int fd) {
    const pid_t front = tcgetpgrp(fd);
    return front >= 0 && front != getpgrp();
}

void handle(int number, void (*handler)(int), bool keep_before) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    auto& before = actions_before[static_cast<std::size_t>(number)];
    sigaction(number, &action, keep_before ? &before : nullptr);
}

void handle_as_before(int number) {
    sigaction(number, &actions_before[static_cast<std::size_t>(number)], nullptr);
}

void on_killing(int number) {
    give_back(false);
    handle_as_before(number);
    raise(number);  // when this handler returns
}

void on_stop(int number) {
    give_back(true);
    handle_as_before(number);
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, number);
    raise(number);
    pthread_sigmask(SIG_UNBLOCK, &own, nullptr);  // the process stops here, and continues after SIGCONT
    handle(number, on_stop, false);
}

void on_continue(int) {
    continued.store(true);
}

void take(int out, int in) {
    if (!taken_now.load()) {
        if (in >= 0) tcgetattr(in, &mode_before);
        out_now = out;
        in_now = in;
    }
    taken_now.store(true);
    if (in >= 0) {
        termios mode = mode_before;
        mode.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
        mode.c_iflag &= ~static_cast<tcflag_t>(IXON);  // Ctrl-S would block the writer
        mode.c_cc[VMIN] = 0;
        mode.c_cc[VTIME] = 0;
        tcsetattr(in, TCSADRAIN, &mode);
    }
    write_all(out, kEnter);
}

}  // namespace

bool Screen::keys_possible(int fd) {
    return isatty(fd) == 1 && has_terminal(fd);
}

Screen::Screen(int out, int in) : out_(out), in_(in) {
    for (const int number : kKilling) handle(number, on_killing, true);
    handle(SIGTSTP, on_stop, true);
    handle(SIGCONT, on_continue, true);
}

Screen::~Screen() {
    leave();
}

bool Screen::keep(bool& taken) {
    taken = false;
    if (left_) return false;
    if (in_background(in_ >= 0 ? in_ : out_)) return false;
    if (continued.exchange(false) || !taken_now.load()) {
        take(out_, in_);
        taken = true;
    }
    return true;
}

std::string Screen::typed() const {
    std::string text;
    if (in_ < 0 || !taken_now.load() || !has_terminal(in_)) return text;
    char buffer[256];
    const ssize_t size = read(in_, buffer, sizeof(buffer));
    if (size > 0) text.assign(buffer, static_cast<std::size_t>(size));
    return text;
}

void Screen::give_back_at_once() {
    give_back(false);
}

void Screen::leave() {
    if (left_) return;
    left_ = true;
    give_back(true);
    for (const int number : kKilling) handle_as_before(number);
    handle_as_before(SIGTSTP);
    handle_as_before(SIGCONT);
}

}  // namespace streamsim::view
