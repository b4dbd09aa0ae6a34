// The future events of the cluster: a heap, and one timer of the loop that is set to the first event. The
// events of an instant run before the loop's timers of the same instant (the cluster reaps, as a storage does),
// so that a read which completes at its deadline is complete when the deadline's timer runs. Equal times run in
// the order they were set. Allocates only when there are more events than ever before.
#pragma once

#include <cstdint>
#include <vector>

#include "base/callback.h"
#include "base/time.h"
#include "streamsim/event_loop.h"

namespace streamsim::sim {

/// The earliest first; four children each: fewer levels than with two.
class EventHeap {
public:
    struct Event {
        Instant when;
        std::uint64_t order = 0;
        Callback callback;
        bool before(const Event& other) const {
            return when != other.when ? when < other.when : order < other.order;
        }
    };

    bool empty() const { return heap_.empty(); }
    Instant next() const { return heap_.front().when; }
    void push(Instant when, Callback callback);
    Callback pop();

private:
    std::vector<Event> heap_;
    std::uint64_t order_ = 0;
};

class Calendar {
public:
    explicit Calendar(EventLoop& loop) : loop_(loop) {}
    ~Calendar() { loop_.cancel(timer_); }
    Calendar(const Calendar&) = delete;
    Calendar& operator=(const Calendar&) = delete;

    Instant now() const { return loop_.now(); }
    /// REQUIRES: when >= now().
    void at(Instant when, Callback callback);
    /// Runs all events that are due, also those that become due meanwhile. For the cluster's reap().
    void run_due();

private:
    void arm();
    void woke();

    EventLoop& loop_;
    EventHeap events_;
    TimerId timer_ = 0;
    Instant armed_ = Instant::never();
    bool running_ = false;
};

}  // namespace streamsim::sim
