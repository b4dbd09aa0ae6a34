#include "media/payload.h"

#include <bit>
#include <cstring>

#include "base/check.h"
#include "base/prng.h"
#include "base/wide.h"

namespace streamsim {
namespace {

static_assert(std::endian::native == std::endian::little, "masks are written for little-endian machines");

/// An odd step visits every 64-bit state; the other constant keeps the two factors of the product apart. Both
/// are those of SplitMix64 (base/prng.h).
constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ull;
constexpr std::uint64_t kOther = 0xbf58476d1ce4e5b9ull;

/// One word from its counter: the two halves of a 128-bit product, folded. One multiplication a word, and no
/// word waits for another, so the processor works on several at once: that is where the speed comes from.
inline std::uint64_t word_of(std::uint64_t counter) {
    const Wide product = Wide{counter} * (counter ^ kOther);
    return static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product);
}

}  // namespace

void fill_payload(std::span<std::byte> into, std::uint64_t key, PayloadMask mask, std::uint64_t offset) {
    STREAMSIM_CHECK(offset % 8 == 0, "payload is made from a multiple of 8 on");
    const std::uint64_t significant = (std::uint64_t{mask.bits} << 32) | mask.bits;
    std::uint64_t counter = key + offset / 8 * kStep;
    std::byte* at = into.data();
    std::byte* const last_word = at + into.size() / 8 * 8;
    for (; at != last_word; at += 8) {
        counter += kStep;
        const std::uint64_t word = word_of(counter) & significant;
        std::memcpy(at, &word, sizeof word);
    }
    const std::uint64_t word = word_of(counter + kStep) & significant;
    if (into.size() % 8 != 0) std::memcpy(at, &word, into.size() % 8);
}

std::uint64_t payload_key(std::uint64_t set_id, std::uint64_t format, std::uint64_t clip, std::uint64_t frame) {
    return derive_seed(derive_seed(derive_seed(set_id, format), clip), frame);
}

}  // namespace streamsim
