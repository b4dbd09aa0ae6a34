// A library that is loaded before MPI's: the last rank of a run stays in MPI_Finalize(), with which streamsim
// ends its use of MPI before it connects to rank 0, until the file $LATE_RANK_UNTIL is there.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

extern "C" int MPI_Finalize() {
    const char* const file = std::getenv("LATE_RANK_UNTIL");
    const char* const rank = std::getenv("OMPI_COMM_WORLD_RANK");
    const char* const ranks = std::getenv("OMPI_COMM_WORLD_SIZE");
    const bool last = rank != nullptr && ranks != nullptr && std::stoi(rank) + 1 == std::stoi(ranks);
    while (last && file != nullptr && access(file, F_OK) != 0) usleep(10'000);
    return reinterpret_cast<int (*)()>(dlsym(RTLD_NEXT, "MPI_Finalize"))();
}
