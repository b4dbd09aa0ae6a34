// MPI, as far as it is used: it begins one process on each computer, says who is who, and carries one message
// from rank 0 to all, which says how to reach its seat channel. Then it has done its part: MPI ends a whole job
// when one process of it dies, and a run has to outlive that.
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

/// What the environment that a launcher (mpirun, mpiexec, srun --mpi) made says; nullopt: none started this
/// process.
std::optional<MpiPlace> mpi_place();

/// A launcher gives its processes a terminal of its own making, and what it carries on may end in a log: from
/// here on nothing takes an output for a terminal. Before there are threads. REQUIRES: mpi_place().
void expect_no_terminal();

/// "Open MPI 4.1.4"; "not built in".
std::string mpi_version();

/// Begins MPI, gives every rank the text that `make` made in rank 0, and ends MPI. Blocks; where the other
/// ranks do not begin within a minute the process ends with exit code 3. Once in a process; `make` is not
/// called in other ranks. REQUIRES: mpi_place().
///
/// Errors: environment: MPI is not built in; what `make` gave, in rank 0; interrupted in the others then.
struct MpiBegun {
    MpiPlace place;
    std::string text;
};
Result<MpiBegun> begin_mpi(const std::function<Result<std::string>(MpiPlace)>& make);

}  // namespace streamsim::seats
