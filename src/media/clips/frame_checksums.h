// Checksums of the frames of a clip, kept beside it on request ("<first file>.streamsim-checksums"), so that
// --verify can check media that prepare did not make. Inside media/ and for inspect.
//
// Little-endian: the line "streamsim-checksums\n", u32 version, u64 number of frames, a u64 for each frame, and
// at the end a u64 checksum (FNV-1a) of everything before it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "streamsim/byte_store.h"
#include "streamsim/media.h"

namespace streamsim::media {

inline constexpr const char* kChecksumsSuffix = ".streamsim-checksums";

/// A checksum of bytes that come in pieces, against damage and not against an attacker: two texts that differ
/// in one aligned word of 8 bytes never have the same.
class FrameChecksum {
public:
    void add(std::span<const std::byte> bytes);
    /// The checksum of all bytes so far. No add() may follow.
    std::uint64_t value();

private:
    std::uint64_t state_ = 0;
    std::uint64_t bytes_ = 0;
    std::uint64_t word_ = 0;  // the last bytes % 8 bytes
};

/// Reads all frames of the clip and writes their checksums beside its first file; replaces nothing. Blocks.
/// Errors: environment; bad input where a frame is missing or cut; interrupted.
Result<void> keep_checksums(ByteStore& store, const Clip& clip, IndexProgress& progress);

/// The contents of a clip as its kept checksums have them. Errors: bad input where there are none, and where
/// they are damaged or of another number of frames; environment from the store.
Result<std::shared_ptr<const FrameContent>> kept_checksums(ByteStore& store, const Clip& clip);

}  // namespace streamsim::media
