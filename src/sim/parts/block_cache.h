// One level of a node's cache: blocks, and pages of blocks; the least recently used one leaves first. A block
// takes the room of all its pages.
//
// A warm cache holds the run's media as far as it has room. Its blocks need no list: as long as there is room,
// a block that nobody has asked for counts as present, and is inserted then. Without room it was not present.
// Pages are requested at random, and there may be many times more of them than room: a page is present with a
// chance, the share of the working set that there is room for.
//
// Assumptions: strict LRU (real ones approximate it); metadata takes no room.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/parts/flat_index.h"

namespace streamsim::sim {

class BlockCache {
public:
    /// `blocks` may be 0: the cache is always empty.
    BlockCache(std::uint64_t blocks, bool warm, std::uint32_t pages_a_block = 1)
        : capacity_(blocks * pages_a_block), block_room_(pages_a_block), warm_(warm) {}

    /// Set in the keys of pages, not in those of blocks.
    static constexpr std::uint64_t kPage = std::uint64_t{1} << 63;

    /// A request for the block. True: it is here, and becomes the most recently used one. Counted.
    bool take(std::uint64_t key) {
        const std::uint32_t entry = index_.find(key);
        if (entry != kNone) touch(entry);
        const bool hit = entry != kNone || was_there_all_the_time(key);
        ++(hit ? hits_ : misses_);
        return hit;
    }

    /// As take(), for reading ahead: not counted, and the order stays.
    bool has(std::uint64_t key) { return index_.find(key) != kNone || was_there_all_the_time(key); }
    /// A request for a page. True: the page or its block is here. Counted. `was_there`: a warm cache holds the
    /// page, if nobody asked for it before.
    bool take_page(std::uint64_t page, std::uint64_t block, bool was_there) {
        std::uint32_t entry = index_.find(page);
        if (entry == kNone) entry = index_.find(block);
        if (entry != kNone) touch(entry);
        const bool hit = entry != kNone || (warm_ && was_there);
        ++(hit ? hits_ : misses_);
        return hit;
    }

    /// Inserts the block or the page as the most recently used one. Returns one that had to leave; evict()
    /// returns the others. An entry that is here already only moves in the order.
    std::optional<std::uint64_t> put(std::uint64_t key) {
        const std::uint64_t room = room_of(key);
        if (room > capacity_) return key;
        std::uint32_t entry = index_.find(key);
        if (entry != kNone) {
            touch(entry);
            return std::nullopt;
        }
        if (free_.empty()) {
            entry = static_cast<std::uint32_t>(entries_.size());
            entries_.emplace_back();
        } else {
            entry = free_.back();
            free_.pop_back();
        }
        entries_[entry].key = key;
        index_.insert(key, entry);
        link_newest(entry);
        used_ += room;
        return evict();
    }

    /// One more entry that has to leave.
    std::optional<std::uint64_t> evict() {
        if (used_ <= capacity_) return std::nullopt;
        const std::uint32_t entry = oldest_;
        const std::uint64_t gone = entries_[entry].key;
        unlink(entry);
        index_.erase(gone);
        free_.push_back(entry);
        used_ -= room_of(gone);
        ++evictions_;
        return gone;
    }

    /// Empty and cold.
    void clear() {
        index_.clear();
        entries_.clear();
        free_.clear();
        used_ = 0;
        newest_ = oldest_ = kNone;
        warm_ = false;
    }

    /// In pages, or in blocks where those have none.
    std::uint64_t capacity() const { return capacity_; }
    std::uint64_t hits() const { return hits_; }
    std::uint64_t misses() const { return misses_; }
    std::uint64_t evictions() const { return evictions_; }

private:
    static constexpr std::uint32_t kNone = FlatIndex::kNone;
    struct Entry {
        std::uint64_t key = 0;
        std::uint32_t newer = kNone;
        std::uint32_t older = kNone;
    };

    bool was_there_all_the_time(std::uint64_t key) {
        if (!warm_ || used_ + room_of(key) > capacity_) return false;
        put(key);
        return true;
    }
    std::uint64_t room_of(std::uint64_t key) const { return (key & kPage) != 0 ? 1 : block_room_; }
    void touch(std::uint32_t entry) {
        if (entry == newest_) return;
        unlink(entry);
        link_newest(entry);
    }
    void link_newest(std::uint32_t entry) {
        entries_[entry].newer = kNone;
        entries_[entry].older = newest_;
        (newest_ != kNone ? entries_[newest_].newer : oldest_) = entry;
        newest_ = entry;
    }
    void unlink(std::uint32_t entry) {
        const Entry& gone = entries_[entry];
        (gone.newer != kNone ? entries_[gone.newer].older : newest_) = gone.older;
        (gone.older != kNone ? entries_[gone.older].newer : oldest_) = gone.newer;
    }

    std::uint64_t capacity_;
    std::uint32_t block_room_;
    bool warm_;
    std::uint64_t used_ = 0;
    FlatIndex index_;
    std::vector<Entry> entries_;
    std::vector<std::uint32_t> free_;
    std::uint32_t newest_ = kNone;
    std::uint32_t oldest_ = kNone;
    std::uint64_t hits_ = 0;
    std::uint64_t misses_ = 0;
    std::uint64_t evictions_ = 0;
};

}  // namespace streamsim::sim
