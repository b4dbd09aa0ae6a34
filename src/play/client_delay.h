// Client delay: how much later a frame is because its loop could not run. The delay is zero while all in-flight
// slots are taken. A delayed frame delays the frames behind it as well, which wait for its in-flight slot.
//
// Play makes up for such a delay: a slot that is passed over needs no in-flight slot, and a stalled play clock
// moves every later deadline. Without the delay these slots would have been read, or shown earlier: the delay
// has cost that much, and only the rest of it delays later frames (absorb).
#pragma once

#include <algorithm>
#include <cstdint>

#include "streamsim/event_loop.h"
#include "streamsim/outcome.h"
#include "streamsim/storage.h"

namespace streamsim::play {

/// An in-flight slot that is free, or may be.
struct FreeInflightSlot {
    Instant since;          // never: none is free
    Duration late;          // client delay: how much later it became free because the loop did not run
    Duration made_up = {};  // how much of that, and of the stalls since, play has made up for

    /// The operation that had the slot has ended, at `from` or later.
    void freed(Instant from, Duration by) {
        if (from < since) *this = {from, by, {}};
    }
    /// Every operation that could start by now has started; `any`: an in-flight slot is left.
    void left(bool any, EventLoop& loop) {
        if (!any) {
            *this = {Instant::never(), {}, {}};
        } else if (since == Instant::never()) {
            *this = {loop.now(), {}, {}};
        }
    }
    /// Play has made up for `by` of the delay until `at`.
    void absorb(Duration by, Instant at, const EventLoop& loop) {
        made_up = std::max(made_up, std::min(made_up + by, late + loop.stalled_within(since, at)));
    }
};

/// The client delay of one frame.
class ClientDelay {
public:
    ClientDelay() = default;
    /// The frame could be submitted from `scheduled` on, and gets an in-flight slot now.
    ClientDelay(Instant scheduled, const FreeInflightSlot& slot, Instant now)
        : from_(std::min(std::max(scheduled, slot.since), now)),
          before_(std::min(slot.late, from_ - scheduled)),
          made_up_(slot.made_up) {}

    /// The delay up to `at`: how much earlier the frame would have got as far, had the loop always run.
    Duration until(Instant at, const EventLoop& loop) const {
        return std::max(before_ + loop.stalled_within(from_, at) - made_up_, Duration{});
    }
    /// Play has made up for `by` of the delay up to `at`.
    void absorb(Duration by, Instant at, const EventLoop& loop) { made_up_ += std::min(by, until(at, loop)); }

private:
    Instant from_;
    Duration before_;
    Duration made_up_;
};

/// The common part of reading and writing one frame: its outcome, the stamps of its operations, its client
/// delay.
class FrameOperation {
public:
    const IoTag& tag() const { return tag_; }
    /// Times, bytes and the reason of a failure, as far as they are known; kind and deadline are the owner's.
    FrameOutcome& outcome() { return outcome_; }
    const FrameOutcome& outcome() const { return outcome_; }
    bool failed() const { return outcome_.reason != DropReason::none; }
    /// The storage's last answer for the frame.
    Instant answered() const { return answered_; }
    /// The last instant at which the storage was known not to have given that answer.
    Instant not_before() const { return not_before_; }

    /// The time by which a loop that always ran would have submitted the whole frame earlier. The client has no
    /// part in the time after that.
    Duration client_delay(const EventLoop& loop) const { return delay_.until(last_submitted_, loop); }
    /// The same, up to `at`.
    Duration client_delay_until(Instant at, const EventLoop& loop) const { return delay_.until(at, loop); }
    /// Play has made up for `by` of the client delay up to `at`.
    void absorb(Duration by, Instant at, const EventLoop& loop) {
        delay_.absorb(by, std::min(at, last_submitted_), loop);
    }

protected:
    FrameOperation() = default;
    ~FrameOperation() = default;

    void reset(const IoTag& tag, Instant scheduled) {
        tag_ = tag;
        outcome_ = FrameOutcome{};
        outcome_.slot = tag.slot;
        outcome_.clip_frame = tag.clip_frame;
        outcome_.scheduled = scheduled;
        answered_ = not_before_ = last_submitted_ = {};
    }
    /// The frame gets an in-flight slot.
    void begin(Instant now, const ClientDelay& delay) {
        outcome_.submitted = last_submitted_ = now;
        delay_ = delay;
    }
    void note_answer(Instant completed_at, Instant not_before) {
        answered_ = std::max(answered_, completed_at);
        not_before_ = std::max(not_before_, not_before);
    }
    void note_submitted(Instant at) { last_submitted_ = std::max(last_submitted_, at); }

private:
    IoTag tag_;
    FrameOutcome outcome_;
    Instant answered_;
    Instant not_before_;
    Instant last_submitted_;
    ClientDelay delay_;
};

/// The in-flight slots of one stream: how many are taken, and whether this client or the storage made a frame
/// miss its deadline. The head of player.h says when a miss is the client's.
class InflightSlots {
public:
    /// `loop` outlives it. REQUIRES: count > 0.
    InflightSlots(EventLoop& loop, std::uint32_t count) : loop_(loop), count_(count) {}

    std::uint32_t count() const { return count_; }
    std::uint32_t taken() const { return taken_; }
    bool any_free() const { return taken_ < count_; }

    /// A frame that could be submitted from `scheduled` on gets a slot: its client delay so far.
    ClientDelay take(Instant scheduled, Instant now) {
        ++taken_;
        return {scheduled, free_, now};
    }
    /// The frame has ended and gives its slot back.
    void give(const FrameOperation& frame) {
        --taken_;
        free_.freed(frame.failed() ? loop_.now() : frame.not_before(), frame.client_delay(loop_));
        if (frame.failed()) return;
        last_from_ = frame.outcome().submitted;
        last_to_ = frame.answered();
    }
    /// Every frame that could start by now has started. `usable`: a further frame could take a free slot.
    void settle(bool usable) { free_.left(any_free() && usable, loop_); }

    /// A slot may have been free for a frame that was due at `due`, but for the client delay.
    bool may_have_been_free(Instant due) const { return any_free() && free_.since - free_.late <= due; }
    /// The time that frames which are not read save, spread over all in-flight slots.
    Duration saved(std::uint64_t frames) const {
        constexpr std::uint64_t kFramesMax = 1'000'000;  // as good as any number, and no product overflows
        const auto counted = static_cast<std::int64_t>(std::min(frames, kFramesMax));
        const Duration last =
            std::max(last_to_ - last_from_ - loop_.stalled_within(last_from_, last_to_), Duration{});
        return {std::min(last, seconds(1'000)).ns * counted / count_};
    }
    /// Play has made up for `by` of the times before `at` in which this loop could not run.
    void absorb(Duration by, Instant at) { free_.absorb(by, at, loop_); }

    /// The reason that this complete frame missed `deadline`: `client` or `late`.
    DropReason miss_reason(const FrameOperation& frame, Instant deadline) const {
        const bool unseen = frame.not_before() <= deadline || frame.answered() <= deadline;
        const bool delayed = frame.answered() - frame.client_delay(loop_) <= deadline;
        return unseen || delayed ? DropReason::client : DropReason::late;
    }

private:
    EventLoop& loop_;
    const std::uint32_t count_;
    std::uint32_t taken_ = 0;
    FreeInflightSlot free_;
    Instant last_from_, last_to_;  // while the last frame had a slot
};

}  // namespace streamsim::play
