// The choices of a meter: what is asked for, never when. Pure; everything comes from a Prng.
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

/// A read or a write, without its file and its place.
struct TransferShape {
    std::uint64_t length = 0;
    std::uint32_t block = 0;  // of BlockSizes; the one it is booked under
};

/// The block sizes of a meter, ascending, and how a length is cut into them.
class BlockSizes {
public:
    explicit BlockSizes(const std::vector<WeightedSize>& blocks);

    std::size_t count() const { return bytes_.size(); }
    std::uint64_t bytes(std::size_t block) const { return bytes_[block]; }
    std::uint64_t smallest() const { return bytes_.front(); }
    std::uint64_t largest() const { return bytes_.back(); }

    /// What is moved next of a transfer in blocks of `block` that has `left` to go: a block, the largest size
    /// that fits, or all of it where none does. REQUIRES: left > 0.
    std::uint64_t piece(std::uint64_t left, std::size_t block) const;
    /// `block`, or the largest that fits into `length`; the smallest, where none does.
    std::uint32_t fitting(std::uint64_t length, std::size_t block) const;
    /// The one of just so many bytes. REQUIRES: there is one.
    std::size_t index_of(std::uint64_t bytes) const;

private:
    std::vector<std::uint64_t> bytes_;
};

/// Draws operations and the shapes of transfers.
class Draws {
public:
    /// `alignment`: of every length; the last one that fits a file is not exceeded.
    Draws(const MeterSpec& spec, std::uint32_t alignment);

    const BlockSizes& sizes() const { return sizes_; }
    LoadOperation operation(Prng& prng) const { return static_cast<LoadOperation>(operations_.draw(prng)); }
    bool random(Prng& prng) const { return random_share_ > 0 && prng.unit() < random_share_; }
    TransferShape shape(Prng& prng, bool writes = false) const;
    /// Of any transfer; 0: there are none.
    std::uint64_t longest() const { return longest_; }

private:
    /// Of reads, or of writes.
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
    const std::uint64_t up_to_;  // in smallest blocks; 0: not so
    const std::uint64_t alignment_;
    const std::uint64_t file_bytes_;
    const bool whole_files_;
    const Sizes reads_, writes_;
    std::uint64_t longest_ = 0;
};

/// The number k of a Poisson process' events comes k exponential distances after its beginning.
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

}  // namespace streamsim::load
