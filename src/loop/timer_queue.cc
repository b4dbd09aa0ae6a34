#include "loop/timer_queue.h"

#include "base/check.h"

namespace streamsim::loop {

TimerId TimerQueue::set(Instant when, Callback callback) {
    std::uint32_t index = 0;
    if (free_.empty()) {
        index = static_cast<std::uint32_t>(slots_.size());
        slots_.emplace_back();
        free_.reserve(slots_.capacity());
    } else {
        index = free_.back();
        free_.pop_back();
    }
    Slot& slot = slots_[index];
    slot.when = when;
    slot.order = order_++;
    slot.callback = callback;
    heap_.push_back(index);
    put(heap_.size() - 1, index);
    sift_up(heap_.size() - 1);
    return (TimerId{slot.generation} << 32) | index;
}

bool TimerQueue::cancel(TimerId timer) {
    const auto index = static_cast<std::uint32_t>(timer);
    const auto generation = static_cast<std::uint32_t>(timer >> 32);
    if (generation == 0 || index >= slots_.size() || slots_[index].generation != generation) return false;
    remove(slots_[index].heap_index);
    return true;
}

bool TimerQueue::due(Instant now, std::uint64_t order) const {
    if (heap_.empty()) return false;
    const Slot& first = slots_[heap_.front()];
    return first.when <= now && first.order < order;
}

Callback TimerQueue::pop(Instant& when) {
    STREAMSIM_CHECK(!heap_.empty(), "only a timer that is set can run");
    const Slot& first = slots_[heap_.front()];
    when = first.when;
    const Callback callback = first.callback;
    remove(0);
    return callback;
}

bool TimerQueue::before(std::uint32_t a, std::uint32_t b) const {
    const Slot& x = slots_[a];
    const Slot& y = slots_[b];
    return x.when != y.when ? x.when < y.when : x.order < y.order;
}

void TimerQueue::put(std::size_t index, std::uint32_t slot) {
    heap_[index] = slot;
    slots_[slot].heap_index = static_cast<std::uint32_t>(index);
}

void TimerQueue::sift_up(std::size_t index) {
    const std::uint32_t slot = heap_[index];
    while (index > 0 && before(slot, heap_[(index - 1) / 2])) {
        put(index, heap_[(index - 1) / 2]);
        index = (index - 1) / 2;
    }
    put(index, slot);
}

void TimerQueue::sift_down(std::size_t index) {
    const std::uint32_t slot = heap_[index];
    for (;;) {
        std::size_t child = 2 * index + 1;
        if (child >= heap_.size()) break;
        if (child + 1 < heap_.size() && before(heap_[child + 1], heap_[child])) ++child;
        if (!before(heap_[child], slot)) break;
        put(index, heap_[child]);
        index = child;
    }
    put(index, slot);
}

void TimerQueue::remove(std::size_t index) {
    const std::uint32_t gone = heap_[index];
    Slot& slot = slots_[gone];
    if (++slot.generation == 0) slot.generation = 1;  // 0 would make the id of no timer
    slot.callback = {};
    const std::uint32_t last = heap_.back();
    heap_.pop_back();
    if (last != gone) {
        put(index, last);
        sift_up(index);
        sift_down(slots_[last].heap_index);
    }
    free_.push_back(gone);
}

}  // namespace streamsim::loop
