// The timers of one loop, ordered by time, then by the order in which they were set: a heap of moments, each
// with its timers in a line. Streams of one rate are due together, and their timers cost no search. Any timer
// can be cancelled. Entries are reused, so that a steady number of timers allocates nothing.
#pragma once

#include <cstddef>
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
    std::size_t size() const { return size_; }

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
    static constexpr std::uint32_t kNone = UINT32_MAX;
    /// Four children each: fewer levels than with two, and the children beside each other.
    static constexpr std::size_t kChildren = 4;
    struct Timer {
        Callback callback;
        std::uint64_t order = 0;
        std::uint32_t generation = 1;
        std::uint32_t moment = 0;
        std::uint32_t previous = kNone;
        std::uint32_t next = kNone;  // in its moment's line; of a free one: the next free one
    };
    /// Timers of one time. There may be two of the same time.
    struct Moment {
        std::uint32_t first = kNone;  // of its line
        std::uint32_t last = kNone;
        std::uint32_t heap_index = 0;
        std::uint32_t next_free = kNone;
    };
    /// The heap itself has all that is compared.
    struct Entry {
        Instant when;
        std::uint64_t order = 0;  // of the first timer in line
        std::uint32_t moment = 0;
        bool before(const Entry& other) const {
            return when != other.when ? when < other.when : order < other.order;
        }
    };

    std::uint32_t take_timer();
    void add_moment(Instant when, std::uint32_t timer);
    void remove(std::uint32_t timer);
    void remove_moment(std::uint32_t moment);
    /// Finds the place of an entry from the hole at `index`.
    void sift_up(std::size_t index, const Entry& entry);
    void sift_down(std::size_t index, const Entry& entry);
    void put(std::size_t index, const Entry& entry) {
        heap_[index] = entry;
        moments_[entry.moment].heap_index = static_cast<std::uint32_t>(index);
    }

    std::vector<Timer> timers_;
    std::vector<Moment> moments_;
    std::vector<Entry> heap_;
    std::uint32_t free_timer_ = kNone;
    std::uint32_t free_moment_ = kNone;
    std::uint32_t recent_ = kNone;  // the moment that was added last, if it is still there
    std::size_t size_ = 0;
    std::uint64_t order_ = 0;
};

}  // namespace streamsim::loop
