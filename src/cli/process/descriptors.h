// Names of files that are descriptors of this process: /dev/stdout, /dev/fd/3.
#pragma once

#include <optional>
#include <string>

namespace streamsim::cli {

/// The descriptor of this process that a file in /dev/fd is; nothing: the file is another one.
std::optional<int> own_descriptor(const std::string& file);

/// The file that a symbolic link leads to, over other links too, whether or not it is there, or the descriptor;
/// of any other name the name itself.
std::string behind_links(const std::string& path);

/// "-", and names of the descriptor of standard output.
bool is_standard_output(const std::string& path);

}  // namespace streamsim::cli
