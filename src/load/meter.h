// Meter: runs a MeterSpec with the users of one seat. It decides which operations begin and when, and counts
// their outcomes; it does not look at read data, and writes noise of which no two blocks are alike.
//
// Closed loop. A user has `inflight` in-flight slots; each does one operation after the other. Its next one is
// intended at completion + think time, 10 ms later after a failure, and not before the rate limit allows it: no
// two operations of a user begin at a smaller distance than 1 / rate. Open loop. Arrivals are intended at
// instants that do not depend on completions: arrival k of a user at begin + phase + k / rate (constant), or at
// exponential distances from its begin (Poisson). The phase spreads the users of all seats evenly over 1 /
// rate; it holds for a rate limit as well. An arrival that finds no free slot waits in line, and its latency
// counts from its intended time. A burst comes first, without think time and limit; the rest begins when the
// burst is complete.
//
// A transfer that is shorter than its block size counts under the largest size that fits it. Under direct I/O
// lengths are rounded up to the alignment. A user keeps its files open, up to 64 of them; with more files, each
// transfer opens its own, which is part of its latency, and closes it (after an fsync, where the spec asks for
// one at the end). Sequential users of a shared file begin in different parts of it, evenly over the file.
// Seats that share files take turns in one order of positions where these must not repeat; a position is as
// long as the longest transfer.
//
// Time of a block: completed - submitted, by the storage's stamps; an fsync after it is part of it. Latency of
// a transfer, in the cells: total time (from its first submission to the end of its last block) - the sum of
// the times of its blocks.
//
// No operation is lost: arrived = done + failed + unfinished, after interrupt() as well. An operation that had
// not completed by the end is unfinished, whatever its outcome is later; one that fails then is in
// failed_after_end too, and its error in the errors. Bytes are those of blocks that had completed, unfinished
// transfers included; blocks_done counts every block.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "load/user.h"

namespace streamsim::load {

/// One loop's thread; pinned. prepare() once, then play() once, then finished() becomes true.
class Meter {
public:
    /// Memory of the blocks in flight; each user has its own.
    static std::uint64_t memory_bytes(const MeterPlan& plan) {
        return user_memory_bytes(plan.spec) * plan.spec.users;
    }

    /// `memory` has memory_bytes() and belongs to this meter, which fills the blocks to write. `changed` runs
    /// when ready() or finished() becomes true. The plan outlives it.
    Meter(EventLoop& loop,
          Storage& storage,
          const MeterPlan& plan,
          std::span<std::byte> memory,
          Callback changed);
    ~Meter() { context_.loop.cancel(end_timer_); }
    Meter(const Meter&) = delete;
    Meter& operator=(const Meter&) = delete;

    /// Opens the files that stay open, which is not measured. REQUIRES: the working set exists, and nothing
    /// else below its root; the storage writes where the spec has more than reads and opens.
    void prepare();
    bool ready() const { return state_ == State::ready; }
    /// May be called in advance. The meter's time counts from `from` (spec.start is added); it ends at `until`
    /// or at the spec's end, whichever is first: from then on no operation begins, and those in flight are
    /// waited for. REQUIRES: ready().
    void play(Instant from, Instant until);
    /// Ends the meter now: cancels all operations in flight.
    void interrupt();
    /// No operation is outstanding, and none will begin.
    bool finished() const { return state_ == State::finished; }

    /// After finished(). Failures of prepare() are in its errors, as opens, and the operations on those files
    /// have failed; failures of an fsync at the end are there too, as writes, and those of operations that
    /// ended after the end.
    MeterResult result() const;
    /// The same where a storage keeps operations of an interrupted meter for ever: those are unfinished.
    MeterResult result_without_waiting() const;
    /// The result if the meter were interrupted now, at any time after play(); without play() nothing.
    std::optional<MeterResult> result_so_far() const;
    const std::vector<OperationRow>& rows() const { return context_.stats.rows(); }
    /// After finished(): created files that exist, or may exist (after an interrupt), which the caller removes
    /// with the working set. Spare files may be gone.
    std::vector<std::string> created() const;

private:
    enum class State { idle, preparing, ready, playing, finished };
    struct Opening : OpenOp {
        Meter* meter = nullptr;
        MeterFiles::Opened* into = nullptr;
        bool out = true;
        void ended();
    };

    void open_files();
    void opened_one();
    void prepared();
    void on_end();
    void stop();
    void count_waiting();
    void user_finished();
    void finish_if_over();
    void finish();
    void tell_finished();

    MeterContext context_;
    const Callback changed_;
    std::deque<MeterUser> users_;
    std::deque<Opening> opens_;
    std::size_t opens_out_ = 0;
    std::size_t users_finished_ = 0;
    std::size_t users_counted_ = 0;  // whose arrivals that waited at the end are counted
    bool counting_ = false;          // those of the others
    TimerId end_timer_ = 0;
    State state_ = State::idle;
};

}  // namespace streamsim::load
