// Workload documents as text; formats/schema/workload.json.
#pragma once

#include <string>

#include "streamsim/workload.h"

namespace streamsim::profile {

/// The document, indented, with a newline at the end. Members with their default value are left out. The text
/// reads back as the same workload.
std::string workload_json(const Workload& workload);

}  // namespace streamsim::profile
