// The bytes of prepared frames: random, so that neither compression nor deduplication in the storage can help,
// and made faster than a disk writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace streamsim::media {

/// The significant bits of each 4 bytes; the other bits are filler, written as zero.
struct PayloadMask {
    std::uint32_t bits = 0xffffffffu;  // the four bytes, read as little-endian
};

/// Fills `into` with the bytes [offset, offset + into.size()) of the endless random text of `key`.
/// Counter-based: any piece can be made alone. REQUIRES: offset is a multiple of 8.
void fill_payload(std::span<std::byte> into, std::uint64_t key, PayloadMask mask, std::uint64_t offset = 0);

/// The same for bytes that stand inside a coded stream, whose readers search it for marks: no byte is 0x00 or
/// 0xff, so there is neither a start code (00 00 01) nor a marker (ff 90) in it.
void fill_mark_free(std::span<std::byte> into, std::uint64_t key, std::uint64_t offset = 0);

/// The same as 16-bit floats, little-endian: each of them finite, over the whole range. REQUIRES: into.size()
/// is even.
void fill_halves(std::span<std::byte> into, std::uint64_t key, std::uint64_t offset = 0);

/// The key of one frame: differs for every (media set, format, clip, frame).
std::uint64_t payload_key(std::uint64_t set_id, std::uint64_t format, std::uint64_t clip, std::uint64_t frame);

}  // namespace streamsim::media
