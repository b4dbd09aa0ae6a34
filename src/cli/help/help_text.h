// The text of --help, from the tables of commands and options.
#pragma once

#include <string>
#include <string_view>

#include "cli/options/command.h"
#include "cli/options/option_table.h"

namespace streamsim::cli {

/// UTF-8 of at most 80 columns.
std::string help_text(Command command);

/// "[OPTIONS] TARGET": what follows the command's name.
std::string usage(const CommandInfo& command);
/// "--streams N", "-q, --quiet": the names of an option with its value.
std::string shown_names(const Option& option);
/// The help of an option with its default: "streams per seat, of each format (default: 1)".
std::string shown_help(const std::string& help, const std::string& standard);

}  // namespace streamsim::cli
