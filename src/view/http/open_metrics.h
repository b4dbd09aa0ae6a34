// The counters of a running play as OpenMetrics text 1.0.0, for monitoring from another computer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace streamsim::view {

inline constexpr std::string_view kOpenMetricsType =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// One stream at one moment. Seat, stream and format together are its labels.
struct StreamMetrics {
    std::uint32_t seat = 0;
    std::uint32_t stream = 0;
    std::string format;
    std::uint64_t on_time = 0;
    std::uint64_t missed = 0;  // dropped, late or failed
    std::uint64_t stalls = 0;
    std::uint64_t bytes_read = 0, bytes_written = 0;
    std::uint32_t buffered = 0;
    std::optional<std::int64_t> margin_min_ns;  // nullopt: no frame yet
    double required_bytes_per_s = 0;
};

/// One computer of a run over several, at one moment: the sums of its streams. The name is its label.
struct ComputerMetrics {
    std::string name;
    std::uint64_t on_time = 0;
    std::uint64_t missed = 0;
    std::uint64_t stalls = 0;
    std::uint64_t bytes_read = 0, bytes_written = 0;
    double required_bytes_per_s = 0;
};

struct MetricsState {
    std::string version;
    std::string target;
    std::int64_t played_ns = 0;
    std::vector<StreamMetrics> streams;
    bool faults_injected = false;            // by streamsim: the numbers say nothing about the storage
    std::vector<ComputerMetrics> computers;  // empty: the streams are all
};

/// The whole exposition, with its end. Label values are escaped; bytes in them that are not UTF-8 become "?".
std::string open_metrics(const MetricsState& state);

}  // namespace streamsim::view
