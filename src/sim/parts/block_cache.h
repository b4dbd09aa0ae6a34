// One level of a node's cache: blocks, and pages of blocks; the least recently used one leaves first. A block
// takes the room of all its pages.
//
// A warm cache holds the run's media as far as it has room. Its blocks need no list: as long as there is room,
// a block that nobody has asked for counts as present, and is inserted then. Without room it was not present.
// Pages are requested at random, and there may be many times more of them than room: a page that nobody has
// asked for is present with a chance, the share of such pages that the entries of the list leave room for, and
// is listed then.
//
// Eight neighbours share an entry of the index, which is small enough to stay in the processor's cache.
//
// Assumptions: strict LRU (real ones approximate it); metadata takes no room.
#pragma once

#include <array>
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

    /// A warm cache that has room for all media of the run, so many blocks, needs no list of them: they stay.
    void hold_media(std::uint64_t blocks) {
        if (warm_ && blocks * block_room_ < capacity_) held_ = blocks * block_room_;
    }

    /// Set in the keys of pages, not in those of blocks.
    static constexpr std::uint64_t kPage = std::uint64_t{1} << 63;

    /// A request for the block. True: it is here, and becomes the most recently used one. Counted.
    bool take(std::uint64_t key, bool of_media = false) {
        const bool hit = (of_media && held_ > 0) || touch_if_here(key) || was_there_all_the_time(key);
        ++(hit ? hits_ : misses_);
        return hit;
    }

    /// As take(), for reading ahead and for writing: not counted, and the order stays.
    bool has(std::uint64_t key) { return find(key) != kNone || was_there_all_the_time(key); }
    /// As take_page(), for writing: not counted, and the order stays.
    bool has_page(std::uint64_t page, std::uint64_t block, bool was_there) const {
        return find(page) != kNone || find(block) != kNone || (warm_ && was_there);
    }

    /// A request for a page. True: the page or its block is here. Counted. `was_there`: a warm cache holds the
    /// page, if nobody asked for it before.
    bool take_page(std::uint64_t page, std::uint64_t block, bool was_there) {
        const bool listed = touch_if_here(page) || touch_if_here(block);
        const bool hit = listed || (warm_ && was_there);
        if (hit && !listed && used_ < room_left()) put(page);
        ++(hit ? hits_ : misses_);
        return hit;
    }

    /// Inserts the block or the page as the most recently used one. Returns one that had to leave; evict()
    /// returns the others. An entry that is here already only moves in the order.
    std::optional<std::uint64_t> put(std::uint64_t key) {
        const std::uint64_t room = room_of(key);
        if (room > room_left()) return key;
        std::uint32_t number = index_.find(key / kRun);
        if (number == kNone) number = add_run(key / kRun);
        Run& run = runs_[number];
        const Place place = place_of(number, key);
        if ((run.here & bit_of(key)) != 0) {
            touch(place);
            return std::nullopt;
        }
        run.here |= bit_of(key);
        link_newest(place);
        used_ += room;
        return evict();
    }

    /// One more entry that has to leave.
    std::optional<std::uint64_t> evict() {
        if (used_ <= room_left()) return std::nullopt;
        const Place place = oldest_;
        const std::uint32_t number = place / kRun;
        const std::uint64_t gone = runs_[number].neighbours * kRun + place % kRun;
        unlink(place);
        runs_[number].here &= ~bit_of(gone);
        if (runs_[number].here == 0) {
            index_.erase(gone / kRun);
            free_.push_back(number);
        }
        used_ -= room_of(gone);
        ++evictions_;
        return gone;
    }

    /// Empty and cold.
    void clear() {
        index_.clear();
        runs_.clear();
        free_.clear();
        used_ = held_ = 0;
        newest_ = oldest_ = kNone;
        warm_ = false;
    }

    /// In pages, or in blocks where those have none.
    std::uint64_t capacity() const { return capacity_; }
    /// The room of the listed entries, in the same unit.
    std::uint64_t used() const { return used_; }
    std::uint64_t hits() const { return hits_; }
    std::uint64_t misses() const { return misses_; }
    std::uint64_t evictions() const { return evictions_; }

private:
    static constexpr std::uint32_t kNone = FlatIndex::kNone;
    static constexpr std::uint32_t kRun = 8;
    /// A block's place in runs_: the number of its run, times kRun, and its number in the run.
    using Place = std::uint32_t;
    struct Link {
        Place newer = kNone;
        Place older = kNone;
    };
    /// Neighbouring blocks.
    struct Run {
        std::uint64_t neighbours = 0;  // their keys / kRun
        std::uint32_t here = 0;        // bit i: block i
        std::array<Link, kRun> links;
    };

    std::uint64_t room_left() const { return capacity_ - held_; }
    static std::uint32_t bit_of(std::uint64_t key) { return 1U << (key % kRun); }
    static Place place_of(std::uint32_t run, std::uint64_t key) {
        return run * kRun + static_cast<std::uint32_t>(key % kRun);
    }
    bool was_there_all_the_time(std::uint64_t key) {
        if (!warm_ || used_ + room_of(key) > room_left()) return false;
        put(key);
        return true;
    }
    Place find(std::uint64_t key) const {
        const std::uint32_t run = index_.find(key / kRun);
        return run != kNone && (runs_[run].here & bit_of(key)) != 0 ? place_of(run, key) : kNone;
    }
    bool touch_if_here(std::uint64_t key) {
        const Place place = find(key);
        if (place != kNone) touch(place);
        return place != kNone;
    }
    std::uint32_t add_run(std::uint64_t neighbours) {
        auto run = static_cast<std::uint32_t>(runs_.size());
        if (free_.empty()) {
            runs_.emplace_back();
        } else {
            run = free_.back();
            free_.pop_back();
        }
        runs_[run].neighbours = neighbours;
        index_.insert(neighbours, run);
        return run;
    }
    Link& link(Place place) { return runs_[place / kRun].links[place % kRun]; }
    void touch(Place place) {
        if (place == newest_) return;
        unlink(place);
        link_newest(place);
    }
    void link_newest(Place place) {
        link(place) = {kNone, newest_};
        (newest_ != kNone ? link(newest_).newer : oldest_) = place;
        newest_ = place;
    }
    void unlink(Place place) {
        const Link gone = link(place);
        (gone.newer != kNone ? link(gone.newer).older : newest_) = gone.older;
        (gone.older != kNone ? link(gone.older).newer : oldest_) = gone.newer;
    }
    std::uint64_t room_of(std::uint64_t key) const { return (key & kPage) != 0 ? 1 : block_room_; }

    std::uint64_t capacity_;
    std::uint32_t block_room_;
    bool warm_;
    std::uint64_t used_ = 0;
    std::uint64_t held_ = 0;  // the room of the media that stay
    FlatIndex index_;         // of runs_, by key / kRun
    std::vector<Run> runs_;
    std::vector<std::uint32_t> free_;  // of runs_
    Place newest_ = kNone;
    Place oldest_ = kNone;
    std::uint64_t hits_ = 0;
    std::uint64_t misses_ = 0;
    std::uint64_t evictions_ = 0;
};

}  // namespace streamsim::sim
