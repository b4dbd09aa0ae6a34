#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "view/terminal.h"

namespace streamsim::view {

bool terminal_obeys(int fd) {
    const char* term = std::getenv("TERM");  // NOLINT(concurrency-mt-unsafe): nothing sets it
    return isatty(fd) == 1 && term != nullptr && std::string_view(term) != "dumb" && *term != '\0';
}

std::pair<int, int> terminal_size(int fd) {
    winsize size{};
    if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return kUsualSize;
    return {size.ws_col, size.ws_row};
}

void write_while_ready(int fd, std::string_view text) {
    constexpr std::size_t kPieceBytesMax = 512;  // the least PIPE_BUF: a pipe that is ready takes all of them
    while (!text.empty()) {
        pollfd ready{fd, POLLOUT, 0};
        if (poll(&ready, 1, 0) == 0) return;
        const ssize_t written = write(fd, text.data(), std::min(text.size(), kPieceBytesMax));
        if (written <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

}  // namespace streamsim::view
