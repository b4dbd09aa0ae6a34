// Printed results of a paper as JSON (schema "streamsim.published", formats/schema/published.json), read
// strictly.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "streamsim/published.h"

namespace streamsim::scenario {

/// Errors: bad input, every problem with `source` and its JSON pointer; also for names that name nothing.
Result<PublishedPaper> read_published(std::string_view text, const std::string& source);

}  // namespace streamsim::scenario
