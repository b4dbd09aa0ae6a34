#include "sim/cluster/parts.h"

#include <utility>

#include "base/check.h"

namespace streamsim::sim {

ClusterParts::ClusterParts(EventLoop& loop, ClusterOptions cluster_options)
    : options(std::move(cluster_options)), calendar(loop), files(options.model, options.media) {
    STREAMSIM_CHECK(model().nodes > 0 && model().node.drives > 0, "a cluster has nodes with drives");
    for (const SeatPlace& seat : options.seats)
        seats.emplace_back(calendar, model(), seat.node, seat.link.value_or(model().client.link));
    for (std::uint32_t i = 0; i < model().nodes; ++i) nodes.emplace_back(calendar, model(), options.warm);
}

std::uint32_t ClusterParts::live_drive(std::uint32_t ring) const {
    for (std::uint32_t step = 0; step < files.ring_size(); ++step) {
        const std::uint32_t at = (ring + step) % files.ring_size();
        if (!nodes[files.node_of(at)].drives[files.drive_of(at)]->dead) return at;
    }
    return kNoDrive;
}

void ClusterParts::delay(Job& job, Job::Stage stage, Duration time) {
    job.stage = stage;
    if (time <= Duration{}) {
        job.arrive();
    } else {
        calendar.at(calendar.now() + time, Callback::of<&Job::arrive>(&job));
    }
}

void ClusterParts::advance_later(Job& job, Job::Stage stage) {
    job.stage = stage;
    calendar.at(calendar.now(), Callback::of<&Job::arrive>(&job));
}

}  // namespace streamsim::sim
