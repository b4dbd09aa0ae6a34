// The manual page streamsim(1), from the tables of commands and options.
#pragma once

#include <string>

namespace streamsim::cli {

/// roff with the man macros.
std::string man_page(const std::string& version);

}  // namespace streamsim::cli
