// A node of the storage: it answers its seats, caches for them, and holds a share of all blocks on its drives.
//
// Processor: so many cores, each with one request at a time, in the order of arrival. Links: the front end out,
// shared fairly between the seats; the back end in, shared between the seats for whom blocks come. Of the back
// end the receiving side alone is a part: the bytes leave from all the peers evenly, so that the side where
// they meet is the narrower one. Caches: RAM, then SSD: one server in the order of arrival, and then its
// latency. A block that has to leave the RAM goes to the SSD, whose writes cost nothing here. A block that is
// on its way is waited for and never asked for twice; among hits and misses it is a miss.
// What writes do here is in sim/core_writes.cc.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "sim/cluster/block_cache.h"
#include "sim/cluster/drive.h"
#include "sim/cluster/flat_index.h"
#include "sim/cluster/station.h"
#include "streamsim/cluster_model.h"

namespace streamsim::sim {

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

/// What was written and is on no drive yet.
struct WriteJournal {
    WriteJournal(Calendar& calendar, const JournalModel& model)
        : entry(calendar, {1, Rate::of(model.bytes_per_s), false}), size(model.bytes) {}

    /// What is larger than the whole of it goes in alone.
    bool has_room(std::uint64_t bytes) const { return used == 0 || used + bytes <= size; }

    Station entry;
    std::uint64_t size;
    std::uint64_t used = 0;
    std::uint64_t in_order = 0;   // of it, bytes that nobody takes to the drives yet
    std::uint64_t paged = 0;      // the same, written at random
    std::uint64_t pages = 0;      // of those
    std::uint64_t under_way = 0;  // to drives, at once
    std::uint64_t batches = 0;    // that ever were
    JobQueue waiting;             // for room
};

struct Node {
    Node(Calendar& calendar, const ClusterModel& model, bool warm);

    Station cpu;
    Station front_end;
    Station front_end_in;
    Station back_end;
    Station ssd_reads;
    BlockCache ram;
    BlockCache ssd;
    Arrivals arrivals;
    WriteJournal journal;
    std::deque<Station> lines;  // of names
    std::vector<std::unique_ptr<Drive>> drives;
    Duration open_time;     // of one core
    Duration request_time;  // likewise
    Duration write_time;    // of a request that writes
    Duration ssd_time;      // of the second level's server, for a request
    double core_speed;
    Rate writing;    // of one core
    Rate streaming;  // of one core, with what reading ahead costs by its strategy
    Rate filename;
    FlatIndex opened;                // files
    std::uint64_t opened_bytes = 0;  // of those whose end is known
    bool lost = false;
};

}  // namespace streamsim::sim
