// A first-in first-out queue that never allocates: its items are linked through their member `next`.
#pragma once

#include "streamsim/storage.h"

namespace streamsim::storage {

/// Non-owning. An item is in one queue at a time.
template <typename T>
class LinkedQueue {
public:
    bool empty() const { return first_ == nullptr; }

    void push(T& item) {
        item.next = nullptr;
        (last_ != nullptr ? last_->next : first_) = &item;
        last_ = &item;
    }

    /// REQUIRES: !empty().
    T& front() { return *first_; }

    /// REQUIRES: !empty().
    T& pop() {
        T& item = *first_;
        first_ = item.next;
        if (first_ == nullptr) last_ = nullptr;
        item.next = nullptr;
        return item;
    }

    /// False when the item is not in this queue. Linear: for rare calls such as cancel().
    bool remove(T& item) {
        T* before = nullptr;
        for (T* at = first_; at != nullptr; before = at, at = at->next) {
            if (at != &item) continue;
            (before != nullptr ? before->next : first_) = item.next;
            if (last_ == &item) last_ = before;
            item.next = nullptr;
            return true;
        }
        return false;
    }

    /// Moves all items out; this queue is empty afterwards.
    LinkedQueue take() {
        const LinkedQueue all = *this;
        first_ = last_ = nullptr;
        return all;
    }

private:
    T* first_ = nullptr;
    T* last_ = nullptr;
};

using OpQueue = LinkedQueue<Op>;

}  // namespace streamsim::storage
