// Every random choice comes from here, so that one seed gives the same run with every compiler and library:
// integers by SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014), and
// floating point only by operations that IEEE 754 rounds in one way.
#pragma once

#include <cstdint>

#include "base/wide.h"

namespace streamsim {

/// A good 64-bit mix of one word; also the step of Prng. Constants: the paper named above.
constexpr std::uint64_t mix64(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

/// A key for a part of a run (a clip, a stream, a rule) that is independent of its siblings'.
constexpr std::uint64_t derive_seed(std::uint64_t seed, std::uint64_t part) {
    return mix64(mix64(seed) ^ (part * 0xff51afd7ed558ccdull));
}

/// A stream of random numbers. Copyable; not thread-safe.
class Prng {
public:
    constexpr explicit Prng(std::uint64_t seed) : state_(mix64(seed)) {}

    constexpr std::uint64_t next() {
        const std::uint64_t out = mix64(state_);
        state_ += 0x9e3779b97f4a7c15ull;
        return out;
    }

    /// Uniform in [0, bound), without bias worth speaking of (2^-64). REQUIRES: bound > 0.
    constexpr std::uint64_t below(std::uint64_t bound) {
        return static_cast<std::uint64_t>((Wide{next()} * bound) >> 64);
    }

    /// Uniform in [0, 1), 53 bits.
    constexpr double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

    /// Mean 0, variance 1, within [-6, 6]: the sum of twelve uniforms. Close to normal, and without the
    /// logarithm and cosine that differ between mathematics libraries.
    constexpr double bell() {
        double sum = -6;
        for (int i = 0; i < 12; ++i) sum += unit();
        return sum;
    }

private:
    std::uint64_t state_;
};

/// Exponential, mean 1. By comparing uniform numbers (von Neumann, "Various techniques used in connection with
/// random digits", 1951), without the logarithm that differs between mathematics libraries.
double draw_exponential(Prng& prng);

/// 64 bits that no other run has, from the operating system. The one door for chance that is not seeded:
/// only for identity (what makes two media sets different), never for a choice in a run.
std::uint64_t entropy64();

}  // namespace streamsim
