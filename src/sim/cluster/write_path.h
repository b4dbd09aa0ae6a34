// WritePath: the path of written bytes and of changes of names into the journal of a node, and from there to
// the drives.
//
// A write waits, in order, until the journal has room. Its content goes to the drives in batches, as many at a
// time as keep every drive of the node's share busy: one block's worth of what was written in order, as one
// access; or merge_pages pages of what was written at random: on flash one after the other, each an access of
// its own, on a disk sorted into one. Protection costs bytes for writes in order ((data + protection) / data of
// them) and accesses for writes at random (one for the page and one for each protection unit). Batches go
// around all drives, over the back end of the drives of other nodes, where those of all journals together have
// the share of one seat, and the journal has room again when the drive is done. Less than a batch waits for
// more, unless a write waits for room and no batch is in transit. Without a journal a write is complete when
// its own drives have it.
//
// Assumptions: the old data and protection that a small write changes are in memory; bytes that were
// overwritten in the journal go to the drives all the same; an entry for a name is 8 KiB, written in order.
#pragma once

#include "sim/cluster/parts.h"

namespace streamsim::sim {

class WritePath final : public JobOwner {
public:
    explicit WritePath(ClusterParts& parts) : parts_(parts) {}

    /// Enters the job into its node's journal at once or when there is room; its owner's advance() is then
    /// called at Stage::journal. A job that waits for room fails with EIO where every drive is dead: advance()
    /// is then called at Stage::journal_way.
    void enter_journal(Job& job);
    /// The journal has served the job.
    void leave_journal(const Job& job);
    /// Without a journal: the owner's advance() is called at Stage::blocks when the drives have all bytes.
    /// REQUIRES: bytes > 0.
    void write_through(Job& write);

    void advance(Job& job) override;
    void reroute(Job& job) override;

private:
    void serve(Job& job);
    void serve_waiting(std::uint32_t node);
    void fail_waiting(std::uint32_t node);
    void start_batches(std::uint32_t node);
    bool start_batch(std::uint32_t node, std::uint64_t bytes, std::uint64_t pages);
    void enter_drive(Job& job, std::uint32_t ring);
    void finish(Job& job);
    std::uint64_t protected_bytes(std::uint64_t bytes) const;
    std::uint64_t page_bytes() const;
    std::uint32_t drives_a_page() const { return parts_.model().protection_drives + 1; }

    ClusterParts& parts_;
};

}  // namespace streamsim::sim
