// Fits the models of a paper again, from its rows alone.
#pragma once

#include <string>

#include "base/result.h"
#include "run/published/published_run.h"

namespace streamsim::run {

/// Begins in the geometric middle of each parameter's range, not at the shipped numbers, and goes over the
/// parameters in the order of the document until none changes. Then each row is left out once. Errors: a model
/// that cannot be read; a number that the document of the model does not have.
Result<PublishedFit> fit_again(const PublishedPaper& paper,
                               const ModelPlayer& player,
                               const PublishedOptions& options);

}  // namespace streamsim::run
