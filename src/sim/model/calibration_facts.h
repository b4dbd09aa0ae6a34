// The member "calibration" of a model's document: what was measured, how its numbers vary together, and the run
// that was held back.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/document/json.h"
#include "streamsim/cluster_model.h"

namespace streamsim::sim {

/// `sources` names the numbers of the document as ClusterModel::sources does. Nothing, with problems noted,
/// for a member that is not an object.
std::optional<CalibrationFacts> read_calibration(const Json& value,
                                                 const std::vector<std::string>& sources,
                                                 JsonProblems& problems);

/// The lower triangle L of a correlation matrix, rounded by up to 0.001: L * L' is the matrix. Nothing for a
/// matrix that no numbers can have (Cholesky, in Golub and Van Loan, "Matrix Computations", 4.2). REQUIRES:
/// square.
std::optional<std::vector<std::vector<double>>> cholesky(const std::vector<std::vector<double>>& matrix);

}  // namespace streamsim::sim
