// The completion scripts of bash, zsh and fish, from the tables of commands and options.
#pragma once

#include <string>
#include <string_view>

namespace streamsim::cli {

/// `shell`: bash, zsh or fish.
std::string completions(std::string_view shell);

}  // namespace streamsim::cli
