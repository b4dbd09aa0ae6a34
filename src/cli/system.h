// What the command line needs of each kind of system.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace streamsim {

/// The command line in UTF-8, with which `argv` came. From here on standard output takes bytes as they are.
/// Once, first of all.
std::vector<std::string> begin_program(int argc, const char* const* argv);

/// For writing, emptied; with `is_new` an error (EEXIST) where there is a file already. Null: errno says why.
std::FILE* open_output(const std::string& path, bool is_new);

}  // namespace streamsim
