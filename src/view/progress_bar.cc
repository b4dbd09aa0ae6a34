#include "view/progress_bar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/units.h"
#include "base/utf8.h"
#include "view/terminal.h"

namespace streamsim::view {
namespace {

constexpr std::int64_t kRateWindowNs = 5'000'000'000;
constexpr std::int64_t kLineIntervalNs = 10'000'000'000;  // on a pipe

double rate_between(std::uint64_t bytes, std::int64_t ns) {
    return ns > 0 ? static_cast<double>(bytes) / (static_cast<double>(ns) / 1e9) : 0;
}

}  // namespace

std::string progress_line(const std::string& what,
                          std::uint64_t done_bytes,
                          std::uint64_t total_bytes,
                          double bytes_per_s,
                          int columns) {
    std::string out = fmt::format("{}  {}  {} of {}", printable(what), bar(done_bytes, total_bytes),
                                  show_bytes(done_bytes), show_bytes(total_bytes));
    if (std::isfinite(bytes_per_s) && bytes_per_s > 0) {
        out += fmt::format("  {:.1f} MB/s", bytes_per_s / 1e6);
        const double left_bytes = static_cast<double>(total_bytes - std::min(done_bytes, total_bytes));
        // Ten years at most: a longer time does not fit into nanoseconds.
        const double left_s = std::min(std::ceil(left_bytes / bytes_per_s), 315'360'000.0);
        if (left_s > 0)
            out += fmt::format("  {} left", show_duration(seconds(static_cast<std::int64_t>(left_s))));
    }
    return clip(out, columns);
}

ProgressBar::ProgressBar(int fd, bool terminal, std::string what, std::uint64_t total_bytes)
    : fd_(fd), terminal_(terminal), what_(std::move(what)), total_bytes_(total_bytes) {}

ProgressBar::~ProgressBar() {
    if (drawn_) write_all(fd_, "\r\x1b[K");
}

void ProgressBar::update(std::uint64_t done_bytes, std::int64_t elapsed_ns) {
    samples_.push_back({elapsed_ns, done_bytes});
    while (samples_.size() > 2 && samples_[1].at_ns + kRateWindowNs <= elapsed_ns) samples_.pop_front();
    const Sample& first = samples_.front();
    const double rate =
        done_bytes >= first.bytes ? rate_between(done_bytes - first.bytes, elapsed_ns - first.at_ns) : 0;
    show(progress_line(what_, done_bytes, total_bytes_, rate, INT32_MAX), elapsed_ns);
}

void ProgressBar::update_count(std::uint64_t done, std::uint64_t total, std::int64_t elapsed_ns) {
    if (total == 0) return show(printable(what_) + " ...", elapsed_ns);
    show(fmt::format("{}  {}  {} of {}", printable(what_), bar(done, total), done, total), elapsed_ns);
}

void ProgressBar::show(const std::string& line, std::int64_t elapsed_ns) {
    if (terminal_) {
        write_all(fd_, "\r" + clip(line, terminal_size(fd_).first - 1) + "\x1b[K");
        drawn_ = true;
    } else if (elapsed_ns >= next_line_ns_) {
        write_all(fd_, line + "\n");
        next_line_ns_ = elapsed_ns + kLineIntervalNs;
    }
}

void ProgressBar::finish(std::uint64_t done_bytes, std::int64_t elapsed_ns) {
    if (drawn_) write_all(fd_, "\r\x1b[K");
    drawn_ = false;
    write_all(fd_, fmt::format("{}: {} in {}, {:.1f} MB/s\n", printable(what_), show_bytes(done_bytes),
                               show_duration({elapsed_ns}), rate_between(done_bytes, elapsed_ns) / 1e6));
}

}  // namespace streamsim::view
