// An order of [0, n) in which every number comes once, without a list of them: a keyed permutation of the next
// power of two by an alternating Feistel network, walked along its cycles until the number is below n (Black
// and Rogaway, "Ciphers with arbitrary finite domains", 2002).
#pragma once

#include <cstdint>

namespace streamsim::load {

/// Two words and no memory. at() takes less than two walks on average.
class Permutation {
public:
    /// REQUIRES: n > 0.
    Permutation(std::uint64_t n, std::uint64_t key);

    /// One to one from [0, n) to [0, n). REQUIRES: index < n.
    std::uint64_t at(std::uint64_t index) const;

private:
    std::uint64_t once(std::uint64_t value) const;

    std::uint64_t n_;
    std::uint64_t key_;
    unsigned low_bits_;
    std::uint64_t low_mask_;
    std::uint64_t high_mask_;
};

}  // namespace streamsim::load
