#include "sim/parts/calendar.h"

#include <algorithm>

namespace streamsim::sim {

namespace {
constexpr std::size_t kChildren = 4;
}

void EventHeap::push(Instant when, Callback callback) {
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

Callback EventHeap::pop() {
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

void Calendar::at(Instant when, Callback callback) {
    events_.push(when, callback);
    if (!running_) arm();
}

void Calendar::run_due() {
    const Instant now = loop_.now();
    running_ = true;
    while (!events_.empty() && events_.next() <= now) events_.pop()();
    running_ = false;
    arm();
}

void Calendar::arm() {
    if (events_.empty() || events_.next() >= armed_) return;
    loop_.cancel(timer_);
    armed_ = events_.next();
    timer_ = loop_.at(armed_, Callback::of<&Calendar::woke>(this));
}

/// The events of this instant ran when the turn began.
void Calendar::woke() {
    timer_ = 0;
    armed_ = Instant::never();
    arm();
}

}  // namespace streamsim::sim
