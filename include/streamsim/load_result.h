// What came of a workload, step by step: the tables and curves of its report, as plain data.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "streamsim/meter_result.h"
#include "streamsim/run_result.h"
#include "streamsim/workload.h"

namespace streamsim {

/// Of some meters together.
struct LoadFigures {
    std::string name;  // of the meter, or "seat 3"
    std::uint64_t operations = 0, failed = 0;
    double operations_per_s = 0, read_bytes_per_s = 0, write_bytes_per_s = 0;
    /// Of an operation, from its intended time; 0 where there was none.
    double latency_mean_ns = 0;
    std::int64_t latency_max_ns = 0;
    std::optional<std::int64_t> latency_p99_ns;  // of one meter on one seat alone
};

/// Rows seq_rd, rand_rd, seq_wr, rand_wr and All; columns the block sizes, and All.
struct ModeTable {
    struct Cell {
        std::uint64_t transfers = 0;
        double rate_bytes_per_s = 0;  // the average of the transfers' rates
        double latency_mean_ns = 0;   // of the transfers' latencies: total time - time of the blocks
        std::int64_t latency_max_ns = 0;
    };
    std::vector<std::uint64_t> blocks;                        // ascending
    std::array<std::vector<Cell>, kTransferModes + 1> cells;  // of each blocks.size() + 1
};

struct LoadStep {
    double at = 0;  // of Sweep::values
    RunResult result;
    LoadFigures all;
    std::vector<LoadFigures> meters;   // over all seats; where there are several meters
    std::vector<LoadFigures> clients;  // over all meters of a seat
    ModeTable modes;
    std::vector<ModeTable> client_modes;  // as clients
};

struct PrintedComparison {
    PrintedFigure printed;
    double measured = 0;  // in the unit of what was printed
};

struct LoadResult {
    Workload workload;  // as it was played
    double scale = 1;
    RunResult common;  // program, host, target
    std::vector<LoadStep> steps;
    std::vector<PrintedComparison> printed;
    bool interrupted = false;
};

}  // namespace streamsim
