// What a meter did: plain data, a part of RunResult.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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
};

struct OperationResult {
    std::uint64_t done = 0;  // complete, without an error
    std::uint64_t failed = 0;
    std::uint64_t bytes = 0;
    /// From submission; and, in the open loop, from the intended time (closed loop: the same).
    std::int64_t service_sum_ns = 0;
    std::int64_t response_sum_ns = 0;
    std::optional<LatencySummary> service_ns, response_ns;
};

/// Of one meter on one seat.
struct MeterResult {
    std::uint32_t seat = 0;
    std::string name;
    std::uint32_t users = 0;
    std::int64_t wall_ns = 0;  // from its start to its end, drain left out
    std::array<OperationResult, kLoadOperations> operations{};
    OperationResult all;
    std::uint64_t blocks_done = 0, blocks_failed = 0;
    std::uint64_t arrived = 0;      // open loop: operations whose intended time came
    std::uint64_t unfinished = 0;   // that had arrived and were not complete at the end
    std::uint64_t substituted = 0;  // removes and renames for which no file was left: done as a create
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
};

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
};

}  // namespace streamsim
