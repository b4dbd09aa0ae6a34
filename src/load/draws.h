// The random choices of a meter: operations, sizes, times and positions. Pure; all randomness comes from a Prng
// or a key.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/prng.h"
#include "streamsim/meter_result.h"
#include "streamsim/workload.h"

namespace streamsim::load {

/// Indices in proportion to weights.
class WeightedDraw {
public:
    /// REQUIRES: the sum is above 0, where draw() is called.
    explicit WeightedDraw(std::span<const double> weights);

    std::size_t draw(Prng& prng) const;

private:
    std::vector<double> sums_;
};

/// A read or a write, without its file and offset.
struct TransferShape {
    std::uint64_t length = 0;
    std::uint32_t block = 0;  // of BlockSizes: its cell in the statistics
};

/// The block sizes of a meter, ascending, and how a length is cut into them.
class BlockSizes {
public:
    explicit BlockSizes(const std::vector<WeightedSize>& blocks);

    std::size_t count() const { return bytes_.size(); }
    std::uint64_t bytes(std::size_t block) const { return bytes_[block]; }
    std::uint64_t smallest() const { return bytes_.front(); }
    std::uint64_t largest() const { return bytes_.back(); }

    /// The next piece of a transfer in blocks of `block` that has `left` bytes to go: a block, else the largest
    /// size that fits, else all of them. REQUIRES: left > 0.
    std::uint64_t piece(std::uint64_t left, std::size_t block) const;
    /// `block`, else the largest that fits into `length`, else the smallest.
    std::uint32_t fitting(std::uint64_t length, std::size_t block) const;
    /// REQUIRES: one block size has so many bytes.
    std::size_t index_of(std::uint64_t bytes) const;

private:
    std::vector<std::uint64_t> bytes_;
};

/// Draws operations and the shapes of transfers.
class Draws {
public:
    /// Every length is a multiple of `alignment` that fits into a file.
    Draws(const MeterSpec& spec, std::uint32_t alignment);

    const BlockSizes& sizes() const { return sizes_; }
    LoadOperation operation(Prng& prng) const { return static_cast<LoadOperation>(operations_.draw(prng)); }
    bool random(Prng& prng) const { return random_share_ > 0 && prng.unit() < random_share_; }
    TransferShape shape(Prng& prng, bool writes = false) const;
    /// Bytes of the longest transfer; 0: the meter transfers nothing.
    std::uint64_t longest() const { return longest_; }

private:
    /// The sizes of reads, or of writes.
    struct Sizes {
        std::vector<double> blocks;  // weights, by BlockSizes
        WeightedDraw block;
        WeightedDraw length;
        std::vector<std::uint64_t> length_bytes;
    };
    Sizes sizes_of(const std::vector<WeightedSize>& blocks, const std::vector<WeightedSize>& lengths) const;
    std::uint64_t whole(std::uint64_t length) const;

    const BlockSizes sizes_;
    const WeightedDraw operations_;
    const double random_share_;
    const std::uint64_t up_to_;  // the longest length, in smallest blocks; 0: lengths are listed
    const std::uint64_t alignment_;
    const std::uint64_t file_bytes_;
    const bool whole_files_;
    const Sizes reads_, writes_;
    std::uint64_t longest_ = 0;
};

/// The events of a Poisson process: event k comes k exponential distances after the beginning.
class PoissonTimes {
public:
    PoissonTimes(std::uint64_t seed, double per_s) : prng_(seed), ns_(1e9 / per_s) {}
    /// The next event, from the beginning.
    Duration next();

private:
    Prng prng_;
    double ns_;  // mean distance
    double at_ = 0;
};

/// Event k of an even process, from its beginning.
Duration constant_time(std::uint64_t k, double per_s);
/// The number of its events before `end`.
std::uint64_t constant_times_before(Duration end, double per_s);

/// An order of [0, n) in which every number comes once, without a list of them: a keyed permutation of the next
/// power of two by an alternating Feistel network, walked along its cycles until the number is below n (Black
/// and Rogaway, "Ciphers with arbitrary finite domains", 2002). at() takes less than two walks on average.
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
