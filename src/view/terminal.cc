#include "view/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/utf8.h"

namespace streamsim::view {
namespace {

struct BarParts {
    const char *begin, *full, *empty, *mark, *end;
};
constexpr BarParts kAscii = {"[", "#", ".", "|", "]"};
constexpr BarParts kBlocks = {"", "\u2588", "\u2591", "\u2503", ""};

std::size_t cells_of(double share, std::size_t cells) {
    return static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(cells));
}

}  // namespace

void write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written =
            write(fd, text.data(), static_cast<unsigned>(std::min<std::size_t>(text.size(), 1 << 20)));
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

std::string clip(std::string_view text, int columns) {
    return std::string(text.substr(0, bytes_of_first(text, static_cast<std::size_t>(std::max(columns, 0)))));
}

bool utf8_wanted() {
    // The first variable that is set decides.
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing sets it
        if (value == nullptr || *value == '\0') continue;
        const std::string_view locale = value;
        return locale.ends_with("UTF-8") || locale.ends_with("utf8");
    }
    return false;
}

std::string bar(std::uint64_t done, std::uint64_t total, std::size_t cells, bool utf8) {
    const BarParts& parts = utf8 ? kBlocks : kAscii;
    const double share = total == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(total);
    const std::size_t filled = cells_of(share, cells);
    std::string out = parts.begin;
    for (std::size_t i = 0; i < cells; ++i) out += i < filled ? parts.full : parts.empty;
    return out + parts.end;
}

std::string bar_with_mark(double value, double required, std::size_t cells, bool utf8) {
    constexpr double kAbove = 1.25;  // the bar ends at this multiple of what is required
    const BarParts& parts = utf8 ? kBlocks : kAscii;
    const std::size_t filled = cells_of(value / (required * kAbove), cells);
    const std::size_t mark = cells_of(1 / kAbove, cells);
    std::string out = parts.begin;
    for (std::size_t i = 0; i < cells; ++i) {
        out += i == mark ? parts.mark : i < filled ? parts.full : parts.empty;
    }
    return out + parts.end;
}

}  // namespace streamsim::view
