// Memory that streams need, before their media are written or found.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "run/plan/media_plan.h"
#include "run/plan/play_part.h"
#include "run/plan/play_request.h"

namespace streamsim::run {

/// Checks that this computer has memory for all streams of the request, or of the parts. Their media need not
/// exist. Errors: environment.
Result<void> check_memory(const PlayRequest& request);
Result<void> check_memory(const std::vector<PlayPart>& parts);

/// How many times the streams of the request fit into memory; nullopt: there is no limit. Without media, the
/// media that prepare would make count. Errors: bad input, as when the streams are played.
Result<std::optional<std::uint64_t>> times_in_memory(const PlayRequest& request, const FoundMedia& media);

}  // namespace streamsim::run
