// The parts of streamsim that this program was built without.
#pragma once

#include <string>
#include <vector>

namespace streamsim::run {

/// The parts that a program holds.
struct BuiltIn {
    std::vector<std::string> backends;  // as backend_names()
    bool http = false;                  // --metrics and --web
    bool exr = false;                   // frames of EXR can be made
    bool mpi = false;
};
/// The parts of this program.
BuiltIn built_in();

/// The missing parts, as a user names them: "io_uring", "smb:// (play the mounted share)".
std::vector<std::string> missing_parts(const BuiltIn& parts);

}  // namespace streamsim::run
