// Programs under a real mpirun.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/harness.h"

namespace streamsim::tests {

bool mpirun_is_here();

#define SKIP_WITHOUT_MPIRUN() \
    if (!mpirun_is_here()) GTEST_SKIP() << "there is no mpirun, or streamsim was built without MPI"

/// The command line of mpirun, for streamsim with `args` on so many ranks.
Spawn over_ranks(int ranks,
                 const std::vector<std::string>& mpirun_options,
                 const std::vector<std::string>& args);

/// The text of a file that may vanish meanwhile; empty: it has.
std::string text_of(const std::filesystem::path& path);

/// The process of this rank, of the run whose command line has `word`; 0: there is none.
pid_t process_of(int rank, const std::string& word);

}  // namespace streamsim::tests
