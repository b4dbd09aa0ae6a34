#include "sim/cluster/cluster.h"

#include <utility>

#include "sim/cluster/cluster_stats.h"
#include "sim/cluster/completions.h"
#include "sim/cluster/fault_schedule.h"
#include "sim/cluster/open_files.h"
#include "sim/cluster/parts.h"
#include "sim/cluster/request_path.h"
#include "sim/cluster/sim_decoder.h"
#include "sim/cluster/sim_storage.h"

namespace streamsim::sim {

struct Cluster::Machinery {
    Machinery(EventLoop& loop, ClusterOptions options)
        : parts(loop, std::move(options)),
          completions(loop, parts.calendar, parts.jobs),
          path(parts, open_files, completions),
          faults(parts) {}

    ClusterParts parts;
    OpenFiles open_files;
    Completions completions;
    RequestPath path;
    FaultSchedule faults;
};

Cluster::Cluster(EventLoop& loop, ClusterOptions options)
    : machinery_(std::make_unique<Machinery>(loop, std::move(options))) {}

Cluster::~Cluster() = default;

std::unique_ptr<Storage> Cluster::make_storage() {
    return std::make_unique<SimStorage>(machinery_->parts, machinery_->open_files, machinery_->path);
}

std::unique_ptr<Decoder> Cluster::make_decoder(std::uint32_t seat,
                                               const MediaFormat* format,
                                               Duration extra_cpu) {
    const Duration cost = Seat::decode_time(machinery_->parts.model().client, format, extra_cpu);
    return std::make_unique<SimDecoder>(machinery_->parts, machinery_->completions, seat, cost);
}

std::vector<PartStats> Cluster::stats(Instant from, Instant to) const {
    return cluster_stats(machinery_->parts, machinery_->path.coordinators(), from, to);
}

void Cluster::add_file(const char* path, std::uint64_t bytes) {
    machinery_->parts.files.add(path, bytes);
}

void Cluster::at(Instant when, const ClusterFault& fault) {
    machinery_->faults.add(when, fault);
}

}  // namespace streamsim::sim
