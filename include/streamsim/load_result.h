// What came of a workload, step by step: the tables and curves of its report, as plain data.
#pragma once

#include <algorithm>
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
    /// Time of an operation, from its intended time; of a transfer with all of its blocks. 0 where there was
    /// none.
    double latency_mean_ns = 0;
    std::int64_t latency_max_ns = 0;
    /// Of transfers alone: as the All cells of the mode tables. Null: there was none.
    std::optional<double> block_latency_mean_ns, transfer_latency_mean_ns;
    std::optional<std::int64_t> latency_p99_ns;  // of one meter on one seat alone
};

/// The figures of meters together: rates add up, each over the time of its meter; latencies weigh by
/// operations.
inline LoadFigures load_figures(const std::string& name, const std::vector<const MeterResult*>& meters) {
    LoadFigures out;
    out.name = name;
    double latency_ns = 0;
    TransferCell transfers;
    const auto read = static_cast<std::size_t>(LoadOperation::read);
    const auto write = static_cast<std::size_t>(LoadOperation::write);
    for (const MeterResult* meter : meters) {
        out.operations += meter->all.done;
        out.failed += meter->all.failed;
        latency_ns += static_cast<double>(meter->all.response_sum_ns);
        if (meter->all.response_ns)
            out.latency_max_ns = std::max(out.latency_max_ns, meter->all.response_ns->max);
        for (const MeterResult::Cell& each : meter->cells) {
            transfers.transfers += each.cell.transfers;
            transfers.blocks += each.cell.blocks;
            transfers.block_ns += each.cell.block_ns;
            transfers.latency_ns += each.cell.latency_ns;
        }
        if (meter->wall_ns <= 0) continue;
        const double per_s = 1e9 / static_cast<double>(meter->wall_ns);
        out.operations_per_s += static_cast<double>(meter->all.done) * per_s;
        out.read_bytes_per_s += static_cast<double>(meter->operations[read].bytes) * per_s;
        out.write_bytes_per_s += static_cast<double>(meter->operations[write].bytes) * per_s;
    }
    if (out.operations > 0) out.latency_mean_ns = latency_ns / static_cast<double>(out.operations);
    if (transfers.blocks > 0) {
        out.block_latency_mean_ns =
            static_cast<double>(transfers.block_ns) / static_cast<double>(transfers.blocks);
        out.transfer_latency_mean_ns =
            static_cast<double>(transfers.latency_ns) / static_cast<double>(transfers.transfers);
    }
    if (meters.size() == 1 && meters.front()->all.response_ns)
        out.latency_p99_ns = meters.front()->all.response_ns->p99;
    return out;
}

/// Rows seq_rd, rand_rd, seq_wr, rand_wr and All; columns the block sizes, and All.
struct ModeTable {
    struct Cell {
        std::uint64_t transfers = 0, blocks = 0;
        double rate_bytes_per_s = 0;  // the average of the transfers' rates
        double block_latency_mean_ns = 0;
        std::int64_t block_latency_max_ns = 0;
        double transfer_latency_mean_ns = 0;  // total time - sum of the block latencies
        std::int64_t transfer_latency_max_ns = 0;
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
    /// Of a sweep over the cache: how often the files were read, and whether no byte was read twice.
    struct FilesRead {
        std::uint64_t files_bytes = 0;  // of all files of the meters
        double times = 0;               // bytes read / files_bytes
        bool once = false;              // no byte was read twice
    };
    std::optional<FilesRead> files_read;
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
