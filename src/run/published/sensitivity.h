// The sensitivity of a model: every number is made a fifth larger and a fifth smaller, alone, and the questions
// that are asked of the model are answered again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "run/published/published_run.h"

namespace streamsim::run {

/// The rows of the papers that are of this model; where there is none, the four data sets, for one seat on one
/// node and for a seat on each node.
std::vector<PublishedRow> questions_to(const std::string& model,
                                       std::uint32_t nodes,
                                       const std::vector<PublishedPaper>& papers);

/// Steps of streams (step_of) that the answers of a model have at most.
inline constexpr std::uint64_t kSensitivityMost = 1'000;

/// An answer has changed when as many streams as before do not play any more, or one step more plays. One that
/// is a bound, as no more than `most` steps were tried, changes downwards only. `percent`: of the change, above
/// 0; a change that is another, as of a small count, is told by its values. Independent runs are on all
/// processors. Blocks for minutes. Errors: of the document.
Result<ModelSensitivity> sensitivity_of(const ModelText& text,
                                        const std::vector<PublishedPaper>& papers,
                                        double percent,
                                        const PublishedOptions& options,
                                        std::uint64_t most = kSensitivityMost);

}  // namespace streamsim::run
