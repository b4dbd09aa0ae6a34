// The timers of one loop: a binary heap ordered by time, then by the order in which they were set. Any timer
// can be cancelled. Entries are reused, so that a steady number of timers allocates nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "base/callback.h"
#include "base/time.h"
#include "streamsim/event_loop.h"

namespace streamsim::loop {

class TimerQueue {
public:
    TimerId set(Instant when, Callback callback);
    bool cancel(TimerId timer);
    bool empty() const { return heap_.empty(); }
    std::size_t size() const { return heap_.size(); }

    /// The time of the earliest timer. REQUIRES: !empty().
    Instant next() const { return slots_[heap_.front()].when; }
    /// The order number the next timer will get: timers below it were set before this call.
    std::uint64_t order() const { return order_; }
    /// True: the earliest timer is due at `now` and was set before `order`.
    bool due(Instant now, std::uint64_t order) const;
    /// Removes the earliest timer. REQUIRES: !empty().
    Callback pop(Instant& when);

private:
    struct Slot {
        Instant when;
        std::uint64_t order = 0;
        Callback callback;
        std::uint32_t generation = 1;
        std::uint32_t heap_index = 0;
    };

    bool before(std::uint32_t a, std::uint32_t b) const;
    void sift_up(std::size_t index);
    void sift_down(std::size_t index);
    void put(std::size_t index, std::uint32_t slot);
    void remove(std::size_t index);

    std::vector<Slot> slots_;
    std::vector<std::uint32_t> heap_;  // indices into slots_
    std::vector<std::uint32_t> free_;
    std::uint64_t order_ = 0;
};

}  // namespace streamsim::loop
