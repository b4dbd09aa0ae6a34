// In-flight slots: the records that a backend keeps of an operation, a request or a piece while it is under
// way.
#pragma once

#include <cstddef>
#include <deque>

namespace streamsim::storage {

/// Slots stay at their address. A free slot is linked through its member `next`, which its owner may use while
/// the slot is taken.
template <typename Slot>
class SlotPool {
public:
    explicit SlotPool(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) give_back(slots_.emplace_back());
    }

    bool has_free() const { return free_ != nullptr; }

    /// A slot as its last user left it; allocates one more where none is free.
    Slot& take() {
        if (free_ == nullptr) return slots_.emplace_back();
        Slot& slot = *free_;
        free_ = slot.next;
        slot.next = nullptr;
        return slot;
    }

    void give_back(Slot& slot) {
        slot.next = free_;
        free_ = &slot;
    }

    /// All slots, free ones included.
    auto begin() { return slots_.begin(); }
    auto end() { return slots_.end(); }
    std::size_t size() const { return slots_.size(); }

private:
    std::deque<Slot> slots_;
    Slot* free_ = nullptr;
};

}  // namespace streamsim::storage
