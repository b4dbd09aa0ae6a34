#include "load/permutation.h"

#include <bit>

#include "base/check.h"
#include "base/prng.h"

namespace streamsim::load {
namespace {

// Four rounds are enough for large halves, small ones need more.
constexpr std::uint64_t kRounds = 8;

std::uint64_t mask(unsigned bits) {
    return bits == 0 ? 0 : ~std::uint64_t{0} >> (64 - bits);
}

}  // namespace

Permutation::Permutation(std::uint64_t n, std::uint64_t key) : n_(n), key_(key) {
    STREAMSIM_CHECK(n > 0, "a permutation has an element");
    const auto bits = static_cast<unsigned>(std::bit_width(n - 1));
    low_bits_ = (bits + 1) / 2;
    low_mask_ = mask(low_bits_);
    high_mask_ = mask(bits - low_bits_);
}

std::uint64_t Permutation::once(std::uint64_t value) const {
    std::uint64_t low = value & low_mask_;
    std::uint64_t high = value >> low_bits_;
    for (std::uint64_t round = 0; round < kRounds; round += 2) {
        low ^= mix64(key_ + round * 0x9e3779b97f4a7c15ull + (high << 8)) & low_mask_;
        high ^= mix64(key_ + (round + 1) * 0x9e3779b97f4a7c15ull + (low << 8)) & high_mask_;
    }
    return high << low_bits_ | low;
}

std::uint64_t Permutation::at(std::uint64_t index) const {
    do {
        index = once(index);
    } while (index >= n_);
    return index;
}

}  // namespace streamsim::load
