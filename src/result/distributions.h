// Distributions as they are in documents, and what a result says of them.
#pragma once

#include <cstdint>
#include <vector>

#include "metrics/distributions.h"
#include "streamsim/run_result.h"

namespace streamsim::result {

/// `depths`: DeadlineLedger::depths.
StreamHistograms histograms_of(const metrics::Distributions& times, const std::vector<std::uint64_t>& depths);
/// The times that histograms_of was given. Buckets that no histogram has are counted where they belong.
metrics::Distributions distributions_of(const StreamHistograms& histograms);

/// Fills the summaries over all streams, and the bins of their margins.
void fill_summaries(const metrics::Distributions& all, RunResult& result);

}  // namespace streamsim::result
