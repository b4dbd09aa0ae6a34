#include "run/backends/cluster_faults.h"

#include "base/check.h"

namespace streamsim::run {

using Kind = ScenarioFault::Kind;

bool is_of_model(const ScenarioFault& fault) {
    switch (fault.kind) {
        case Kind::throughput_gap: return fault.node.has_value();
        case Kind::delays:
        case Kind::errors: return false;
        case Kind::drive_dies:
        case Kind::node_lost:
        case Kind::link_slows:
        case Kind::cache_flush: return true;
    }
    return true;
}

sim::ClusterFault cluster_fault(const ScenarioFault& fault) {
    sim::ClusterFault out;
    switch (fault.kind) {
        case Kind::throughput_gap: out.kind = sim::ClusterFault::Kind::pause; break;
        case Kind::drive_dies: out.kind = sim::ClusterFault::Kind::drive_dies; break;
        case Kind::node_lost: out.kind = sim::ClusterFault::Kind::node_lost; break;
        case Kind::link_slows: out.kind = sim::ClusterFault::Kind::link_slows; break;
        case Kind::cache_flush: out.kind = sim::ClusterFault::Kind::cache_flush; break;
        case Kind::delays:
        case Kind::errors: STREAMSIM_CHECK(false, "delays and errors are injected over the model");
    }
    out.node = fault.node.value_or(sim::ClusterFault::kAll);
    out.drive = fault.drive.value_or(0);
    out.seat = fault.seat.value_or(sim::ClusterFault::kAll);
    out.factor = fault.factor;
    out.length = fault.length.value_or(Duration{});
    return out;
}

}  // namespace streamsim::run
