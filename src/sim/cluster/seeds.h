// The seeds of an operation's random draws. Each operation has its own, by its tag: a cluster that is faster in
// one part sees the same slow answers elsewhere.
#pragma once

#include <cstdint>

#include "base/prng.h"
#include "streamsim/storage.h"

namespace streamsim::sim {

inline constexpr std::uint64_t kReadSeed = 0;
inline constexpr std::uint64_t kOpenSeed = 0x6f70656e;
inline constexpr std::uint64_t kWriteSeed = 0x7772697465;
inline constexpr std::uint64_t kNameSeed = 0x6e616d6573;

/// `operation` is one of the above.
inline std::uint64_t seed_of(std::uint64_t run_seed, std::uint64_t operation, const IoTag& tag) {
    return derive_seed(run_seed ^ operation ^ (std::uint64_t{tag.seat} << 40 | tag.stream), tag.slot);
}

}  // namespace streamsim::sim
