// From the words of the command line to CliOptions, by the option table.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/options.h"

namespace streamsim::cli {

/// Which text is to be printed instead of running the command.
enum class Answer { help, version };

struct ParsedCommandLine {
    std::optional<Answer> answer;
    CliOptions options;
};

/// `leads`: false in the other ranks of a run over several computers. Errors: bad input, every problem with its
/// option and what is expected; environment where the format documents are not to be found.
Result<ParsedCommandLine> parse_command_line(int argc, const char* const* argv, bool leads = true);

/// A remark for each option that has no effect with the others or on the target, which the result keeps. `run`
/// knows its target from its document only.
std::vector<std::string> remarks_on_options(const CliOptions& options);

}  // namespace streamsim::cli
