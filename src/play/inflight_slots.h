// The in-flight slots of one stream: how many are taken, and whether this client or the storage made a frame
// miss its deadline. The head of player.h says when a miss is the client's.
#pragma once

#include <cstdint>

#include "play/client_delay.h"
#include "streamsim/event_loop.h"

namespace streamsim::play {

class InflightSlots {
public:
    /// `loop` outlives it. REQUIRES: count > 0.
    InflightSlots(const EventLoop& loop, std::uint32_t count) : loop_(loop), count_(count) {}

    std::uint32_t count() const { return count_; }
    std::uint32_t taken() const { return taken_; }
    bool any_free() const { return taken_ < count_; }

    /// A frame that could be submitted from `scheduled` on gets a slot: its client delay so far.
    ClientDelay take(Instant scheduled, Instant now) {
        ++taken_;
        return {scheduled, free_, now};
    }
    /// The frame has ended and gives its slot back.
    void give(const FrameOperation& frame, Instant now) {
        --taken_;
        free_.freed(frame.failed() ? now : frame.not_before(), frame.client_delay(loop_));
        if (!frame.failed()) inflight_time_.add(frame.outcome().submitted, frame.answered(), loop_);
    }
    /// Every frame that could start by `now` has started. `usable`: a further frame could take a free slot.
    void settle(bool usable, Instant now) { free_.left(any_free() && usable, now); }

    /// A slot may have been free for a frame that was due at `due`, but for the client delay.
    bool may_have_been_free(Instant due) const { return any_free() && free_.since - free_.late <= due; }
    /// The in-flight time that frames which are not read save.
    Duration saved(std::uint64_t frames) const { return inflight_time_.saved(frames, count_); }
    /// Play has made up for `by` of the times before `at` in which this loop could not run.
    void absorb(Duration by, Instant at) { free_.absorb(by, at, loop_); }

    /// The reason that this complete frame missed `deadline`: `client` or `late`.
    DropReason miss_reason(const FrameOperation& frame, Instant deadline) const {
        const bool unseen = frame.not_before() <= deadline || frame.answered() <= deadline;
        const bool delayed = frame.answered() - frame.client_delay(loop_) <= deadline;
        return unseen || delayed ? DropReason::client : DropReason::late;
    }

private:
    const EventLoop& loop_;
    const std::uint32_t count_;
    std::uint32_t taken_ = 0;
    FreeInflightSlot free_;
    InflightTime inflight_time_;
};

}  // namespace streamsim::play
