#include "sim/cluster/cluster.h"

#include <utility>

#include "sim/cluster/core.h"
#include "sim/sim_decoder.h"
#include "sim/sim_storage.h"

namespace streamsim::sim {

Cluster::Cluster(EventLoop& loop, ClusterOptions options)
    : core_(std::make_unique<ClusterCore>(loop, std::move(options))) {}

Cluster::~Cluster() = default;

std::unique_ptr<Storage> Cluster::make_storage() {
    return std::make_unique<SimStorage>(*core_);
}

std::unique_ptr<Decoder> Cluster::make_decoder(std::uint32_t seat,
                                               const MediaFormat* format,
                                               Duration extra_cpu) {
    const Duration cost = Seat::decode_time(core_->model().client, format, extra_cpu);
    return std::make_unique<SimDecoder>(*core_, seat, cost);
}

std::vector<PartStats> Cluster::stats(Instant from, Instant to) const {
    return core_->stats(from, to);
}

void Cluster::add_file(const char* path, std::uint64_t bytes) {
    core_->add_file(path, bytes);
}

void Cluster::at(Instant when, const ClusterFault& fault) {
    core_->at(when, fault);
}

}  // namespace streamsim::sim
