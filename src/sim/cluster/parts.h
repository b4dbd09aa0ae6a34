// The parts of one cluster, with the event calendar, the jobs and the files that they share.
#pragma once

#include <deque>
#include <utility>

#include "base/check.h"
#include "base/prng.h"
#include "sim/cluster/cluster.h"
#include "sim/parts/calendar.h"
#include "sim/parts/file_table.h"
#include "sim/parts/job.h"
#include "sim/parts/node.h"
#include "sim/parts/seat.h"

namespace streamsim::sim {

/// Each operation has its own random draws, by its tag: a cluster that is faster in one part sees the same slow
/// answers elsewhere.
inline constexpr std::uint64_t kReadSeed = 0;
inline constexpr std::uint64_t kOpenSeed = 0x6f70656e;
inline constexpr std::uint64_t kWriteSeed = 0x7772697465;
inline constexpr std::uint64_t kNameSeed = 0x6e616d6573;
inline constexpr std::uint64_t kOtherLoadSeed = 0x6f74686572;

struct ClusterParts {
    /// Result of live_drive(): every drive is dead.
    static constexpr std::uint32_t kNoDrive = UINT32_MAX;

    ClusterParts(EventLoop& loop, ClusterOptions cluster_options)
        : options(std::move(cluster_options)), calendar(loop), files(options.model, options.media) {
        STREAMSIM_CHECK(model().nodes > 0 && model().node.drives > 0, "a cluster has nodes with drives");
        for (const SeatPlace& seat : options.seats)
            seats.emplace_back(calendar, model(), seat.node, seat.link.value_or(model().client.link));
        const std::uint64_t other_loads = derive_seed(options.seed, kOtherLoadSeed);
        for (std::uint32_t i = 0; i < model().nodes; ++i)
            nodes.emplace_back(calendar, model(), options.warm, derive_seed(other_loads, i));
        for (Node& node : nodes) node.l2.hold_media(files.media_blocks_a_node());
    }

    const ClusterModel& model() const { return options.model; }
    /// By its number around the ring (FileTable).
    Drive& drive_at(std::uint32_t ring) { return *nodes[files.node_of(ring)].drives[files.drive_of(ring)]; }
    /// The drive itself, else the next live one around the ring.
    std::uint32_t live_drive(std::uint32_t ring) const {
        for (std::uint32_t step = 0; step < files.ring_size(); ++step) {
            const std::uint32_t at = (ring + step) % files.ring_size();
            if (!nodes[files.node_of(at)].drives[files.drive_of(at)]->dead) return at;
        }
        return kNoDrive;
    }
    std::uint32_t live_drive_after(std::uint32_t ring) const {
        return live_drive((ring + 1) % files.ring_size());
    }

    /// The owner's advance() runs after `time`, within this call where that is zero.
    void delay(Job& job, Job::Stage stage, Duration time) {
        job.enter_stage(stage);
        if (time <= Duration{}) return job.arrive();
        calendar.at(calendar.now() + time, Callback::of<&Job::arrive>(&job));
    }
    /// The job reaches the stage in this instant, but not within this call.
    void pass(Job& job, Job::Stage stage) {
        calendar.at(calendar.now(), Callback::of<&Job::arrive>(&job.enter_stage(stage)));
    }
    void fail(Job& job, Job::Stage stage, int error) {
        job.error = error;
        pass(job, stage);
    }

    /// A seat of the node has opened the file, or reads it after it came from a lost node.
    void add_opened(std::uint32_t node, std::uint32_t file) {
        if (!options.warm) return;
        nodes[node].opened.add(file, files[file].bytes);
        opened.add(file, files[file].bytes);
    }

    const ClusterOptions options;
    Calendar calendar;
    JobPool jobs;
    FileTable files;
    std::deque<Seat> seats;
    std::deque<Node> nodes;
    OpenedFiles opened;  // at any node
};

}  // namespace streamsim::sim
