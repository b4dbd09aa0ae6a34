// The models that a configuration of an offer is played on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/model/model_numbers.h"
#include "streamsim/cluster_model.h"

namespace streamsim::run {

/// A storage with more of the number at this pointer is slower: a cost, a time or a share of other load.
bool more_is_worse(std::string_view pointer);

/// The model of a document with its changes, as it is first; then the one on which a plan must play, too: with
/// the worse end of each interval, what is "at least" as low as it was measured, and the worse end of the error
/// of a calibrated model, times `model_error_factor`, where numbers that the changes set are exact; all rates
/// lower by what its held-back run gave less than was predicted. Errors: bad input.
Result<std::vector<ClusterModel>> models_to_verify(const std::string& text,
                                                   const std::string& source,
                                                   const std::vector<sim::ModelChange>& changes,
                                                   double model_error_factor = 1);

}  // namespace streamsim::run
