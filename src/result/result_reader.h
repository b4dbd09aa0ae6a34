// A result read back from its document: what json_report wrote.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "streamsim/run_result.h"

namespace streamsim::result {

/// Reads "streamsim.result", version 1, strictly: a member that is missing, of a wrong type or out of range is
/// a problem. Keys that are not known are passed over, for later versions add some; what was added to version 1
/// since it was first written (causes, places, series, margin bins, mount, links, system, probes) may be
/// missing and is empty then. Written again by json_report it is the same text. Not in the document, and so not
/// in the result: its frames, and of a model's parts all but what is shown of them.
/// Errors: bad input, every problem with `source` and its JSON pointer.
Result<RunResult> read_result(std::string_view text, const std::string& source);

}  // namespace streamsim::result
