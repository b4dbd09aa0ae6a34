#include "sim/block_cache.h"

namespace streamsim {

bool BlockCache::take(std::uint64_t key) {
    const std::uint32_t entry = index_.find(key);
    if (entry != kNone) {
        if (entry != newest_) {
            unlink(entry);
            link_newest(entry);
        }
        ++hits_;
        return true;
    }
    const bool hit = was_there_all_the_time(key);
    ++(hit ? hits_ : misses_);
    return hit;
}

bool BlockCache::has(std::uint64_t key) {
    return index_.find(key) != kNone || was_there_all_the_time(key);
}

bool BlockCache::was_there_all_the_time(std::uint64_t key) {
    if (!warm_ || index_.size() >= capacity_) return false;
    put(key);
    return true;
}

std::optional<std::uint64_t> BlockCache::put(std::uint64_t key) {
    if (capacity_ == 0) return key;
    std::uint32_t entry = index_.find(key);
    if (entry != kNone) {
        unlink(entry);
        link_newest(entry);
        return std::nullopt;
    }
    std::optional<std::uint64_t> gone;
    if (index_.size() == capacity_) {
        entry = oldest_;
        gone = entries_[entry].key;
        unlink(entry);
        index_.erase(*gone);
        ++evictions_;
    } else {
        entry = static_cast<std::uint32_t>(entries_.size());
        entries_.emplace_back();
    }
    entries_[entry].key = key;
    index_.insert(key, entry);
    link_newest(entry);
    return gone;
}

void BlockCache::clear() {
    index_.clear();
    entries_.clear();
    newest_ = oldest_ = kNone;
    warm_ = false;
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

}  // namespace streamsim
