// Brings blocks and pages into the caches of the nodes: from the node's SSD, else from a drive of the block's
// home node and, where that is another node, over the back end.
//
// A block that lies on a dead drive is rebuilt from as many others of its group as there are data drives in it.
// Assumption: the others lie on the drives that follow around the ring, in the same row.
#pragma once

#include "sim/cluster/parts.h"

namespace streamsim::sim {

class BlockReader final : public JobOwner {
public:
    explicit BlockReader(ClusterParts& parts) : parts_(parts) {}

    /// Fetches the blocks of a read that are not in the RAM of its node. job.waits_for counts them; the owner's
    /// advance() is called when all of them have come.
    void request(Job& read);
    /// Fetches a block for the node of `read`, unless the block is there or in transit.
    void fetch_ahead(const Job& read, std::uint32_t file, std::uint64_t block);
    /// Keeps the blocks that `write` changes in the RAM of its node.
    void keep_written(const Job& write);

    void advance(Job& job) override;
    void reroute(Job& job) override;

private:
    void fetch(const Job& read, std::uint32_t file, std::uint32_t block, bool paged);
    bool has_page(Node& node, std::uint32_t file, std::uint32_t page, BlockCache& cache) const;
    std::uint64_t unit_bytes(const Job& job) const {
        return job.paged ? parts_.model().page_bytes : parts_.model().block_bytes;
    }
    static void cache(Node& node, std::uint64_t key);
    BlockPlace place_of(const Job& job) const;
    void enter_drive(Job& job);
    void enter_live_drive(Job& job, std::uint32_t ring);
    void rebuild(Job& job, std::uint32_t ring);
    void leave_drive(Job& job);
    void come(Job& job);

    ClusterParts& parts_;
};

}  // namespace streamsim::sim
