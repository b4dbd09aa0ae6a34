#pragma once

#include <string>

#include "base/result.h"

namespace streamsim::cli {

/// The directory of the format documents: $STREAMSIM_FORMATS, else share/streamsim/formats beside the installed
/// program's bin, else the source tree that this program was built from. Errors: environment, naming the places
/// looked at.
Result<std::string> formats_directory();

}  // namespace streamsim::cli
