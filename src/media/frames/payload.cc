#include "media/frames/payload.h"

#include <bit>
#include <cstring>

#include "base/check.h"
#include "base/prng.h"
#include "base/wide.h"

namespace streamsim::media {
namespace {

static_assert(std::endian::native == std::endian::little, "masks are written for little-endian machines");

/// An odd step visits every 64-bit state; the other constant keeps the two factors of the product apart. Both
/// are those of SplitMix64 (base/prng.h).
constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ull;
constexpr std::uint64_t kOther = 0xbf58476d1ce4e5b9ull;

/// One word from its counter: the two halves of a 128-bit product, folded. One multiplication makes a word, and
/// no word depends on another, so the processor computes several at once.
inline std::uint64_t word_of(std::uint64_t counter) {
    const Wide product = Wide{counter} * (counter ^ kOther);
    return static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product);
}

/// Fills with the words of the counter, each changed by `change`.
template <typename Change>
void fill(std::span<std::byte> into, std::uint64_t key, std::uint64_t offset, Change change) {
    STREAMSIM_CHECK(offset % 8 == 0, "payload is made from a multiple of 8 on");
    std::uint64_t counter = key + offset / 8 * kStep;
    std::byte* at = into.data();
    std::byte* const last_word = at + into.size() / 8 * 8;
    for (; at != last_word; at += 8) {
        counter += kStep;
        const std::uint64_t word = change(word_of(counter));
        std::memcpy(at, &word, sizeof word);
    }
    const std::uint64_t word = change(word_of(counter + kStep));
    if (into.size() % 8 != 0) std::memcpy(at, &word, into.size() % 8);
}

/// 00 becomes 40, and ff becomes 7f.
std::byte mark_free(std::byte byte) {
    byte |= byte == std::byte{0} ? std::byte{0x40} : std::byte{0};
    return byte ^ (byte == std::byte{0xff} ? std::byte{0x80} : std::byte{0});
}

}  // namespace

void fill_payload(std::span<std::byte> into, std::uint64_t key, PayloadMask mask, std::uint64_t offset) {
    const std::uint64_t significant = (std::uint64_t{mask.bits} << 32) | mask.bits;
    fill(into, key, offset, [significant](std::uint64_t word) { return word & significant; });
}

void fill_mark_free(std::span<std::byte> into, std::uint64_t key, std::uint64_t offset) {
    // Blocks of a fixed length, which stay in the nearest cache: the compiler changes many bytes at once.
    constexpr std::size_t kBlock = 2048;
    for (; into.size() >= kBlock; into = into.subspan(kBlock), offset += kBlock) {
        fill_payload(into.first(kBlock), key, {}, offset);
        for (std::size_t i = 0; i < kBlock; ++i) into[i] = mark_free(into[i]);
    }
    fill_payload(into, key, {}, offset);
    for (std::byte& byte : into) byte = mark_free(byte);
}

void fill_halves(std::span<std::byte> into, std::uint64_t key, std::uint64_t offset) {
    STREAMSIM_CHECK(into.size() % 2 == 0, "a half has two bytes");
    constexpr std::uint64_t kExponents = 0x7c007c007c007c00ull;
    constexpr std::uint64_t kOne = 0x0400040004000400ull;  // the lowest bit of each exponent
    fill(into, key, offset, [](std::uint64_t word) {
        // Only an exponent of all ones, infinity or no number, carries into the sign bit.
        const std::uint64_t not_finite = ((word & kExponents) + kOne) & 0x8000800080008000ull;
        return word & ~(not_finite >> 1);
    });
}

std::uint64_t payload_key(std::uint64_t set_id, std::uint64_t format, std::uint64_t clip, std::uint64_t frame) {
    return derive_seed(derive_seed(derive_seed(set_id, format), clip), frame);
}

}  // namespace streamsim::media
