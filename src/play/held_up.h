// What the times in which a loop could not run have cost a frame. While the storage has all that it may be
// given at once they cost nothing; what they cost a frame they cost those behind it as well, which wait for its
// place.
//
// Play makes up for such a delay: a slot that is passed over takes no time of a place, and a clock that stands
// still moves every later deadline. Without the delay these would have been read, or shown earlier: the delay
// has cost that much, and holds up later frames only by what is left of it (absorb).
#pragma once

#include <algorithm>
#include <cstdint>

#include "streamsim/event_loop.h"

namespace streamsim {

/// A place in flight that is free, or may be.
struct FreePlace {
    Instant since;          // never: none is free
    Duration late;          // by how much earlier it had been free, had the loop always run
    Duration made_up = {};  // of that, and of the stalls since, what play has made up for

    /// What had it has ended, at `from` or later.
    void freed(Instant from, Duration by) {
        if (from < since) *this = {from, by, {}};
    }
    /// All that could be begun by `now` has been begun; is a place left?
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

/// Of one frame.
class HeldUp {
public:
    HeldUp() = default;
    /// It could be submitted from `scheduled` on, and has got `place` now.
    HeldUp(Instant scheduled, const FreePlace& place, Instant now)
        : from_(std::min(std::max(scheduled, place.since), now)),
          before_(std::min(place.late, from_ - scheduled)),
          made_up_(place.made_up) {}

    /// How much earlier it had got as far as it was at `at`.
    Duration until(Instant at, const EventLoop& loop) const {
        return std::max(before_ + loop.stalled_within(from_, at) - made_up_, Duration{});
    }
    /// Play has made up for `by` of what it was held up by until `at`.
    void absorb(Duration by, Instant at, const EventLoop& loop) { made_up_ += std::min(by, until(at, loop)); }

private:
    Instant from_;
    Duration before_;
    Duration made_up_;
};

/// What one frame costs its place in flight.
class PlaceTime {
public:
    /// A frame had its place from `from` to `to`.
    void note(Instant from, Instant to, const EventLoop& loop) {
        last_ = std::max(to - from - loop.stalled_within(from, to), Duration{});
    }
    /// What `slots` that nobody reads save, spread over all places.
    Duration saved(std::uint64_t slots, std::uint32_t places) const {
        constexpr std::uint64_t kSlotsMax = 1'000'000;  // as good as any number, and no product overflows
        const auto counted = static_cast<std::int64_t>(std::min(slots, kSlotsMax));
        return {std::min(last_, seconds(1'000)).ns * counted / places};
    }

private:
    Duration last_;
};

}  // namespace streamsim
