// The faults of a cluster, each at its time.
//
// drive_dies: the jobs that wait for the drive go elsewhere (BlockReader, WritePath); the job that the drive
// serves still completes. node_lost: its drives are dead and its caches are gone; its seats repeat their
// requests to the nodes that are left as soon as they are back. Rebuilding lost drives in the background costs
// nothing. A lost node's journal has a copy, from which its content still goes to the drives. link_slows: where
// several faults slow one link at a time, the lowest factor counts.
#pragma once

#include <deque>
#include <vector>

#include "sim/cluster/parts.h"

namespace streamsim::sim {

class FaultSchedule {
public:
    explicit FaultSchedule(ClusterParts& parts) : parts_(parts) {}

    /// REQUIRES: the fault names a node, drive or seat of the cluster.
    void add(Instant when, const ClusterFault& fault);

private:
    struct Planned {
        FaultSchedule* schedule = nullptr;
        ClusterFault fault;
        bool slows = false;  // a link, now
        void strike() { schedule->strike(*this); }
        void end() { schedule->end(*this); }
    };

    void strike(Planned& planned);
    void end(Planned& planned);
    void slow_links(Planned& planned);
    void strike_nodes(const ClusterFault& fault);
    void kill(const std::vector<Drive*>& drives);
    void lose_node(std::uint32_t node, Duration until_back);
    void move_seats(std::uint32_t lost, Duration until_back);
    void set_links(const ClusterFault& fault);
    template <typename Hits>
    double lowest_factor(Hits hits) const;

    ClusterParts& parts_;
    std::deque<Planned> planned_;  // they stay where they are: the calendar points to them
};

}  // namespace streamsim::sim
