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

namespace streamsim::play {

/// An in-flight slot that is free, or may be.
struct FreePlace {
    Instant since;          // never: none is free
    Duration late;          // client delay: how much later it became free because the loop did not run
    Duration made_up = {};  // how much of that, and of the stalls since, play has made up for

    /// The operation that had the slot has ended, at `from` or later.
    void freed(Instant from, Duration by) {
        if (from < since) *this = {from, by, {}};
    }
    /// All that could be begun by `now` has been begun; `any`: an in-flight slot is left.
    void left(bool any, Instant now) {
        if (!any) {
            *this = {Instant::never(), {}, {}};
        } else if (since == Instant::never()) {
            *this = {now, {}, {}};
        }
    }
    /// Play has made up for `by` of the delay until `at`.
    void absorb(Duration by, Instant at, const EventLoop& loop) {
        made_up = std::max(made_up, std::min(made_up + by, late + loop.stalled_within(since, at)));
    }
};

/// The client delay of one frame.
class HeldUp {
public:
    HeldUp() = default;
    /// The frame could be submitted from `scheduled` on, and has got the in-flight slot `place` now.
    HeldUp(Instant scheduled, const FreePlace& place, Instant now)
        : from_(std::min(std::max(scheduled, place.since), now)),
          before_(std::min(place.late, from_ - scheduled)),
          made_up_(place.made_up) {}

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

/// How long one frame takes an in-flight slot.
class InflightTime {
public:
    /// A frame had an in-flight slot from `from` to `to`.
    void note(Instant from, Instant to, const EventLoop& loop) {
        last_ = std::max(to - from - loop.stalled_within(from, to), Duration{});
    }
    /// The time that `slots` which are not read save, spread over all in-flight slots.
    Duration saved(std::uint64_t slots, std::uint32_t inflight_slots) const {
        constexpr std::uint64_t kSlotsMax = 1'000'000;  // as good as any number, and no product overflows
        const auto counted = static_cast<std::int64_t>(std::min(slots, kSlotsMax));
        return {std::min(last_, seconds(1'000)).ns * counted / inflight_slots};
    }

private:
    Duration last_;
};

}  // namespace streamsim::play
