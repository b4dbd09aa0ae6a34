// A queue that allocates nothing.
#pragma once

namespace streamsim {

/// First in, first out; the items are linked through their member `next`. Non-owning. An item is in one queue
/// at a time.
template <typename T>
class LinkedQueue {
public:
    bool empty() const { return first_ == nullptr; }
    /// nullptr: it is empty.
    T* first() const { return first_; }

    void push(T& item) {
        item.next = nullptr;
        (last_ != nullptr ? last_->next : first_) = &item;
        last_ = &item;
    }

    /// REQUIRES: !empty().
    T& pop() { return take_after(nullptr); }

    /// Removes the item after `before`; nullptr: the first one. REQUIRES: there is one.
    T& take_after(T* before) {
        T*& link = before != nullptr ? before->next : first_;
        T& item = *link;
        link = item.next;
        if (last_ == &item) last_ = before;
        item.next = nullptr;
        return item;
    }

    /// False when the item is not in this queue. Linear: for rare calls such as cancel().
    bool remove(T& item) {
        T* before = nullptr;
        for (T* at = first_; at != nullptr; before = at, at = at->next) {
            if (at != &item) continue;
            take_after(before);
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

}  // namespace streamsim
