// The parts of one cluster, with the event calendar, the jobs and the files that they share.
#pragma once

#include <deque>

#include "sim/cluster/cluster.h"
#include "sim/parts/calendar.h"
#include "sim/parts/file_table.h"
#include "sim/parts/job.h"
#include "sim/parts/node.h"
#include "sim/parts/seat.h"

namespace streamsim::sim {

struct ClusterParts {
    /// Result of live_drive(): every drive is dead.
    static constexpr std::uint32_t kNoDrive = UINT32_MAX;

    ClusterParts(EventLoop& loop, ClusterOptions cluster_options);

    const ClusterModel& model() const { return options.model; }
    /// By its number around the ring (FileTable).
    Drive& drive_at(std::uint32_t ring) { return *nodes[files.node_of(ring)].drives[files.drive_of(ring)]; }
    /// The drive itself, else the next live one around the ring.
    std::uint32_t live_drive(std::uint32_t ring) const;
    std::uint32_t live_drive_after(std::uint32_t ring) const {
        return live_drive((ring + 1) % files.ring_size());
    }

    /// The owner's advance() runs after `time`, within this call where that is zero.
    void delay(Job& job, Job::Stage stage, Duration time);
    /// The job reaches the next stage in this instant, but not within this call.
    void advance_later(Job& job, Job::Stage stage);

    const ClusterOptions options;
    Calendar calendar;
    JobPool jobs;
    FileTable files;
    std::deque<Seat> seats;
    std::deque<Node> nodes;
};

}  // namespace streamsim::sim
