// The timers of one loop: a heap ordered by time, then by the order in which they were set. Any timer can be
// cancelled. Entries are reused, so that a steady number of timers allocates nothing.
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
    Instant next() const { return heap_.front().when; }
    /// The order number the next timer will get: timers below it were set before this call.
    std::uint64_t order() const { return order_; }
    /// True: the earliest timer is due at `now` and was set before `order`.
    bool due(Instant now, std::uint64_t order) const {
        return !heap_.empty() && heap_.front().when <= now && heap_.front().order < order;
    }
    /// Removes the earliest timer. REQUIRES: !empty().
    Callback pop(Instant& when);

private:
    /// Four children each: fewer levels than with two, and the children beside each other.
    static constexpr std::size_t kChildren = 4;
    /// The heap itself has all that is compared.
    struct Entry {
        Instant when;
        std::uint64_t order = 0;
        std::uint32_t slot = 0;
        bool before(const Entry& other) const {
            return when != other.when ? when < other.when : order < other.order;
        }
    };
    struct Slot {
        Callback callback;
        std::uint32_t generation = 1;
        std::uint32_t heap_index = 0;
    };

    /// Finds the place of an entry from the hole at `index`.
    void sift_up(std::size_t index, const Entry& entry);
    void sift_down(std::size_t index, const Entry& entry);
    void put(std::size_t index, const Entry& entry) {
        heap_[index] = entry;
        slots_[entry.slot].heap_index = static_cast<std::uint32_t>(index);
    }
    void remove(std::size_t index);

    std::vector<Slot> slots_;
    std::vector<Entry> heap_;
    std::vector<std::uint32_t> free_;
    std::uint64_t order_ = 0;
};

}  // namespace streamsim::loop
