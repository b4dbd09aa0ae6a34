// Workload documents: streamsim's own by name, a user's by file; and what is played at a step of one.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "run/session/play_request.h"
#include "streamsim/workload.h"

namespace streamsim::run {

/// `typed`: a FILE where it has a '/' or ends with ".json", else the NAME of a document in `directory`. Errors:
/// bad input that lists those that there are, with every problem of the document; environment when it cannot be
/// read.
Result<Workload> open_workload(const std::string& typed, const std::string& directory);

/// The meters of a workload on seats [first, first + seats) of a run; its steps, clients and duration do not
/// count.
std::vector<MeterPart> meters_of(const Workload& workload, std::uint32_t first, std::uint32_t seats);

/// Members of the document that change nothing, a sentence each.
std::vector<std::string> without_effect(const Workload& workload);

/// A step, with meters alone: `base` says target, seed and how it is read. REQUIRES: at_step() gave `step`.
PlayRequest load_request(const Workload& step, const PlayRequest& base);

}  // namespace streamsim::run
