// Workload documents as text; formats/schema/workload.json.
#pragma once

#include <string>

#include "streamsim/workload.h"

namespace streamsim::profile {

/// The document, indented, with a newline at the end. What is as it would be without being said is left out.
/// Read back it is the same workload.
std::string workload_json(const Workload& workload);

}  // namespace streamsim::profile
