// Digests of frame outcomes, by which two runs are compared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/prng.h"
#include "base/wide.h"

namespace streamsim::metrics {

/// A sum of 128 bits: the order in which outcomes are settled does not change the digest, and digests of
/// streams, loops and seats merge by addition.
struct Digest {
    std::uint64_t low = 0;
    std::uint64_t high = 0;

    void add(std::uint64_t hash) { merge({hash, mix64(hash)}); }
    void merge(const Digest& other) {
        const Wide sum = ((Wide{high} << 64) | low) + ((Wide{other.high} << 64) | other.low);
        low = static_cast<std::uint64_t>(sum);
        high = static_cast<std::uint64_t>(sum >> 64);
    }
    std::string hex() const;
    /// Reads the text of hex(); nullopt: it is no digest.
    static std::optional<Digest> from_hex(std::string_view hex);
};

}  // namespace streamsim::metrics
