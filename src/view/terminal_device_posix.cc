#include <sys/ioctl.h>
#include <unistd.h>

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

}  // namespace streamsim::view
