// A hash table from 64-bit keys to 32-bit numbers for the inner loop: open addressing, linear probing, erasure
// that moves the following entries back (Knuth, volume 3, algorithm 6.4 R), so that no search walks over erased
// ones. Never iterated: its order has no meaning.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace streamsim::sim {

class FlatIndex {
public:
    static constexpr std::uint32_t kNone = UINT32_MAX;

    /// kNone: the key is not in it.
    std::uint32_t find(std::uint64_t key) const {
        if (slots_.empty()) return kNone;
        for (std::size_t at = home(key);; at = (at + 1) & mask()) {
            if (slots_[at].value == kNone) return kNone;
            if (slots_[at].key == key) return slots_[at].value;
        }
    }

    /// REQUIRES: the key is not in it; value != kNone.
    void insert(std::uint64_t key, std::uint32_t value) {
        if ((size_ + 1) * 2 > slots_.size()) grow();
        ++size_;
        put(key, value);
    }

    /// False: the key was not in it.
    bool erase(std::uint64_t key) {
        if (slots_.empty()) return false;
        std::size_t hole = home(key);
        while (slots_[hole].key != key || slots_[hole].value == kNone) {
            if (slots_[hole].value == kNone) return false;
            hole = (hole + 1) & mask();
        }
        for (std::size_t at = (hole + 1) & mask(); slots_[at].value != kNone; at = (at + 1) & mask()) {
            // The entry at `at` may move into the hole when the hole is between its home and `at`.
            if (((at - home(slots_[at].key)) & mask()) >= ((at - hole) & mask())) {
                slots_[hole] = slots_[at];
                hole = at;
            }
        }
        slots_[hole].value = kNone;
        --size_;
        return true;
    }

    std::size_t size() const { return size_; }
    void clear() {
        slots_.clear();
        size_ = 0;
    }

private:
    struct Slot {
        std::uint64_t key = 0;
        std::uint32_t value = kNone;
    };

    std::size_t mask() const { return slots_.size() - 1; }
    std::size_t home(std::uint64_t key) const { return (key * 0x9e3779b97f4a7c15ull) >> shift_; }
    void put(std::uint64_t key, std::uint32_t value) {
        std::size_t at = home(key);
        while (slots_[at].value != kNone) at = (at + 1) & mask();
        slots_[at] = {key, value};
    }
    void grow() {
        std::vector<Slot> old(slots_.empty() ? 16 : slots_.size() * 2);
        old.swap(slots_);
        shift_ = 64 - static_cast<unsigned>(std::countr_zero(slots_.size()));
        for (const Slot& slot : old) {
            if (slot.value != kNone) put(slot.key, slot.value);
        }
    }

    std::vector<Slot> slots_;  // a power of two, at most half of them used
    std::size_t size_ = 0;
    unsigned shift_ = 64;
};

}  // namespace streamsim::sim
