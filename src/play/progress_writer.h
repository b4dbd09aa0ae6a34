// The player's side of StreamProgress: it publishes the outcomes of a stream, without ever waiting.
#pragma once

#include "play/ledger.h"
#include "streamsim/progress.h"

namespace streamsim::play {

/// One thread.
class ProgressWriter {
public:
    explicit ProgressWriter(StreamProgress& to) : to_(to) {}

    void state(StreamState state) { to_.state.store(state, std::memory_order_relaxed); }
    /// `zero`: the run's first play_start.
    void play_started(Instant play_start, Instant zero);
    /// `slots` have been on display, and `buffered` complete frames are ahead of them.
    void displayed(std::uint64_t slots, std::uint32_t buffered) {
        to_.due.store(slots, std::memory_order_relaxed);
        to_.buffered.store(buffered, std::memory_order_relaxed);
    }
    /// `ledger` has the outcome, or the stall, already.
    void settled(const FrameOutcome& outcome, const DeadlineLedger& ledger);
    void stalled(std::uint64_t slot, Instant due, bool client, const DeadlineLedger& ledger);

private:
    void note_margin(const FrameOutcome& outcome);

    StreamProgress& to_;
    Instant zero_;
    std::int64_t second_ = INT64_MIN;  // of the deadline of the last margin
    std::int64_t margin_now_ = INT64_MAX;
    std::int64_t margin_before_ = INT64_MAX;  // in the second before it
};

}  // namespace streamsim::play
