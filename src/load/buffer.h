// BufferLevel: the buffer of a user that consumes, or captures, at a constant rate. Pure and exact.
//
// The buffer is full when the user begins. From then on it loses the rate, and each block gives its bytes back
// when it is complete; what does not fit is not kept, since a client does not read further ahead than its
// buffer is long. The deficit is the time by which the buffer is less than full: it grows as time passes, and
// falls by bytes / rate with each block, to 0 at the least. The largest deficit is how long a buffer has to be
// so that it never runs dry. A longer deficit than the buffer's length means that it ran dry; the consumer does
// not wait, so that what it missed is owed and the deficit grows on. A user that has read all that it is to
// read needs no more: the time after its last block is no deficit.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "streamsim/meter_result.h"
#include "streamsim/workload.h"

namespace streamsim::load {

class BufferLevel {
public:
    /// REQUIRES: 0 < spec.bytes_per_s, spec.threshold <= spec.length.
    BufferLevel(const BufferSpec& spec, Instant begin);

    /// A block is complete. A time before that of the last block counts as that time.
    void completed(Instant at, std::uint64_t bytes);
    /// The user needs no more than the blocks that are complete.
    void finish() { finished_ = true; }
    /// Unless the user needs no more, the time from the last completion until `end` passes without a block.
    void end(Instant end) {
        if (!finished_) pass(end);
    }

    /// The deficit at `at`, before a block of that time counts, rounded up.
    std::int64_t deficit_ns(Instant at) const;
    std::int64_t needed_ns() const { return in_ns(largest_); }
    std::uint64_t below_times() const { return below_.times; }
    std::int64_t below_ns() const { return in_ns(below_.sum); }
    std::uint64_t dry_times() const { return dry_.times; }
    std::int64_t dry_ns() const { return in_ns(dry_.sum); }

private:
    // Deficits are in bytes * 10^9, so that no number is rounded before it is shown.
    __extension__ using Exact = __int128;

    /// The time in which the deficit is above a limit.
    struct Excess {
        Exact limit = 0;
        Exact sum = 0;
        std::uint64_t times = 0;
        bool now = false;

        void rise(Exact by, Exact to);
        void fall(Exact to) { now = now && to > limit; }
    };

    void pass(Instant to);
    std::int64_t in_ns(Exact deficit) const;

    Exact rate_;
    Instant at_;
    Exact deficit_ = 0;
    Exact largest_ = 0;
    Excess below_, dry_;
    bool finished_ = false;
};

}  // namespace streamsim::load
