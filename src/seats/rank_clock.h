// The offset between the clocks of two computers, by messages that go there and back. Pure.
#pragma once

#include <optional>

#include "base/time.h"

namespace streamsim::seats {

/// `offset` added to an instant of the own clock gives the other clock's, wrong by `bound` at most.
struct ClockReading {
    Duration offset;
    Duration bound;

    Instant theirs(Instant own) const { return own + offset; }
    Instant own(Instant theirs) const { return theirs - offset; }
};

/// Takes the quickest of several exchanges: the answer was made between sending and receiving, so that half of
/// the time in transit bounds the error, however different the two directions are.
class ClockEstimate {
public:
    /// `sent` and `received` by the own clock, `arrived` and `answered` by the other one.
    void add(Instant sent, Instant arrived, Instant answered, Instant received) {
        const Duration transit = (received - sent) - (answered - arrived);
        if (transit.ns < 0) return;  // impossible for two running clocks
        const Duration bound{(transit.ns + 1) / 2};
        if (best_ && best_->bound <= bound) return;
        best_ = ClockReading{{((arrived - sent).ns + (answered - received).ns) / 2}, bound};
    }
    /// nullopt: no exchange was added.
    const std::optional<ClockReading>& best() const { return best_; }

private:
    std::optional<ClockReading> best_;
};

}  // namespace streamsim::seats
