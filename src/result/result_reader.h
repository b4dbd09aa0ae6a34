// Reads results back from the documents that json_report writes.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "streamsim/run_result.h"

namespace streamsim::result {

/// Reads "streamsim.result", version 1, strictly: a member that is missing, of a wrong type or out of range is
/// a problem. Unknown keys are ignored, for later versions add some; members that were added to version 1 after
/// it was first written (kAdded and only_if in the field lists) may be missing and are empty then. Written
/// again by json_report it is the same text. The frames of a result, and statistics of a model's parts that no
/// document has, are empty. Errors: bad input, every problem with `source` and its JSON pointer.
Result<RunResult> read_result(std::string_view text, const std::string& source);

}  // namespace streamsim::result
