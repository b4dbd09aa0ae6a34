// Brings blocks and pages into the RAM of the node that a seat asks, from the block's home node, which holds
// the drive of the block, and where that is another node over the back end.
//
// Levels. A model with l2_bytes has them as OneFS has: the RAM of the asked node (L1), then at the home node
// RAM (L2), an SSD that holds what left L2 (L3), and the drive. Without l2_bytes there is the RAM of the asked
// node, then the SSD of that node, then the drive. Nobody asks twice for a block in transit to a level.
//
// Accesses. A file goes around the drives in stripe units. A block that is fetched far ahead comes from one
// drive in one access: as much of the next stripes as lies on that drive was asked for. A block that is asked
// for without reading ahead, or little ahead, comes in runs of stripe units from as many drives, each with a
// seek and a turn of its own. The run on each drive is the distance that is read ahead, divided by the data
// drives of a stripe.
//
// A run that lies on a dead drive, or waits for one that dies, is rebuilt from as many others of its group as
// there are data drives in it.
// Assumptions: the others lie on the drives that follow around the ring, in the same row; no group has lost
// more drives than its protection allows, as layouts that survive the loss of a node are not modelled.
#pragma once

#include <algorithm>

#include "sim/cluster/parts.h"

namespace streamsim::sim {

class BlockReader final : public JobOwner {
public:
    explicit BlockReader(ClusterParts& parts) : parts_(parts) {}

    /// Fetches the blocks of a read that are not in the RAM of its node. job.waits_for counts them; the owner's
    /// advance() is called when all of them have come. `ahead`: as of fetch_ahead().
    void request(Job& read, std::uint64_t ahead);
    /// Fetches a block for the node of `read`, unless the block is there or in transit. `ahead`: the bytes that
    /// are asked for ahead of the reader altogether.
    void fetch_ahead(const Job& read, std::uint32_t file, std::uint64_t block, std::uint64_t ahead);
    /// Keeps in the RAM of its node the blocks, or the pages, that `write` changes: those that it writes whole
    /// (the last one up to the end of the file), those behind the end that the file had before, and those that
    /// are there. Assumption: a block that several writes overwrite together is not kept.
    void keep_written(const Job& write);

    void advance(Job& job) override;
    void reroute(Job& job) override;

private:
    void fetch(const Job& read, std::uint32_t file, std::uint32_t block, bool paged, std::uint64_t ahead);
    bool was_there(const Node& node, std::uint32_t file, std::uint32_t page, const BlockCache& cache) const;
    bool take_page(Node& node, std::uint32_t file, std::uint32_t page, BlockCache& cache) const;
    bool is_in_ram(Node& node, std::uint32_t file, std::uint32_t number, bool paged) const;
    std::uint64_t run_bytes(std::uint64_t ahead) const;
    std::uint64_t key_at_home(std::uint32_t file, std::uint32_t number, bool paged) const;
    std::uint64_t pages_a_block() const { return parts_.model().block_bytes / parts_.model().page_bytes; }
    bool two_levels() const { return parts_.model().node.l2_bytes > 0; }
    Node& home_of(const Job& job) { return parts_.nodes[job.home]; }
    void reach_home(Job& job);
    void settle_home(Job& job);
    void leave_home(Job& job);
    void read_below(Job& job, Node& node);
    std::uint64_t unit_bytes(const Job& job) const {
        return job.paged ? parts_.model().page_bytes : parts_.model().block_bytes;
    }
    void cache(Node& node, std::uint64_t key) const;
    static void cache_at_home(Node& home, std::uint64_t key);
    BlockPlace place_of(const Job& job) const;
    void enter_drive(Job& job);
    void enter_live_drive(Job& job, std::uint32_t ring);
    void read_in_runs(Job& job, const BlockPlace& place);
    void start_run(Job& whole,
                   std::uint64_t chance,
                   std::uint32_t ring,
                   std::uint64_t position,
                   std::uint64_t bytes,
                   bool rebuilds);
    void rebuild(Job& run);
    bool can_rebuild() const;
    std::uint32_t rebuild_reads() const { return std::max<std::uint32_t>(parts_.model().data_drives, 1); }
    void leave_drive(Job& job);
    void come(Job& job);

    ClusterParts& parts_;
};

}  // namespace streamsim::sim
