#include <io.h>
#include <windows.h>

#include <utility>

#include "view/terminal.h"

namespace streamsim::view {
namespace {

HANDLE console_of(int fd) {
    return reinterpret_cast<HANDLE>(_get_osfhandle(fd));
}

}  // namespace

bool terminal_obeys(int fd) {
    DWORD mode = 0;
    if (!GetConsoleMode(console_of(fd), &mode)) return false;
    return SetConsoleMode(console_of(fd), mode | ENABLE_PROCESSED_OUTPUT | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

std::pair<int, int> terminal_size(int fd) {
    CONSOLE_SCREEN_BUFFER_INFO info{};
    if (!GetConsoleScreenBufferInfo(console_of(fd), &info)) return kUsualSize;
    return {info.srWindow.Right - info.srWindow.Left + 1, info.srWindow.Bottom - info.srWindow.Top + 1};
}

void write_while_ready(int fd, std::string_view text) {
    write_all(fd, text);
}

}  // namespace streamsim::view
