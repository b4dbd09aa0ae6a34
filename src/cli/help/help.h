// The texts about the command line, from the tables of commands and options.
#pragma once

#include <string>
#include <string_view>

#include "cli/options/command.h"

namespace streamsim::cli {

/// The text of --help: UTF-8 of at most 80 columns.
std::string help_text(Command command);

/// The manual page streamsim(1): roff with the man macros.
std::string man_page(const std::string& version);

/// The completion script of a shell: bash, zsh or fish.
std::string completions(std::string_view shell);

}  // namespace streamsim::cli
