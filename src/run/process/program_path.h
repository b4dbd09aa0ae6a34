// The file of this program.
#pragma once

#include <filesystem>

namespace streamsim::run {

/// The path of the running program, with symbolic links resolved where the system does that; empty: not known.
std::filesystem::path program_path();

}  // namespace streamsim::run
