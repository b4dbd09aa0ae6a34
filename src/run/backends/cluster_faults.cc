#include "run/backends/cluster_faults.h"

#include <optional>

#include "base/check.h"

namespace streamsim::run {
namespace {

using FaultKind = ScenarioFault::Kind;

/// Nothing: the fault does not happen inside a model.
std::optional<sim::ClusterFault::Kind> kind_in_model(const ScenarioFault& fault) {
    switch (fault.kind) {
        case FaultKind::throughput_gap:
            if (fault.node) return sim::ClusterFault::Kind::pause;
            break;
        case FaultKind::delays:
        case FaultKind::errors: break;
        case FaultKind::drive_dies: return sim::ClusterFault::Kind::drive_dies;
        case FaultKind::node_lost: return sim::ClusterFault::Kind::node_lost;
        case FaultKind::link_slows: return sim::ClusterFault::Kind::link_slows;
        case FaultKind::cache_flush: return sim::ClusterFault::Kind::cache_flush;
    }
    return std::nullopt;
}

}  // namespace

bool is_of_model(const ScenarioFault& fault) {
    return kind_in_model(fault).has_value();
}

sim::ClusterFault cluster_fault(const ScenarioFault& fault) {
    STREAMSIM_CHECK(is_of_model(fault), "other faults are injected over the model");
    sim::ClusterFault out;
    out.kind = *kind_in_model(fault);
    out.node = fault.node.value_or(sim::ClusterFault::kAll);
    out.drive = fault.drive.value_or(0);
    out.seat = fault.seat.value_or(sim::ClusterFault::kAll);
    out.factor = fault.factor;
    out.length = fault.length.value_or(Duration{});
    return out;
}

}  // namespace streamsim::run
