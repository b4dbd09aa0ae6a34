// Options that are right by themselves and wrong together: the conflicts and requirements of the command line.
#pragma once

#include <string>
#include <vector>

#include "cli/options/options.h"

namespace streamsim::cli {

/// Adds a problem for each rule that the options break. REQUIRES: what was typed has been read into `options`,
/// and options.play.target is known.
void check_option_rules(const CliOptions& options, std::vector<std::string>& problems);

/// Options that have no effect with the others: a remark for each, which the result keeps.
std::vector<std::string> remarks_on_options(const CliOptions& options);

}  // namespace streamsim::cli
