// Questions to a person at the terminal.
#pragma once

#include <string>

namespace streamsim::cli {

/// True where a person can be asked: standard input and standard error are terminals.
bool can_ask();

/// Writes `question` to standard error and reads one line. Blocks until there is one. True: it was a yes; an
/// end of input is none.
bool ask(const std::string& question);

}  // namespace streamsim::cli
