#include "seats/mpi_start.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "base/ascii.h"

#ifdef STREAMSIM_MPI
#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <utility>
#endif

namespace streamsim::seats {
namespace {

/// A batch script has this too, and it is 1 there.
constexpr const char* kSlurmStepTasks = "SLURM_STEP_NUM_TASKS";

std::optional<std::uint32_t> number_in_environment(const char* name) {
    const char* const text = std::getenv(name);
    return text == nullptr ? std::nullopt : whole_number<std::uint32_t>(text);
}

#ifdef STREAMSIM_MPI

/// The ranks begin and hear of rank 0 within this time.
constexpr unsigned kBeginTimeoutSeconds = 60;

/// No call of MPI can be interrupted, and the others would wait for a rank that died early for ever.
void begin_took_too_long(int) {
    constexpr std::string_view kText = "streamsim: MPI did not begin within a minute: a rank has died\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, kText.data(), kText.size());
    _exit(3);
}

/// Sends rank 0's text to all ranks; nullopt: rank 0 has none.
std::optional<std::string> broadcast(const std::optional<std::string>& own) {
    std::int64_t size = own ? static_cast<std::int64_t>(own->size()) : -1;
    MPI_Bcast(&size, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    if (size < 0) return std::nullopt;
    std::string text = own.value_or(std::string());
    text.resize(static_cast<std::size_t>(size));
    MPI_Bcast(text.data(), static_cast<int>(text.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    return text;
}

#endif

}  // namespace

std::optional<MpiPlace> mpi_place() {
    constexpr std::array<std::pair<const char*, const char*>, 5> kNames = {{
        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
        {"PMI_RANK", "PMI_SIZE"},
        {"MPI_RANKID", "MPI_NRANKS"},
        {"PMIX_RANK", kSlurmStepTasks},  // srun --mpi=pmix
        {"PMIX_RANK", "SLURM_NTASKS"},
    }};
    for (const auto& [rank, ranks] : kNames) {
        const auto own = number_in_environment(rank);
        const auto all = number_in_environment(ranks);
        if (own && all && *own < *all) return MpiPlace{*own, *all};
    }
    return std::nullopt;
}

Result<void> check_launcher() {
    const std::uint32_t tasks = number_in_environment(kSlurmStepTasks).value_or(1);
    if (tasks <= 1 || mpi_place()) return {};
    return environment_error(fmt::format(
        "srun started {} processes that do not know each other, and each would play alone and write "
        "the same files: srun --mpi=pmix or --mpi=pmi2 makes one run of them (env -u {}: each is on "
        "its own)",
        tasks, kSlurmStepTasks));
}

#ifdef STREAMSIM_MPI

void expect_no_terminal() {
    setenv("TERM", "dumb", 1);
}

bool mpi_is_built_in() {
    return true;
}

std::string mpi_version() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 1> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    // "Open MPI v4.1.4, package: ...", "MPICH Version:\t4.0.2\nMPICH ..."
    std::string version(text.data());
    version.resize(std::min(version.find_first_of(",\n"), version.size()));
    if (const auto v = version.find(" v"); v != std::string::npos) version.erase(v + 1, 1);
    return version;
}

Result<MpiBegun> begin_mpi(const std::function<Result<std::string>(MpiPlace)>& make) {
    // Ranks that wait for others give up the processor, which the storage of a test on one machine needs.
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
    const std::uint32_t launched = mpi_place()->ranks;  // MPI may set these variables, too
    const auto before = std::signal(SIGALRM, begin_took_too_long);
    alarm(kBeginTimeoutSeconds);
    MPI_Init(nullptr, nullptr);
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const MpiPlace place{static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(ranks)};
    const bool all_are_here = launched == place.ranks;
    Result<std::string> made = interrupted_error();
    if (rank == 0 && all_are_here) made = make(place);
    const auto text = broadcast(made ? std::optional(*made) : std::nullopt);
    MPI_Finalize();
    alarm(0);
    std::signal(SIGALRM, before);
    if (!all_are_here)
        return environment_error(
            fmt::format("the launcher started {} processes, and {} knows of {}: use its own mpirun", launched,
                        mpi_version(), place.ranks));
    if (!text) return made.error();
    return MpiBegun{place, *text};
}

#else

void expect_no_terminal() {}

bool mpi_is_built_in() {
    return false;
}

std::string mpi_version() {
    return {};
}

Result<MpiBegun> begin_mpi(const std::function<Result<std::string>(MpiPlace)>&) {
    return environment_error(
        "this process was started by an MPI launcher, and this streamsim was built without MPI: build it where "
        "MPI is installed (Debian: libopenmpi-dev)");
}

#endif

}  // namespace streamsim::seats
