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

/// What a meter has done so far, on all of its seats.
struct MeterCounts {
    std::uint64_t done = 0, failed = 0;
    std::uint64_t bytes_read = 0, bytes_written = 0;
    std::int64_t response_sum_ns = 0;

    /// Adds what the meter's thread has written so far.
    void add(const MeterProgress& progress);
};

struct MeterView {
    std::string name;
    MeterCounts counts;
    // Lately, as the caller measured it:
    double operations_per_s = 0, read_bytes_per_s = 0, write_bytes_per_s = 0;
    std::optional<double> latency_ns;  // mean; nullopt: nothing was done lately

    /// From `before` to `counts`, in `ns`.
    void measure(const MeterCounts& before, std::int64_t ns);
};

/// All of them together.
MeterView all_of(const std::vector<MeterView>& meters);
/// "1,204 op/s, 310.2 MB/s read, 295.1 MB/s written, 0 failed".
std::string meters_text(const std::vector<MeterView>& meters);
/// A heading and a line for each; of more than `most` lines the last one counts the others. REQUIRES: most > 1.
std::vector<ViewLine> meter_lines(const std::vector<MeterView>& meters, std::size_t most);

}  // namespace streamsim::view
