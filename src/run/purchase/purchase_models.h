// The models that a configuration of an offer is played on.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sim/model/model_numbers.h"
#include "streamsim/cluster_model.h"

namespace streamsim::run {

/// The model of a document with its changes, as it is first; then those on which a plan must play, too: of a
/// calibrated document the worse ends of all its intervals. Errors: bad input.
Result<std::vector<ClusterModel>> models_to_verify(const std::string& text,
                                                   const std::string& source,
                                                   const std::vector<sim::ModelChange>& changes);

}  // namespace streamsim::run
