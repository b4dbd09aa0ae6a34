// PredictionResult: the answers of `predict`.
#pragma once

#include <cstdint>
#include <vector>

#include "streamsim/fields.h"
#include "streamsim/prediction.h"
#include "streamsim/run_result.h"

namespace streamsim {

struct PredictionResult {
    RunResult common;         // program, host, target, model, and how it was played; no streams
    std::uint64_t draws = 0;  // that were asked for
    bool interrupted = false;
    std::vector<Prediction> predictions;  // one a format; of given numbers of streams one
};
void fields(ConstOr<PredictionResult> auto& result, auto& visit) {
    auto& common = result.common;
    program_fields(common, visit);
    visit("host", common.host);
    target_fields(common, visit);
    visit("model", common.model);
    visit.object("play", [&common](auto& play) {
        play_fields(common, play);
        play("order", common.order);
    });
    visit("draws", result.draws);
    visit("interrupted", result.interrupted);
    visit("predictions", result.predictions);
}

}  // namespace streamsim
