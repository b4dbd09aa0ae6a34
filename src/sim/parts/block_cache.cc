#include "sim/parts/block_cache.h"

namespace streamsim::sim {

bool BlockCache::take(std::uint64_t key) {
    const std::uint32_t entry = index_.find(key);
    if (entry != kNone) {
        touch(entry);
        ++hits_;
        return true;
    }
    const bool hit = was_there_all_the_time(key);
    ++(hit ? hits_ : misses_);
    return hit;
}

bool BlockCache::take_page(std::uint64_t page, std::uint64_t block, bool was_there) {
    std::uint32_t entry = index_.find(page);
    if (entry == kNone) entry = index_.find(block);
    if (entry != kNone) touch(entry);
    const bool hit = entry != kNone || (warm_ && was_there);
    ++(hit ? hits_ : misses_);
    return hit;
}

bool BlockCache::has(std::uint64_t key) {
    return index_.find(key) != kNone || was_there_all_the_time(key);
}

bool BlockCache::was_there_all_the_time(std::uint64_t key) {
    if (!warm_ || used_ + room_of(key) > capacity_) return false;
    put(key);
    return true;
}

std::optional<std::uint64_t> BlockCache::put(std::uint64_t key) {
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

std::optional<std::uint64_t> BlockCache::evict() {
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

void BlockCache::clear() {
    index_.clear();
    entries_.clear();
    free_.clear();
    used_ = 0;
    newest_ = oldest_ = kNone;
    warm_ = false;
}

void BlockCache::touch(std::uint32_t entry) {
    if (entry == newest_) return;
    unlink(entry);
    link_newest(entry);
}

void BlockCache::link_newest(std::uint32_t entry) {
    entries_[entry].newer = kNone;
    entries_[entry].older = newest_;
    (newest_ != kNone ? entries_[newest_].newer : oldest_) = entry;
    newest_ = entry;
}

void BlockCache::unlink(std::uint32_t entry) {
    const Entry& gone = entries_[entry];
    (gone.newer != kNone ? entries_[gone.newer].older : newest_) = gone.older;
    (gone.older != kNone ? entries_[gone.older].newer : oldest_) = gone.newer;
}

}  // namespace streamsim::sim
