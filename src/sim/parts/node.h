// A node of the storage: it answers its seats, caches for them, and holds a share of all blocks on its drives.
//
// Processor: so many cores, each with one request at a time, in the order of arrival. Links: the front end
// outwards, shared fairly between the seats; the back end inwards, shared between the seats for which blocks
// come, and the journals (write_path.h). Only the receiving side of the back end is a part: the bytes leave
// from all peers evenly, so that the side where they meet is the narrower one. Caches: RAM for what its seats
// ask for (L1), where the model has it RAM for the blocks of its own drives (L2), and an SSD: one server in the
// order of arrival, and then its latency. A block that leaves the RAM before the SSD goes to the SSD, whose
// writes cost nothing here. Nobody asks twice for a block in transit; such a request counts as a miss.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "sim/parts/block_cache.h"
#include "sim/parts/drive.h"
#include "sim/parts/flat_index.h"
#include "sim/parts/other_load.h"
#include "sim/parts/station.h"
#include "streamsim/cluster_model.h"

namespace streamsim::sim {

/// The reads that wait for blocks in transit to one node, in order. Allocates only when more wait than ever
/// before.
class Arrivals {
public:
    bool expects(std::uint64_t key) const { return index_.find(key) != FlatIndex::kNone; }
    /// REQUIRES: !expects(key).
    void expect(std::uint64_t key);
    /// REQUIRES: expects(key).
    void wait(std::uint64_t key, Job& job);
    /// Returns the first waiter of the block, which is not expected any more; next() goes through all of them.
    /// REQUIRES: expects(key).
    std::uint32_t arrived(std::uint64_t key);
    /// Returns the job of `waiter`, which becomes the next one; null at the end.
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

/// Bytes that were written and are on no drive yet (write_path.h).
struct WriteJournal {
    WriteJournal(Calendar& calendar, const JournalModel& model)
        : entry(calendar, {1, Rate::of(model.bytes_per_s), false}), size(model.bytes) {}

    /// An entry that is larger than the journal enters alone.
    bool has_room(std::uint64_t bytes) const { return used == 0 || used + bytes <= size; }

    Station entry;
    std::uint64_t size;
    std::uint64_t used = 0;
    std::uint64_t in_order = 0;            // bytes written in order that are in no batch
    std::uint64_t paged = 0;               // bytes written at random that are in no batch
    std::uint64_t pages = 0;               // of `paged`
    std::uint64_t batches_in_transit = 0;  // to the drives
    std::uint64_t batches = 0;             // started so far
    JobQueue waiting;                      // for room
};

/// The files whose shares a warm cache holds: those that were opened, or read in pages.
class OpenedFiles {
public:
    /// Counts the file once; never one without an end.
    void add(std::uint32_t file, std::uint64_t bytes);
    std::uint64_t bytes() const { return bytes_; }

private:
    FlatIndex files_;
    std::uint64_t bytes_ = 0;
};

struct Node {
    /// `seed`: of the other load on its front end.
    Node(Calendar& calendar, const ClusterModel& model, bool warm, std::uint64_t seed = 0);
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

    std::optional<OtherLoad> other_load;  // of both directions of the front end
    Station cpu;
    Station front_end;
    Station front_end_in;
    Station back_end;
    Station ssd_reads;
    BlockCache ram;
    BlockCache l2;
    BlockCache ssd;
    Arrivals arrivals;       // at the RAM
    Arrivals home_arrivals;  // at L2
    WriteJournal journal;
    std::deque<Station> metadata_lines;
    std::deque<Station> read_lines;
    std::vector<std::unique_ptr<Drive>> drives;
    Duration open_time;     // of one core
    Duration request_time;  // of one core
    Duration frame_time;    // of one core, more
    Duration write_time;    // of one core, for a request that writes
    Duration ssd_time;      // of the SSD's server, for a request
    double core_speed;
    Rate writing;        // of one core
    Rate streaming;      // of one core, the extra work of strategy streaming
    Rate filename;       // of one core, the extra work of strategy filename_prefetch
    OpenedFiles opened;  // at this node; warm caches only
    bool lost = false;
};

}  // namespace streamsim::sim
