// Draws from a calibrated document: models of which each could be the storage that was measured.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "streamsim/cluster_model.h"

namespace streamsim::sim {

/// `count` models. Draw i has normal scores of its own seed, correlated as the document says, and does not
/// depend on `count`. Each number with low and high is a split lognormal around its value: low and high are its
/// quantiles of 5 % and 95 % (a value of 0: a split normal). A number that is "at least" keeps its value. All
/// rates (keys that end in bits_per_s or bytes_per_s) then take one common factor, whose logarithm has the
/// standard deviation model_error * `model_error_factor`. Numbers are held within the document's bounds; scores
/// whose model is none go halfway to the values, until it is one. Errors: as read_model_document.
Result<std::vector<ClusterModel>> model_draws(std::string_view text,
                                              const std::string& source,
                                              std::uint32_t count,
                                              std::uint64_t seed,
                                              double model_error_factor = 1);

/// The normal score of the 95 % quantile.
inline constexpr double kScoreOf95 = 1.645;

/// As a draw with these scores, by pointer: kScoreOf95 is a number's high, -kScoreOf95 its low. Numbers without
/// a score keep their values. `of_rates`: the score of the common factor of all rates but `exact`, by pointer;
/// `rates_by`: another factor, of all rates. Errors: as read_model_document.
Result<ClusterModel> model_at_scores(std::string_view text,
                                     const std::string& source,
                                     const std::map<std::string, double>& scores,
                                     double of_rates,
                                     const std::vector<std::string>& exact = {},
                                     double rates_by = 1);

/// The document's model with a server that is never full: each "at least" number times 1000, as far as its
/// bounds go, but those of /client at their low. Errors: as read_model_document.
Result<ClusterModel> without_bounds(std::string_view text, const std::string& source);
/// The same as a document.
Result<std::string> document_without_bounds(std::string_view text, const std::string& source);

}  // namespace streamsim::sim
