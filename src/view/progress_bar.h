// Progress of a long write: bytes, rate and the time left. On a terminal one line that is redrawn; on a pipe a
// line at the start, one every ten seconds, and one at the end.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

namespace streamsim::view {

/// "writing media  [#####.....]  1.2 GB of 2.5 GB  480.1 MB/s  3 s left", at most `columns` wide.
/// `bytes_per_s` 0: not known yet, shows neither rate nor time left.
std::string progress_line(const std::string& what,
                          std::uint64_t done_bytes,
                          std::uint64_t total_bytes,
                          double bytes_per_s,
                          int columns);

/// Not thread-safe. Has no clock of its own: the caller gives the time since the start.
class ProgressBar {
public:
    /// `fd` stays the caller's; `terminal`: LiveView::possible(fd).
    ProgressBar(int fd, bool terminal, std::string what, std::uint64_t total_bytes);
    ~ProgressBar();
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;

    std::uint64_t total_bytes() const { return total_bytes_; }

    /// Call a few times a second.
    void update(std::uint64_t done_bytes, std::int64_t elapsed_ns);
    /// Shows a count instead of bytes; `total` 0: not known yet.
    void update_count(std::uint64_t done, std::uint64_t total, std::int64_t elapsed_ns);
    /// The last line, with the average rate. Without this call (an error, an interruption) the
    /// destructor removes the bar.
    void finish(std::uint64_t done_bytes, std::int64_t elapsed_ns);

private:
    struct Sample {
        std::int64_t at_ns;
        std::uint64_t bytes;
    };
    void show(const std::string& line, std::int64_t elapsed_ns);

    int fd_;
    bool terminal_;
    std::string what_;
    std::uint64_t total_bytes_;
    std::deque<Sample> samples_;  // of the last seconds, for the current rate
    std::int64_t next_line_ns_ = 0;
    bool drawn_ = false;
};

}  // namespace streamsim::view
