// Predictions of a calibrated model: the question is played on draws of its uncertain numbers, in virtual time
// on all processors.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "run/published/published_run.h"
#include "run/session/model_play.h"
#include "streamsim/prediction.h"

namespace streamsim::run {

/// Draws of `predict`, and of other commands on a calibrated model.
inline constexpr std::uint32_t kPredictDraws = 200;
inline constexpr std::uint32_t kPlayDraws = 40;

struct PredictionOptions {
    std::uint32_t draws = kPredictDraws;
    double headroom_percent = 0;  // of the most streams: as judge::max_run takes it
    ProgramFacts program;
    SayProgress progress;  // any thread
    /// Set by any thread: no other play begins, and the draws that are done give the answer. Null: never.
    std::shared_ptr<const std::atomic<bool>> stop;
};

/// The answers of this model vary: some of its numbers have low and high.
bool is_uncertain(const ClusterModel& model);

/// How many streams of the request's only format play on its seats. `nominal`: the answer with every number at
/// its value; nullopt: it is searched for first. `text`: of the document of request.target.model. Errors: of
/// the document or the request; interrupted where fewer than judge::kDrawsMin draws are done. Blocks.
Result<Prediction> predict_most(const ModelText& text,
                                const PlayRequest& request,
                                std::optional<std::uint64_t> nominal,
                                const PredictionOptions& options);

/// As many streams of the held-back run's format are no easier for the storage than those of that run: what it
/// did not play then, it does not play with other load besides. 0, too, where the storage is not as it was
/// measured.
std::uint64_t no_easier_streams(const PartsToPlay& what);

/// Whether these streams play. `what`: as the answer names them. Errors, blocks: as predict_most.
Result<Prediction> predict_plays(const ModelText& text,
                                 const PartsToPlay& what,
                                 const PredictionOptions& options);

}  // namespace streamsim::run
