// Plays worlds in processes of their own, so that a world that aborts or hangs is a finding like any other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "worlds/world.h"

namespace streamsim::worlds {

/// The steps that made a world smaller: indices into smaller(), one after the other.
using Reduction = std::vector<std::size_t>;

/// The world of a seed after these steps. Steps that do not exist are left out.
RandomWorld reduced(const Library& library, std::uint64_t seed, const Reduction& steps);

/// The name of the first invariant that fails, "aborts", "hangs", or "" where all hold. Plays in a process of
/// its own.
std::string verdict_of(const RandomWorld& world);

/// Makes a failing world smaller as long as the same invariant fails, for this many seconds at most.
Reduction reduce(const Library& library, std::uint64_t seed, double seconds_max);

struct Hunt {
    std::uint64_t from = 1;
    std::uint64_t seeds = 200;
    double seconds_max = 0;  // 0: no limit
    std::uint32_t jobs = 1;
    bool keep_going = false;  // after a failing seed
};
struct Caught {
    std::uint64_t seed = 0;
    std::string what;  // the first finding
};
struct HuntResult {
    std::uint64_t played = 0;
    double seconds = 0;
    std::vector<Caught> caught;
};
HuntResult hunt(const Library& library, const Hunt& what);

}  // namespace streamsim::worlds
