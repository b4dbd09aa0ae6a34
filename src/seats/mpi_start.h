// MPI begins one process on each computer, numbers them, and carries one message from rank 0 to all: the join
// token of its seat channel. Then streamsim ends MPI: MPI ends a whole job when one process of it dies, and a
// run has to outlive that.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"

namespace streamsim::seats {

struct MpiPlace {
    std::uint32_t rank = 0;
    std::uint32_t ranks = 1;
};

/// From the environment that a launcher (mpirun, mpiexec, srun --mpi) sets; nullopt: none started this process.
std::optional<MpiPlace> mpi_place();

/// Errors: environment: Slurm started this process with others, and nothing says which of them it is.
Result<void> check_launcher();

/// From here on no output counts as a terminal: a launcher gives its processes a pseudo-terminal, and its own
/// output may go to a log. Before there are threads. REQUIRES: mpi_place().
void expect_no_terminal();

bool mpi_is_built_in();
/// "Open MPI 4.1.4". REQUIRES: mpi_is_built_in().
std::string mpi_version();

/// Begins MPI, gives every rank the text that `make` returns in rank 0, and ends MPI. Blocks; where the other
/// ranks do not begin within a minute the process ends with exit code 3. Once in a process; other ranks do not
/// call `make`. REQUIRES: mpi_place().
///
/// Errors: environment: MPI is not built in; the launcher is of another MPI, whose ranks are not all here; the
/// error of `make`, in rank 0; interrupted in the others then.
struct MpiBegun {
    MpiPlace place;
    std::string text;
};
Result<MpiBegun> begin_mpi(const std::function<Result<std::string>(MpiPlace)>& make);

}  // namespace streamsim::seats
