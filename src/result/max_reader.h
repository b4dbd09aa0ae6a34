// Reads back the documents that max_json_report writes.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "streamsim/max_result.h"

namespace streamsim::result {

/// True: the text is such a document, whether or not it is whole.
bool is_max_document(std::string_view text);

/// Reads "streamsim.max", version 1, strictly, as read_result does. The model has its name and its title alone.
/// Errors: bad input, every problem with `source` and its JSON pointer.
Result<MaxResult> read_max(std::string_view text, const std::string& source);

}  // namespace streamsim::result
