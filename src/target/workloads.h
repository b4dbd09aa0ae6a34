// The workloads that a name or a file can name.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "streamsim/workload.h"

namespace streamsim::target {

/// `typed`: a FILE where it has a '/' or ends with ".json", else the NAME of a document in `directory`. Errors:
/// bad input that lists the names in `directory`, or every problem of the document; environment when the file
/// cannot be read.
Result<Workload> open_workload(const std::string& typed, const std::string& directory);

/// A sentence for each member of the document that changes nothing.
std::vector<std::string> without_effect(const Workload& workload);

}  // namespace streamsim::target
