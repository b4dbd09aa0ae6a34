// The documents and the target that options name: formats, cut lists, faults, workloads, models, credentials.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/options.h"

namespace streamsim::cli {

/// The directory of the format documents: $STREAMSIM_FORMATS, else share/streamsim/formats beside the installed
/// program's bin, else the source tree that this program was built from. Errors: environment, naming the places
/// looked at.
Result<std::string> formats_directory();

/// Parses the target of the command and finds its credentials. Adds a problem where either is wrong.
void open_target(CliOptions& options, std::vector<std::string>& problems);

/// For play, prepare and max: reads the documents that the options name into options.play, and completes the
/// request. Adds every problem of every document. Errors: environment.
Result<void> open_documents(CliOptions& options, std::vector<std::string>& problems);

}  // namespace streamsim::cli
