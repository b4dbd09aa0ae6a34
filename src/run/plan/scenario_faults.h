// Faults of a scenario, as rules of a FaultStorage.
#pragma once

#include <optional>
#include <vector>

#include "storage/fault/fault_plan.h"
#include "streamsim/scenario.h"

namespace streamsim::run {

struct StreamPlan;

/// Adds the faults that do not happen inside a model to `plan`. Delays and errors hit the frames that are due
/// in their span of time, as the streams are planned.
void add_faults(const std::vector<ScenarioFault>& faults,
                const std::vector<StreamPlan>& streams,
                std::optional<storage::FaultPlan>& plan);

}  // namespace streamsim::run
