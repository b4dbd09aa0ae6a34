// Where this program is.
#pragma once

#include <filesystem>

namespace streamsim::run {

/// Its own file, with symbolic links resolved where the system does; empty: not known.
std::filesystem::path program_path();

}  // namespace streamsim::run
