// Digests of frame outcomes, by which two runs are compared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace streamsim::metrics {

/// A sum of 128 bits: the order in which outcomes are settled does not change the digest, and digests of
/// streams, loops and seats merge by addition.
struct Digest {
    std::uint64_t low = 0;
    std::uint64_t high = 0;

    void add(std::uint64_t hash);
    void merge(const Digest& other);
    std::string hex() const;
    /// Reads the text of hex(); nullopt: it is no digest.
    static std::optional<Digest> from_hex(std::string_view hex);
};

}  // namespace streamsim::metrics
