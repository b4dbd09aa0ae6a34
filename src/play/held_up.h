// What the times in which a loop could not run have cost a frame. While the storage has all that it may be
// given at once they cost nothing; what they cost a frame they cost those behind it as well, which wait for its
// place.
#pragma once

#include <algorithm>

#include "streamsim/event_loop.h"

namespace streamsim {

/// A place in flight that is free, or may be.
struct FreePlace {
    Instant since;  // never: none is free
    Duration late;  // by how much earlier it had been free, had the loop always run

    /// What had it has ended, at `from` or later.
    void freed(Instant from, Duration by) {
        if (from < since) *this = {from, by};
    }
    /// All that could be begun by `now` has been begun; is a place left?
    void left(bool any, Instant now) {
        if (!any) {
            *this = {Instant::never(), {}};
        } else if (since == Instant::never()) {
            *this = {now, {}};
        }
    }
};

/// Of one frame.
class HeldUp {
public:
    HeldUp() = default;
    /// It could be submitted from `scheduled` on, and has got `place` now.
    HeldUp(Instant scheduled, const FreePlace& place, Instant now)
        : from_(std::min(std::max(scheduled, place.since), now)),
          before_(std::min(place.late, from_ - scheduled)) {}

    /// How much earlier it had got as far as it was at `at`.
    Duration until(Instant at, const EventLoop& loop) const { return before_ + loop.stalled_within(from_, at); }

private:
    Instant from_;
    Duration before_;
};

}  // namespace streamsim
