// MeterStats: counts and times of all operations of a meter. Counts are exact. Memory is allocated at the
// beginning, and later only for an error that was not seen before and for rows.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "load/buffer.h"
#include "load/draws.h"
#include "load/meter_plan.h"
#include "metrics/histogram.h"
#include "metrics/time_series.h"

namespace streamsim::load {

/// The times of one operation that is complete.
struct OperationTimes {
    Instant intended;
    Instant submitted;
    Instant completed;
};

class MeterStats {
public:
    MeterStats(const MeterPlan& plan, const BlockSizes& sizes);

    /// Times count from `from`; operations that complete after the end are unfinished. The end may move nearer.
    void begin(Instant from);
    /// A user begins at `at`, its buffer full.
    void begin_user(std::uint32_t user, Instant at);
    /// The user has read, once, all that it is to read; its last operation ended by `at`.
    void user_read_all(std::uint32_t user, Instant at);
    void set_end(Instant end) { end_ = end; }
    Instant end() const { return end_; }
    /// The meter has no more to do: its end is the completion of the last block. One that finds nothing to read
    /// on its seat did run, for an instant: a meter without any time never ran.
    void end_early() {
        const Instant last = result_.blocks_done > 0 ? last_block_ : begin_ + nanoseconds(1);
        end_ = std::min(end_, std::max(begin_, last));
    }

    void arrived(std::uint64_t operations = 1) { result_.arrived += operations; }
    void unfinished(std::uint64_t operations = 1) { result_.unfinished += operations; }
    void substituted() { ++result_.substituted; }
    /// A block was read, or written and, where the spec asks for it, synced.
    void block(std::uint32_t user, LoadOperation operation, std::uint64_t bytes, Instant completed);
    void block_failed() { ++result_.blocks_failed; }
    /// An operation that completes after the end counts as unfinished.
    void done(LoadOperation operation, const OperationTimes& times);
    /// `blocks`: the blocks of the transfer.
    void transfer_done(TransferMode mode,
                       std::uint32_t block,
                       TransferCell blocks,
                       const OperationTimes& times);
    /// One that fails after the end counts as unfinished; its error counts all the same.
    void failed(LoadOperation operation, int error, const std::string& path, Instant completed);
    /// An error besides the operations: of an open before play, or of a sync at the end.
    void error(LoadOperation operation, int error, const std::string& path);
    /// One of the syncs at the end, which may have failed.
    void synced(Instant completed) { last_sync_ = std::max(last_sync_, completed); }

    /// False: as many rows as are kept are there, and this one counts as omitted.
    bool wants_row() {
        if (rows_.size() < rows_kept_) return true;
        if (rows_kept_ > 0) ++result_.rows_omitted;
        return false;
    }
    /// REQUIRES: wants_row(). The number of the row.
    std::size_t row(const OperationRow& row) {
        rows_.push_back(row);
        return rows_.size() - 1;
    }
    /// The transfer that ends with this row is complete.
    void row_ends(std::size_t row, const OperationTimes& times) {
        if (times.completed <= end_) rows_[row].total_ns = (times.completed - times.submitted).ns;
    }
    /// The deficit of the user's buffer at that time; nullopt: the meter has none.
    std::optional<std::int64_t> deficit_ns(std::uint32_t user, Instant at) const;
    std::int64_t since_start(Instant at) const { return (at - from_).ns; }

    MeterResult result() const { return result_until(end_); }
    /// The result if the meter had ended at `now`; what is in flight is unfinished. Before the end.
    MeterResult result_so_far(Instant now) const;
    const std::vector<OperationRow>& rows() const { return rows_; }

private:
    struct Interval : MeterResult::Point {
        void add(const Interval& other) {
            operations += other.operations;
            bytes += other.bytes;
            response_sum_ns += other.response_sum_ns;
            response_max_ns = std::max(response_max_ns, other.response_max_ns);
        }
    };
    struct Times {
        metrics::Histogram service, response;
    };
    void count_done(OperationResult& result, Times& times, std::int64_t service, std::int64_t response);
    MeterResult result_until(Instant end) const;
    std::uint64_t users_at(Duration since_begin) const;
    MeterBuffer buffer(Instant end) const;

    const MeterPlan& plan_;
    const BlockSizes& sizes_;
    const std::uint64_t rows_kept_;
    Instant from_;   // of the run
    Instant begin_;  // of the meter
    Instant end_;
    Instant last_sync_, last_block_;
    MeterResult result_;
    std::array<Times, kLoadOperations> times_;
    Times all_times_;
    std::vector<TransferCell> cells_;  // by mode, then block
    metrics::BoundedSeries<Interval> series_{512};
    std::vector<OperationRow> rows_;
    std::vector<std::optional<BufferLevel>> buffers_;  // by user, from its begin; empty: the meter has none
};

}  // namespace streamsim::load
