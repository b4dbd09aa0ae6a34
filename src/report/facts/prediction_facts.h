// The sentences of a prediction, which text and pages share. Inside report/ only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "streamsim/prediction_result.h"

namespace streamsim::report {

/// "20 seats: 17 streams of dpx12 (15 to 19, 90 %); full first: ...", with "refused" or "interrupted" before
/// it.
std::string prediction_headline(const Prediction& prediction);
/// The headline, then what lies outside the measurement, why there is no answer and what to measure, a sentence
/// each.
std::vector<std::string> prediction_sentences(const Prediction& prediction);
/// The question, and the model that answers.
std::string prediction_title(const PredictionResult& result);
/// 100 * part / all, to one decimal.
double percent_of(std::uint64_t part, std::uint64_t all);
/// The headlines of all.
std::string prediction_closing(const PredictionResult& result);

}  // namespace streamsim::report
