// One computer's clock against another's, by messages that go there and back. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"

namespace streamsim::seats {

/// What has to be added to an instant of the own clock to get the other's, and how wrong that may be.
struct ClockReading {
    Duration offset;
    Duration bound;

    Instant theirs(Instant own) const { return own + offset; }
    Instant own(Instant theirs) const { return theirs - offset; }
};

/// Of several exchanges the quickest: the answer was made between sending and receiving, so that half of what
/// the two ways took together is the most that its time can be wrong, however unlike the ways are.
class ClockEstimate {
public:
    /// `sent` and `received` by the own clock, `arrived` and `answered` by the other one.
    void add(Instant sent, Instant arrived, Instant answered, Instant received) {
        const Duration ways = (received - sent) - (answered - arrived);
        if (ways.ns < 0) return;  // no two clocks that run say that
        const Duration bound{(ways.ns + 1) / 2};
        if (best_ && best_->bound <= bound) return;
        best_ = ClockReading{{((arrived - sent).ns + (answered - received).ns) / 2}, bound};
    }
    /// nullopt: there was no exchange.
    const std::optional<ClockReading>& best() const { return best_; }

private:
    std::optional<ClockReading> best_;
};

}  // namespace streamsim::seats
