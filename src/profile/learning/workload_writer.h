// Workload documents; formats/schema/workload.json.
#pragma once

#include "base/document/json.h"
#include "streamsim/workload.h"

namespace streamsim::profile {

/// Members with their default value are left out. The document reads back as the same workload.
OrderedJson workload_document(const Workload& workload);

}  // namespace streamsim::profile
