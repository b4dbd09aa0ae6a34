// A first-in first-out list of operations, linked through Op::next: queues that never allocate.
#pragma once

#include "streamsim/storage.h"

namespace streamsim::storage {

/// Non-owning. An operation is in one list at a time.
class OpList {
public:
    bool empty() const { return first_ == nullptr; }

    void push(Op& op) {
        op.next = nullptr;
        if (last_ != nullptr) {
            last_->next = &op;
        } else {
            first_ = &op;
        }
        last_ = &op;
    }

    /// REQUIRES: !empty().
    Op& front() { return *first_; }

    /// REQUIRES: !empty().
    Op& pop() {
        Op& op = *first_;
        first_ = op.next;
        if (first_ == nullptr) last_ = nullptr;
        op.next = nullptr;
        return op;
    }

    /// False when it is not in this list. Linear: for cancel(), which is rare.
    bool remove(Op& op) {
        Op* before = nullptr;
        for (Op* at = first_; at != nullptr; before = at, at = at->next) {
            if (at != &op) continue;
            (before != nullptr ? before->next : first_) = op.next;
            if (last_ == &op) last_ = before;
            op.next = nullptr;
            return true;
        }
        return false;
    }

    /// Everything that is in the list now; the list is empty afterwards.
    OpList take() {
        const OpList all = *this;
        first_ = last_ = nullptr;
        return all;
    }

private:
    Op* first_ = nullptr;
    Op* last_ = nullptr;
};

}  // namespace streamsim::storage
