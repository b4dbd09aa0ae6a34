// A node of the storage: it answers its seats, caches for them, and holds a share of all blocks on its drives.
//
// Processor: so many cores, each with one request at a time, in the order of arrival. Links: the front end out,
// shared fairly between the seats; the back end in, shared between the seats for whom blocks come. Of the back
// end the receiving side alone is a part: the bytes leave from all the peers evenly, so that the side where
// they meet is the narrower one. Caches: RAM, then SSD: one server in the order of arrival, and then its
// latency. A block that has to leave the RAM goes to the SSD, whose writes cost nothing here. A block that is
// on its way is waited for and never asked for twice; among hits and misses it is a miss.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/block_cache.h"
#include "sim/drive.h"
#include "sim/flat_index.h"
#include "sim/station.h"
#include "streamsim/cluster_model.h"

namespace streamsim {

/// Who waits for the blocks that are on their way to one node, in order. Allocates only when more wait than
/// ever before.
class Arrivals {
public:
    bool expects(std::uint64_t key) const { return index_.find(key) != FlatIndex::kNone; }
    /// REQUIRES: !expects(key).
    void expect(std::uint64_t key);
    /// REQUIRES: expects(key).
    void wait(std::uint64_t key, Job& job);
    /// The block is not expected any more: the first of its waiters; next() gives the others. REQUIRES:
    /// expects(key).
    std::uint32_t arrived(std::uint64_t key);
    /// The job, and `waiter` is the next one; null at the end.
    Job* next(std::uint32_t& waiter);

private:
    static constexpr std::uint32_t kNone = FlatIndex::kNone;
    struct Link {
        Job* job = nullptr;
        std::uint32_t next = kNone;
        std::uint32_t last = kNone;  // of the head of a list
    };
    std::uint32_t take();

    FlatIndex index_;  // heads
    std::vector<Link> links_;
    std::uint32_t free_ = kNone;
};

struct Node {
    Node(Calendar& calendar, const ClusterModel& model, bool warm);

    Station cpu;
    Station front_end;
    Station back_end;
    Station ssd_reads;
    BlockCache ram;
    BlockCache ssd;
    Arrivals arrivals;
    std::vector<std::unique_ptr<Drive>> drives;
    Duration open_time;     // of one core
    Duration request_time;  // likewise
    Rate streaming;         // of one core, with what reading ahead costs by its strategy
    Rate filename;
    bool lost = false;
};

}  // namespace streamsim
