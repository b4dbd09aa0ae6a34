// The terminal is restored whatever ends the process; checked from the other side of a pseudo-terminal.
#include "view/screen.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <pty.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <string>

namespace streamsim::report {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

constexpr const char* kGivenBack = "\x1b[?7h\x1b[?25h\x1b[?1049l";

struct Seen {
    std::string output;
    bool canonical = false;  // lines with echo, afterwards
    int status = 0;
};

/// Runs `body` in a process whose terminal is new, until it ends.
Seen on_a_terminal(const std::function<void()>& body) {
    int terminal = -1;
    const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
    if (child == 0) {
        const rlimit no_core{0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        body();
        _exit(0);
    }
    Seen seen;
    char buffer[4096];
    for (ssize_t size = 0; (size = read(terminal, buffer, sizeof(buffer))) > 0;) {
        seen.output.append(buffer, static_cast<std::size_t>(size));
    }
    waitpid(child, &seen.status, 0);
    termios mode{};
    EXPECT_EQ(tcgetattr(terminal, &mode), 0);
    seen.canonical = (mode.c_lflag & ICANON) != 0 && (mode.c_lflag & ECHO) != 0 && (mode.c_iflag & IXON) != 0;
    close(terminal);
    return seen;
}

/// Exits with 1 if keys are not read one by one.
void take(view::Screen& screen) {
    bool taken = false;
    termios mode{};
    if (!view::Screen::keys_possible(STDIN_FILENO) || !screen.keep(taken) || !taken) _exit(1);
    if (tcgetattr(STDIN_FILENO, &mode) != 0 || (mode.c_lflag & (ICANON | ECHO)) != 0) _exit(1);
    if (!screen.keep(taken) || taken) _exit(2);
}

TEST(Screen, IsGivenBackAtTheEnd) {
    const Seen seen = on_a_terminal([] {
        view::Screen screen(STDERR_FILENO, STDIN_FILENO);
        take(screen);
        screen.leave();
        bool taken = false;
        if (screen.keep(taken)) _exit(3);
    });
    EXPECT_EQ(seen.status, 0);
    EXPECT_THAT(seen.output, HasSubstr("\x1b[?1049h"));
    EXPECT_THAT(seen.output, EndsWith(kGivenBack));
    EXPECT_TRUE(seen.canonical);
}

TEST(Screen, IsGivenBackByASignalThatKills) {
    for (const int number : {SIGABRT, SIGQUIT, SIGSEGV}) {
        const Seen seen = on_a_terminal([number] {
            std::signal(number, SIG_DFL);  // a sanitizer's own handler would not die of it
            view::Screen screen(STDERR_FILENO, STDIN_FILENO);
            take(screen);
            raise(number);
        });
        EXPECT_TRUE(WIFSIGNALED(seen.status) && WTERMSIG(seen.status) == number)
            << number << " " << seen.status;
        EXPECT_THAT(seen.output, EndsWith(kGivenBack)) << number;
        EXPECT_TRUE(seen.canonical) << number;
    }
}

/// Fills the terminal until nothing more fits; nobody reads it.
void fill(int fd) {
    const std::string page(4096, 'x');
    fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK);
    for (pollfd ready{fd, POLLOUT, 0}; poll(&ready, 1, 200) > 0;) (void)!write(fd, page.data(), page.size());
    fcntl(fd, F_SETFL, O_RDWR);
}

TEST(Screen, ThatTakesNothingDoesNotHoldTheEndUp) {
    int terminal = -1;
    const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
    if (child == 0) {
        alarm(20);  // kills a process that waits
        view::Screen screen(STDERR_FILENO, STDIN_FILENO);
        take(screen);
        fill(STDERR_FILENO);
        view::Screen::give_back_at_once();
        _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    termios mode{};
    EXPECT_EQ(tcgetattr(terminal, &mode), 0);
    EXPECT_NE(mode.c_lflag & ICANON, 0U);
    close(terminal);
}

TEST(Screen, HasNoKeysWithoutATerminal) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    EXPECT_FALSE(view::Screen::keys_possible(ends[0]));
    close(ends[0]);
    close(ends[1]);
}

}  // namespace
}  // namespace streamsim::report
