#include "view/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace streamsim {
namespace {

constexpr std::uint64_t kBarCells = 10;

}  // namespace

std::pair<int, int> terminal_size(int fd, int fallback_columns, int fallback_rows) {
    winsize size{};
    if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
        return {fallback_columns, fallback_rows};
    }
    return {size.ws_col, size.ws_row};
}

void write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = write(fd, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

std::string clip(std::string_view text, int columns) {
    int characters = 0;
    std::size_t end = 0;
    for (; end < text.size(); ++end) {
        const bool begins_character = (static_cast<unsigned char>(text[end]) & 0xc0) != 0x80;
        if (begins_character && ++characters > columns) break;
    }
    return std::string(text.substr(0, end));
}

std::string printable_label(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f) c = '?';
    }
    return out;
}

std::string bar(std::uint64_t done, std::uint64_t total) {
    const double share =
        total == 0 ? 1.0 : static_cast<double>(std::min(done, total)) / static_cast<double>(total);
    const auto filled = static_cast<std::size_t>(share * static_cast<double>(kBarCells));
    return "[" + std::string(filled, '#') + std::string(kBarCells - filled, '.') + "]";
}

}  // namespace streamsim
