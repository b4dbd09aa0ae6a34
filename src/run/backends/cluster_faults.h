// Faults of a scenario that happen to the parts of a modelled cluster.
#pragma once

#include "sim/cluster/cluster.h"
#include "streamsim/scenario.h"

namespace streamsim::run {

/// True for faults of a model's parts, and for one node that does not answer.
bool is_of_model(const ScenarioFault& fault);

/// REQUIRES: is_of_model(fault).
sim::ClusterFault cluster_fault(const ScenarioFault& fault);

}  // namespace streamsim::run
