// The future events of the cluster: a heap, and one timer of the loop that is set to the first event. The
// events of an instant run before the loop's timers of the same instant (the cluster reaps, as a storage does),
// so that a read which completes at its deadline is complete when the deadline's timer runs. Equal times run in
// the order they were set. Allocates only when there are more events than ever before.
#pragma once

#include <algorithm>
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
    void push(Instant when, Callback callback) {
        const Event event{when, order_++, callback};
        std::size_t index = heap_.size();
        heap_.push_back(event);
        while (index > 0) {
            const std::size_t parent = (index - 1) / kChildren;
            if (!event.before(heap_[parent])) break;
            heap_[index] = heap_[parent];
            index = parent;
        }
        heap_[index] = event;
    }

    Callback pop() {
        const Callback callback = heap_.front().callback;
        const Event last = heap_.back();
        heap_.pop_back();
        const std::size_t size = heap_.size();
        if (size == 0) return callback;
        std::size_t index = 0;
        for (;;) {
            const std::size_t first = index * kChildren + 1;
            if (first >= size) break;
            std::size_t least = first;
            const std::size_t end = std::min(first + kChildren, size);
            for (std::size_t child = first + 1; child < end; ++child) {
                if (heap_[child].before(heap_[least])) least = child;
            }
            if (!heap_[least].before(last)) break;
            heap_[index] = heap_[least];
            index = least;
        }
        heap_[index] = last;
        return callback;
    }

private:
    static constexpr std::size_t kChildren = 4;

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
    void at(Instant when, Callback callback) {
        events_.push(when, callback);
        if (!running_) arm();
    }
    /// Runs all events that are due, also those that become due meanwhile. For the cluster's reap().
    void run_due() {
        const Instant now = loop_.now();
        running_ = true;
        while (!events_.empty() && events_.next() <= now) events_.pop()();
        running_ = false;
        arm();
    }

private:
    void arm() {
        if (events_.empty() || events_.next() >= armed_) return;
        loop_.cancel(timer_);
        armed_ = events_.next();
        timer_ = loop_.at(armed_, Callback::of<&Calendar::on_timer>(this));
    }
    /// The events of this instant ran when the turn began.
    void on_timer() {
        timer_ = 0;
        armed_ = Instant::never();
        arm();
    }

    EventLoop& loop_;
    EventHeap events_;
    TimerId timer_ = 0;
    Instant armed_ = Instant::never();
    bool running_ = false;
};

}  // namespace streamsim::sim
