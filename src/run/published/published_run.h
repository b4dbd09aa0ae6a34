// Plays what papers print on the models that are said to be theirs, and fits these models again.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "run/published/model_player.h"
#include "streamsim/published.h"

namespace streamsim::run {

/// Any thread.
using SayProgress = std::function<void(const std::string& text)>;

struct PublishedOptions {
    std::string formats;  // the directory of streamsim's documents
    ProgramFacts program;
    SayProgress progress;
    bool fit = false;  // fit the models again, and leave one row out after the other
};

/// The papers of a directory of documents, in name order. Errors: bad input with every problem of all of them.
Result<std::vector<PublishedPaper>> read_papers(const std::string& formats);

/// Every printed number beside its answer. Independent runs are on all processors; the answers do not depend on
/// that. Blocks for minutes. Errors: a model or a workload that cannot be read or played.
Result<PublishedResult> play_published(const std::vector<PublishedPaper>& papers,
                                       const PublishedOptions& options);

/// How long the plays of fits and sensitivities are.
inline constexpr Duration kFitPlay = seconds(10);

/// The text of a shipped model's document, and where it is.
struct ModelText {
    std::string path, text;
};
Result<ModelText> read_model_text(const std::string& model, const std::string& formats);

}  // namespace streamsim::run
