// The result of a meter: plain data, a part of RunResult.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "streamsim/fields.h"
#include "streamsim/summaries.h"
#include "streamsim/workload.h"

namespace streamsim {

/// The source's four modes of a transfer.
enum class TransferMode : std::uint8_t { sequential_read, random_read, sequential_write, random_write };
constexpr std::size_t kTransferModes = 4;

constexpr const char* to_string(TransferMode mode) {
    switch (mode) {
        case TransferMode::sequential_read: return "seq_rd";
        case TransferMode::random_read: return "rand_rd";
        case TransferMode::sequential_write: return "seq_wr";
        case TransferMode::random_write: return "rand_wr";
    }
    return "?";
}

/// Transfers of one mode with one block size.
struct TransferCell {
    std::uint64_t transfers = 0;
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;
    std::int64_t block_ns = 0;  // the sum of the block latencies: from submission to completion of each block
    std::int64_t block_max_ns = 0;  // the largest of them
    double rate_sum = 0;            // of the transfers' rates, bytes / s: bytes of a transfer / its block times
    std::int64_t latency_ns = 0;  // the sum of the transfer latencies: total time - sum of the block latencies
    std::int64_t latency_max_ns = 0;

    TransferCell& operator+=(const TransferCell& more) {
        transfers += more.transfers;
        blocks += more.blocks;
        bytes += more.bytes;
        block_ns += more.block_ns;
        block_max_ns = std::max(block_max_ns, more.block_max_ns);
        rate_sum += more.rate_sum;
        latency_ns += more.latency_ns;
        latency_max_ns = std::max(latency_max_ns, more.latency_max_ns);
        return *this;
    }
};

struct OperationResult {
    std::uint64_t done = 0;  // complete, without an error
    std::uint64_t failed = 0;
    std::uint64_t bytes = 0;
    /// Service times count from submission; response times, in the open loop, from the intended time (closed
    /// loop: the same).
    std::int64_t service_sum_ns = 0;
    std::int64_t response_sum_ns = 0;
    std::optional<LatencySummary> service_ns, response_ns;

    /// Operations or bytes per second over `wall_ns`; nullopt: no time passed.
    static std::optional<double> rate(std::uint64_t count, std::int64_t wall_ns) {
        if (wall_ns <= 0) return std::nullopt;
        return static_cast<double>(count) / (static_cast<double>(wall_ns) / 1e9);
    }
    /// Sum over the operations that were done; nullopt: none was.
    std::optional<std::int64_t> mean_ns(std::int64_t sum_ns) const {
        if (done == 0) return std::nullopt;
        return std::llround(static_cast<double>(sum_ns) / static_cast<double>(done));
    }
};
/// `wall_ns`: the time that the rates are over.
void fields(ConstOr<OperationResult> auto& operation, std::int64_t wall_ns, auto& visit) {
    visit("done", operation.done);
    visit("failed", operation.failed);
    visit("bytes", operation.bytes);
    visit.derived("per_s", operation.rate(operation.done, wall_ns));
    visit.derived("bytes_per_s", operation.rate(operation.bytes, wall_ns));
    visit("service_sum_ns", operation.service_sum_ns);
    visit.derived("service_mean_ns", operation.mean_ns(operation.service_sum_ns));
    visit("service_ns", operation.service_ns);
    visit("response_sum_ns", operation.response_sum_ns);
    visit.derived("response_mean_ns", operation.mean_ns(operation.response_sum_ns));
    visit("response_ns", operation.response_ns);
}

/// The buffers of the users of a meter that has one (src/load/buffer.h).
struct MeterBuffer {
    std::uint64_t bytes_per_s = 0;
    std::int64_t length_ns = 0, threshold_ns = 0;
    std::int64_t needed_ns = 0;     // how long a buffer has to be, so that no user's runs dry
    std::uint32_t needed_user = 0;  // the user that needs it
    std::uint32_t users_below = 0;  // users whose buffer was below the threshold
    std::uint64_t below_times = 0;  // this and the next three: sums over the users
    std::int64_t below_ns = 0;
    std::uint64_t dry_times = 0;
    std::int64_t dry_ns = 0;
};

/// The result of one meter on one seat.
struct MeterResult {
    std::uint32_t seat = 0;
    std::string name;
    std::uint32_t users = 0;
    std::int64_t wall_ns = 0;  // from its start to its end, drain left out
    std::array<OperationResult, kLoadOperations> operations{};
    OperationResult all;
    std::uint64_t blocks_done = 0, blocks_failed = 0;
    std::uint64_t arrived = 0;           // open loop: operations whose intended time came
    std::uint64_t unfinished = 0;        // operations that had arrived and were not complete at the end
    std::uint64_t failed_after_end = 0;  // unfinished operations that failed later
    std::uint64_t substituted = 0;       // removes and renames for which no file was left: done as a create
    std::uint64_t rows_omitted = 0;      // rows of operations beyond those that are kept for --csv
    struct Cell {
        TransferMode mode = TransferMode::sequential_read;
        std::uint64_t block_bytes = 0;
        TransferCell cell;
    };
    std::vector<Cell> cells;  // not empty ones, by mode, then block
    struct Point {
        std::uint64_t operations = 0, bytes = 0, users = 0;
        std::int64_t response_sum_ns = 0, response_max_ns = 0;
    };
    std::int64_t interval_ns = 0;
    std::vector<Point> series;  // from its start
    struct Error {
        LoadOperation operation = LoadOperation::read;
        int error = 0;
        std::uint64_t times = 0;
        std::string path;  // of the first
    };
    std::vector<Error> errors;
    std::optional<MeterBuffer> buffer;  // nullopt: the meter has none
};
void fields(ConstOr<MeterResult::Cell> auto& each, auto& visit) {
    auto& cell = each.cell;
    const double transfers = static_cast<double>(cell.transfers > 0 ? cell.transfers : 1);
    visit("mode", each.mode);
    visit("block_bytes", each.block_bytes);
    visit("transfers", cell.transfers);
    visit("blocks", cell.blocks);
    visit("bytes", cell.bytes);
    visit("block_ns", cell.block_ns);
    visit("block_max_ns", cell.block_max_ns, kAdded);
    visit("rate_sum_bytes_per_s", cell.rate_sum);
    visit.derived("rate_mean_bytes_per_s", cell.rate_sum / transfers);
    visit("latency_sum_ns", cell.latency_ns);
    visit.derived("latency_mean_ns", static_cast<double>(cell.latency_ns) / transfers);
    visit("latency_max_ns", cell.latency_max_ns);
}
void fields(ConstOr<MeterResult::Point> auto& point, auto& visit) {
    visit("operations", point.operations);
    visit("bytes", point.bytes);
    visit("users", point.users);
    visit("response_sum_ns", point.response_sum_ns);
    visit("response_max_ns", point.response_max_ns);
}
void fields(ConstOr<MeterBuffer> auto& buffer, auto& visit) {
    visit("bytes_per_s", buffer.bytes_per_s);
    visit("length_ns", buffer.length_ns);
    visit("threshold_ns", buffer.threshold_ns);
    visit("needed_ns", buffer.needed_ns);
    visit("needed_user", buffer.needed_user);
    visit("users_below", buffer.users_below);
    visit("below_times", buffer.below_times);
    visit("below_ns", buffer.below_ns);
    visit("dry_times", buffer.dry_times);
    visit("dry_ns", buffer.dry_ns);
}
void fields(ConstOr<MeterResult::Error> auto& error, auto& visit) {
    visit("operation", error.operation);
    visit("errno", error_name(error.error));
    visit("times", error.times);
    visit("path", error.path);
}
/// Kinds of operations of which none was done or failed are left out.
void fields(ConstOr<MeterResult> auto& meter, auto& visit) {
    visit("seat", meter.seat);
    visit("name", meter.name);
    visit("users", meter.users);
    visit("wall_ns", meter.wall_ns);
    visit.object("all", [&](auto& all) { fields(meter.all, meter.wall_ns, all); });
    visit.object("operations", [&](auto& operations) {
        for (std::size_t i = 0; i < kLoadOperations; ++i) {
            auto& operation = meter.operations[i];
            operations.object(
                to_string(static_cast<LoadOperation>(i)),
                [&](auto& one) { fields(operation, meter.wall_ns, one); },
                only_if(operation.done + operation.failed > 0));
        }
    });
    visit("blocks_done", meter.blocks_done);
    visit("blocks_failed", meter.blocks_failed);
    visit("arrived", meter.arrived);
    visit("unfinished", meter.unfinished);
    visit("failed_after_end", meter.failed_after_end, kAdded);
    visit("substituted", meter.substituted);
    visit("rows_omitted", meter.rows_omitted, kAdded);
    visit("cells", meter.cells);
    visit.object("series", [&](auto& series) {
        series("interval_ns", meter.interval_ns);
        series.columns(meter.series);
    });
    visit("errors", meter.errors);
    visit("buffer", meter.buffer, kAdded);
}

/// One block or one other operation, for --csv. Times count from the start of play.
struct OperationRow {
    std::uint32_t seat = 0;
    std::uint32_t meter = 0;     // of the run's, counted from 0
    std::uint32_t user = 0;      // of the meter on its seat, counted from 0
    std::uint64_t transfer = 0;  // of the user, counted from 0
    LoadOperation operation = LoadOperation::read;
    TransferMode mode = TransferMode::sequential_read;
    std::uint32_t file = 0;
    std::uint64_t offset = 0, bytes = 0;
    std::int64_t intended_ns = 0, submitted_ns = 0, completed_ns = 0;
    int error = 0;
    std::uint64_t block_bytes = 0;   // of the column of its transfer in the mode tables; 0: no transfer
    std::uint64_t length_bytes = 0;  // of its transfer
    /// Total time of a transfer, from its first submission to its end, in the last row of each transfer that
    /// the tables count; else nullopt.
    std::optional<std::int64_t> total_ns;
    std::optional<std::int64_t> deficit_ns;  // of the user's buffer, before this block; nullopt: it has none
};

}  // namespace streamsim
