#include "loop/timer_queue.h"

#include <algorithm>

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
    slot.callback = callback;
    const Entry entry{when, order_++, index};
    heap_.push_back(entry);
    sift_up(heap_.size() - 1, entry);
    return (TimerId{slot.generation} << 32) | index;
}

bool TimerQueue::cancel(TimerId timer) {
    const auto index = static_cast<std::uint32_t>(timer);
    const auto generation = static_cast<std::uint32_t>(timer >> 32);
    if (generation == 0 || index >= slots_.size() || slots_[index].generation != generation) return false;
    remove(slots_[index].heap_index);
    return true;
}

Callback TimerQueue::pop(Instant& when) {
    STREAMSIM_CHECK(!heap_.empty(), "only a timer that is set can run");
    when = heap_.front().when;
    const Callback callback = slots_[heap_.front().slot].callback;
    remove(0);
    return callback;
}

void TimerQueue::sift_up(std::size_t index, const Entry& entry) {
    while (index > 0) {
        const std::size_t parent = (index - 1) / kChildren;
        if (!entry.before(heap_[parent])) break;
        put(index, heap_[parent]);
        index = parent;
    }
    put(index, entry);
}

void TimerQueue::sift_down(std::size_t index, const Entry& entry) {
    const std::size_t size = heap_.size();
    for (;;) {
        const std::size_t first = kChildren * index + 1;
        if (first >= size) break;
        std::size_t least = first;
        const std::size_t end = std::min(first + kChildren, size);
        for (std::size_t child = first + 1; child < end; ++child) {
            if (heap_[child].before(heap_[least])) least = child;
        }
        if (!heap_[least].before(entry)) break;
        put(index, heap_[least]);
        index = least;
    }
    put(index, entry);
}

void TimerQueue::remove(std::size_t index) {
    const std::uint32_t gone = heap_[index].slot;
    if (++slots_[gone].generation == 0) slots_[gone].generation = 1;  // 0 would make the id of no timer
    free_.push_back(gone);
    const Entry last = heap_.back();
    heap_.pop_back();
    if (last.slot == gone) return;
    const bool earlier = index > 0 && last.before(heap_[(index - 1) / kChildren]);
    earlier ? sift_up(index, last) : sift_down(index, last);
}

}  // namespace streamsim::loop
