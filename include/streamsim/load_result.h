// LoadResult: the result of a workload, step by step: the tables and curves of its report, as plain data.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "streamsim/fields.h"
#include "streamsim/meter_result.h"
#include "streamsim/run_result.h"
#include "streamsim/workload.h"

namespace streamsim {

/// Figures of some meters together.
struct LoadFigures {
    std::string name;  // of the meter, or "seat 3"
    std::uint64_t operations = 0, failed = 0;
    double operations_per_s = 0, read_bytes_per_s = 0, write_bytes_per_s = 0;
    /// Time of an operation, from its intended time; of a transfer with all of its blocks. 0 where there was
    /// none.
    double latency_mean_ns = 0;
    std::int64_t latency_max_ns = 0;
    /// Latencies of transfers alone, as the All cells of the mode tables; nullopt: there was none.
    std::optional<double> block_latency_mean_ns, transfer_latency_mean_ns;
    std::optional<std::int64_t> latency_p99_ns;  // of one meter on one seat alone
};
void fields(const LoadFigures& figures, auto& visit) {
    visit("name", figures.name);
    visit("operations", figures.operations);
    visit("failed", figures.failed);
    visit("operations_per_s", figures.operations_per_s);
    visit("read_bytes_per_s", figures.read_bytes_per_s);
    visit("write_bytes_per_s", figures.write_bytes_per_s);
    visit("latency_mean_ns", figures.latency_mean_ns);
    visit("latency_max_ns", figures.latency_max_ns);
    visit("latency_p99_ns", figures.latency_p99_ns);
    visit("block_latency_mean_ns", figures.block_latency_mean_ns);
    visit("transfer_latency_mean_ns", figures.transfer_latency_mean_ns);
}

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
        for (const MeterResult::Cell& each : meter->cells) transfers += each.cell;
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
    std::array<std::vector<Cell>, kTransferModes + 1> cells;  // in each row blocks.size() + 1
};
/// `block_bytes`: nullopt for the column of all block sizes.
void fields(const ModeTable::Cell& cell, std::optional<std::uint64_t> block_bytes, auto& visit) {
    using Label = std::variant<std::uint64_t, std::string>;
    const Presence where_any = only_if(cell.transfers > 0);
    visit.derived("block_bytes", block_bytes ? Label(*block_bytes) : Label("All"));
    visit("transfers", cell.transfers);
    visit.derived("rate_mb_per_s", cell.rate_bytes_per_s / 1e6, where_any);
    visit.derived("latency_mean_ms", cell.transfer_latency_mean_ns / 1e6, where_any);
    visit.derived("latency_max_s", static_cast<double>(cell.transfer_latency_max_ns) / 1e9, where_any);
    visit("blocks", cell.blocks, where_any);
    visit.derived("block_latency_mean_ms", cell.block_latency_mean_ns / 1e6, where_any);
    visit.derived("block_latency_max_s", static_cast<double>(cell.block_latency_max_ns) / 1e9, where_any);
}
void fields(const ModeTable& table, auto& visit) {
    for (std::size_t row = 0; row < table.cells.size(); ++row) {
        std::size_t column = 0;
        visit.rows(row < kTransferModes ? to_string(static_cast<TransferMode>(row)) : "All", table.cells[row],
                   [&table, &column](const ModeTable::Cell& cell, auto& members) {
                       const std::size_t i = column++;
                       fields(cell, i < table.blocks.size() ? std::optional(table.blocks[i]) : std::nullopt,
                              members);
                   });
    }
}

struct LoadStep {
    double at = 0;  // of Sweep::values
    RunResult result;
    LoadFigures all;
    std::vector<LoadFigures> meters;   // over all seats; where there are several meters
    std::vector<LoadFigures> clients;  // over all meters of a seat
    ModeTable modes;
    std::vector<ModeTable> client_modes;  // as clients
    /// In a sweep over the cache: how often the files were read, and whether no byte was read twice.
    struct FilesRead {
        std::uint64_t files_bytes = 0;  // all files of the meters together
        double times = 0;               // bytes read / files_bytes
        bool once = false;              // no byte was read twice
    };
    std::optional<FilesRead> files_read;
    /// The largest values of an interval of the meters' series, all meters together.
    struct Peak {
        double bytes_per_s = 0;  // read and written
        double operations_per_s = 0;
        double latency_mean_ns = 0;  // the largest mean
    };
    Peak peak;
};

/// The result of a step is beside these members: see load_json_report.
void fields(const LoadStep& step, Sweep::Over over, auto& visit) {
    using At = std::variant<double, std::string>;
    const bool cache = over == Sweep::Over::cache;
    visit.derived("at", cache ? At(step.at > 0 ? "warm" : "cold") : At(step.at),
                  only_if(over != Sweep::Over::none));
    visit.derived("pass", step.result.verdict.pass);
    visit.derived("reason", step.result.verdict.reason);
    const LoadStep::FilesRead files = step.files_read.value_or(LoadStep::FilesRead{});
    const Presence where_cache = only_if(step.files_read.has_value());
    visit("files_bytes", files.files_bytes, where_cache);
    visit("files_read_times", files.times, where_cache);
    visit("reads_each_byte_once", files.once, where_cache);
    visit("all", step.all);
    visit("peak_operations_per_s", step.peak.operations_per_s);
    visit("peak_latency_mean_ns", step.peak.latency_mean_ns);
    visit("meters", step.meters);
    visit("modes", step.modes);
    std::size_t client = 0;
    visit.rows("clients", step.clients, [&step, &client](const LoadFigures& figures, auto& row) {
        fields(figures, row);
        row("modes", client < step.client_modes.size() ? step.client_modes[client] : ModeTable{});
        ++client;
    });
}

struct PrintedComparison {
    PrintedFigure printed;
    double measured = 0;  // in the unit of the printed figure
};
void fields(const PrintedComparison& figure, auto& visit) {
    visit("at", figure.printed.at);
    visit("peak", figure.printed.peak);
    visit("model", figure.printed.model, only_if(!figure.printed.model.empty()));
    visit("quantity", figure.printed.quantity);
    visit("printed", figure.printed.value);
    visit("measured", figure.measured);
    visit("source", figure.printed.source);
}

struct LoadResult {
    Workload workload;  // as it was played
    double scale = 1;
    RunResult common;  // program, host, target
    std::vector<LoadStep> steps;
    std::vector<PrintedComparison> printed;
    /// The files of the meters that --scale made longer or shorter.
    struct ScaledFiles {
        std::string meter;
        std::uint64_t file_bytes = 0;    // as it was played
        std::uint64_t source_bytes = 0;  // as the document says
    };
    std::vector<ScaledFiles> scaled_files;
    bool interrupted = false;
};
void fields(const LoadResult::ScaledFiles& files, auto& visit) {
    visit("meter", files.meter);
    visit("file_bytes", files.file_bytes);
    visit("source_file_bytes", files.source_bytes);
}
/// Steps follow these members.
void fields(const LoadResult& result, auto& visit) {
    program_fields(result.common, visit);
    target_fields(result.common, visit);
    visit.object("workload", [&result](auto& workload) {
        workload("name", result.workload.name);
        workload("title", result.workload.title);
        workload("description", result.workload.description);
        workload("basis", result.workload.basis);
        workload("file", result.workload.source);
    });
    visit("scale", result.scale);
    visit("scaled_files", result.scaled_files);
    visit("sweep", result.workload.sweep.over);
    visit("interrupted", result.interrupted);
    visit("printed", result.printed);
}

}  // namespace streamsim
