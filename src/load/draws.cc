#include "load/draws.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "base/memory.h"

namespace streamsim::load {
namespace {

// Four rounds are enough for large halves, small ones need more.
constexpr std::uint64_t kRounds = 8;

std::uint64_t mask(unsigned bits) {
    return bits == 0 ? 0 : ~std::uint64_t{0} >> (64 - bits);
}

std::vector<double> weights_of(const std::vector<WeightedSize>& sizes) {
    std::vector<double> out;
    out.reserve(sizes.size());
    for (const WeightedSize& each : sizes) out.push_back(each.weight);
    return out;
}

double weight_of(const MeterSpec& spec, LoadOperation operation) {
    return spec.weights[static_cast<std::size_t>(operation)];
}

std::vector<WeightedSize> ascending(std::vector<WeightedSize> blocks) {
    std::sort(blocks.begin(), blocks.end(), [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
    return blocks;
}

/// The block sizes of reads and of writes, each once.
std::vector<WeightedSize> all_blocks(const MeterSpec& spec) {
    std::vector<WeightedSize> out = spec.blocks;
    if (!spec.writes) return out;
    for (const WeightedSize& each : spec.writes->blocks) {
        const auto is_same = [&](const WeightedSize& other) { return other.bytes == each.bytes; };
        if (std::none_of(out.begin(), out.end(), is_same)) out.push_back(each);
    }
    return out;
}

}  // namespace

WeightedDraw::WeightedDraw(std::span<const double> weights) {
    double sum = 0;
    for (const double weight : weights) sums_.push_back(sum += weight);
}

std::size_t WeightedDraw::draw(Prng& prng) const {
    STREAMSIM_CHECK(!sums_.empty() && sums_.back() > 0, "the weights have a sum above 0");
    const double at = prng.unit() * sums_.back();
    // An entry without weight has the sum of the one before it, and is never the first above any value.
    const auto found = std::upper_bound(sums_.begin(), sums_.end(), at);
    if (found != sums_.end()) return static_cast<std::size_t>(found - sums_.begin());
    // The product was rounded up to the sum itself.
    return static_cast<std::size_t>(std::lower_bound(sums_.begin(), sums_.end(), sums_.back()) - sums_.begin());
}

BlockSizes::BlockSizes(const std::vector<WeightedSize>& blocks) {
    for (const WeightedSize& each : ascending(blocks)) bytes_.push_back(each.bytes);
}

std::uint64_t BlockSizes::piece(std::uint64_t left, std::size_t block) const {
    if (left >= bytes_[block]) return bytes_[block];
    const auto above = std::upper_bound(bytes_.begin(), bytes_.end(), left);
    return above == bytes_.begin() ? left : *(above - 1);
}

std::uint32_t BlockSizes::fitting(std::uint64_t length, std::size_t block) const {
    if (length >= bytes_[block]) return static_cast<std::uint32_t>(block);
    const auto above = std::upper_bound(bytes_.begin(), bytes_.end(), length);
    return above == bytes_.begin() ? 0 : static_cast<std::uint32_t>(above - bytes_.begin() - 1);
}

std::size_t BlockSizes::index_of(std::uint64_t bytes) const {
    return static_cast<std::size_t>(std::lower_bound(bytes_.begin(), bytes_.end(), bytes) - bytes_.begin());
}

Draws::Draws(const MeterSpec& spec, std::uint32_t alignment)
    : sizes_(all_blocks(spec)),
      operations_(spec.weights),
      random_share_(spec.random_share),
      up_to_(spec.length_up_to && sizes_.count() > 0 ? *spec.length_up_to / sizes_.smallest() : 0),
      alignment_(alignment),
      file_bytes_(spec.set.file_bytes),
      whole_files_(spec.whole_files),
      reads_(sizes_of(spec.blocks, spec.lengths)),
      writes_(spec.writes ? sizes_of(spec.writes->blocks, spec.writes->lengths) : reads_) {
    if (weight_of(spec, LoadOperation::read) + weight_of(spec, LoadOperation::write) <= 0)
        return;  // no transfers
    STREAMSIM_CHECK(sizes_.count() > 0 && file_bytes_ >= alignment_,
                    "a meter that transfers has block sizes and files");
    for (const Sizes* sizes : {&reads_, &writes_}) {
        for (const std::uint64_t length : sizes->length_bytes) longest_ = std::max(longest_, length);
    }
    if (spec.length_up_to) {
        STREAMSIM_CHECK(up_to_ > 0, "a length is at least one smallest block");
        longest_ = whole(up_to_ * sizes_.smallest());
    } else {
        for (const Sizes* sizes : {&reads_, &writes_}) {
            for (std::size_t i = 0; sizes->length_bytes.empty() && i < sizes->blocks.size(); ++i) {
                if (sizes->blocks[i] > 0) longest_ = std::max(longest_, sizes_.bytes(i));
            }
        }
    }
    STREAMSIM_CHECK(std::max(longest_, sizes_.largest()) <= file_bytes_, "blocks and transfers fit a file");
}

Draws::Sizes Draws::sizes_of(const std::vector<WeightedSize>& blocks,
                             const std::vector<WeightedSize>& lengths) const {
    std::vector<double> weights(sizes_.count(), 0);
    for (const WeightedSize& each : blocks) weights[sizes_.index_of(each.bytes)] = each.weight;
    Sizes sizes{weights, WeightedDraw(weights), WeightedDraw(weights_of(lengths)), {}};
    for (const WeightedSize& each : lengths) sizes.length_bytes.push_back(whole(each.bytes));
    if (whole_files_ && lengths.empty()) {
        sizes.length = WeightedDraw(std::vector<double>{1});
        sizes.length_bytes.push_back(whole(file_bytes_));
    }
    return sizes;
}

std::uint64_t Draws::whole(std::uint64_t length) const {
    return std::min(align_up(length, alignment_), align_down(file_bytes_, alignment_));
}

TransferShape Draws::shape(Prng& prng, bool writes) const {
    const Sizes& sizes = writes ? writes_ : reads_;
    const std::size_t block = sizes.block.draw(prng);
    std::uint64_t length = sizes_.bytes(block);
    if (up_to_ > 0) {
        length = whole((1 + prng.below(up_to_)) * sizes_.smallest());
    } else if (!sizes.length_bytes.empty()) {
        length = sizes.length_bytes[sizes.length_bytes.size() == 1 ? 0 : sizes.length.draw(prng)];
    }
    return {length, sizes_.fitting(length, block)};
}

Duration PoissonTimes::next() {
    at_ += draw_exponential(prng_) * ns_;
    return {static_cast<std::int64_t>(at_)};
}

Duration constant_time(std::uint64_t k, double per_s) {
    return {static_cast<std::int64_t>(static_cast<double>(k) * 1e9 / per_s)};
}

std::uint64_t constant_times_before(Duration end, double per_s) {
    if (end <= Duration{}) return 0;
    auto k = static_cast<std::uint64_t>(static_cast<double>(end.ns) * per_s / 1e9);  // but for its rounding
    while (k > 0 && constant_time(k - 1, per_s) >= end) --k;
    while (constant_time(k, per_s) < end) ++k;
    return k;
}

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
