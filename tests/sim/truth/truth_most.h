// The most streams that a truth storage plays: what predictions are compared with.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "run/plan/play_request.h"
#include "streamsim/media.h"
#include "truth/truth_storage.h"

namespace streamsim::test {

/// A request on the truth, which streams, meters and probes play. Each run on it has chances of its own, by the
/// seed of the truth, `salt` and its number; copies of the request count together. For one thread.
run::PlayRequest request_on_truth(const TruthSpec& spec, std::uint64_t salt);

/// By the search of `max`, confirmed by `confirm` of play. Errors: of the search.
Result<std::uint64_t> truth_most(const TruthSpec& spec,
                                 const MediaFormat& format,
                                 std::uint32_t seats,
                                 std::uint64_t salt,
                                 Duration confirm = seconds(60));

}  // namespace streamsim::test
