#include "run/backends/cluster_faults.h"

#include "base/check.h"

namespace streamsim {

using Kind = ScenarioFault::Kind;

bool is_of_model(const ScenarioFault& fault) {
    switch (fault.kind) {
        case Kind::silence: return fault.node.has_value();
        case Kind::delays:
        case Kind::errors: return false;
        case Kind::drive_dies:
        case Kind::node_lost:
        case Kind::link_slows:
        case Kind::cache_flush: return true;
    }
    return true;
}

ClusterFault cluster_fault(const ScenarioFault& fault) {
    ClusterFault out;
    switch (fault.kind) {
        case Kind::silence: out.kind = ClusterFault::Kind::silence; break;
        case Kind::drive_dies: out.kind = ClusterFault::Kind::drive_dies; break;
        case Kind::node_lost: out.kind = ClusterFault::Kind::node_lost; break;
        case Kind::link_slows: out.kind = ClusterFault::Kind::link_slows; break;
        case Kind::cache_flush: out.kind = ClusterFault::Kind::cache_flush; break;
        case Kind::delays:
        case Kind::errors: STREAMSIM_CHECK(false, "delays and errors are injected over the model");
    }
    out.node = fault.node.value_or(ClusterFault::kAll);
    out.drive = fault.drive.value_or(0);
    out.seat = fault.seat.value_or(ClusterFault::kAll);
    out.factor = fault.factor;
    out.length = fault.length.value_or(Duration{});
    return out;
}

}  // namespace streamsim
