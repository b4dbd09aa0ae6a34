// One level of a node's cache: whole blocks, the least recently used goes first.
//
// A warm cache is one in which the run's media already are as far as it reaches. Which blocks those are need
// not be listed: as long as there is room, a block that nobody has asked for was there all the time, and is put
// in its place now. What no longer has room was not there.
//
// Assumptions: strict LRU (real ones approximate it); metadata takes no room.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/flat_index.h"

namespace streamsim {

class BlockCache {
public:
    /// `blocks` may be 0: nothing is ever in it.
    BlockCache(std::uint64_t blocks, bool warm) : capacity_(blocks), warm_(warm) {}

    /// Somebody wants the block: true, and it is the most recently used one, when it is here. Counted.
    bool take(std::uint64_t key);
    /// As take(), for reading ahead: not counted, and its place in the order stays.
    bool has(std::uint64_t key);
    /// Puts the block in as the most recently used; gives the one that had to go. A block that is here already
    /// only moves.
    std::optional<std::uint64_t> put(std::uint64_t key);
    /// Empty and cold.
    void clear();

    std::uint64_t capacity() const { return capacity_; }
    std::uint64_t size() const { return index_.size(); }
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

    bool was_there_all_the_time(std::uint64_t key);
    void link_newest(std::uint32_t entry);
    void unlink(std::uint32_t entry);

    std::uint64_t capacity_;
    bool warm_;
    FlatIndex index_;
    std::vector<Entry> entries_;
    std::uint32_t newest_ = kNone;
    std::uint32_t oldest_ = kNone;
    std::uint64_t hits_ = 0;
    std::uint64_t misses_ = 0;
    std::uint64_t evictions_ = 0;
};

}  // namespace streamsim
