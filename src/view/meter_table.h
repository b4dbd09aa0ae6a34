// The meters of a live view, as lines of text: pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "streamsim/progress.h"

namespace streamsim::view {

struct ViewState;
struct ViewLine;

/// The counters of a meter so far, over all of its seats.
struct MeterCounts {
    std::uint64_t done = 0, failed = 0;
    std::uint64_t bytes_read = 0, bytes_written = 0;
    std::int64_t response_sum_ns = 0;

    /// Adds the counters that the meter's thread has written so far.
    void add(const MeterProgress& progress);
};

struct MeterView {
    std::string name;
    MeterCounts counts;
    // The rates of the last interval, as the caller measured them:
    double operations_per_s = 0, read_bytes_per_s = 0, write_bytes_per_s = 0;
    std::optional<double> latency_ns;  // mean; nullopt: no operation ended in the interval

    /// Computes the rates from `before` to `counts`, over `ns`.
    void measure(const MeterCounts& before, std::int64_t ns);
};

/// The sums over all meters.
MeterView all_of(const std::vector<MeterView>& meters);
/// "1,204 op/s, 310.2 MB/s read, 295.1 MB/s written, 0 failed".
std::string meters_text(const std::vector<MeterView>& meters);
/// A heading and a line for each meter; if that is more than `lines_max`, the last line counts the others.
/// REQUIRES: lines_max > 1.
std::vector<ViewLine> meter_lines(const std::vector<MeterView>& meters, std::size_t lines_max);

}  // namespace streamsim::view
