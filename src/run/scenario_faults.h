// Faults of a scenario as what a FaultStorage injects, or what happens to a cluster.
#pragma once

#include <optional>
#include <vector>

#include "run/session/stream_plan.h"
#include "sim/cluster/cluster.h"
#include "storage/fault/fault_plan.h"
#include "streamsim/scenario.h"

namespace streamsim::run {

/// True for what happens inside a model and nowhere else: its parts, and the silence of one node.
bool is_of_model(const ScenarioFault& fault);

/// As the model's own. REQUIRES: is_of_model(fault).
sim::ClusterFault cluster_fault(const ScenarioFault& fault);

/// Adds those that are not of a model to `plan`. Delays and errors hit the frames that are due in their span of
/// time, as the streams are planned.
void add_faults(const std::vector<ScenarioFault>& faults,
                const std::vector<StreamPlan>& streams,
                std::optional<storage::FaultPlan>& plan);

}  // namespace streamsim::run
