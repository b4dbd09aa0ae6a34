// ProRes frames (SMPTE RDD 36) of exactly the length that was planned. A frame holds a small, valid picture:
// flat grey blocks, a little different in each frame, which decoders show without complaint. The rest of the
// frame, nearly all of it, is stuffing behind the picture, and random: the sizes are those of real footage, and
// nothing in the storage can compress them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "streamsim/byte_store.h"
#include "streamsim/media.h"

namespace streamsim {

/// The smallest frame in bytes: headers and the picture, for the format's raster and sampling.
std::uint64_t prores_frame_bytes_min(const MediaFormat& format);

/// Builds one frame of exactly `into.size()` bytes; `key` makes its data unique. REQUIRES:
/// prores_frame_bytes_min(format) <= into.size() < 2^32.
void build_prores_frame(std::span<std::byte> into, const MediaFormat& format, std::uint64_t key);

/// Where the first frame of a file that QuickTimeWriter wrote begins, in bytes.
inline constexpr std::uint64_t kQuickTimeDataOffset = 36;

/// Writes frames one after the other into a QuickTime file: sample data first, the movie header last, as
/// cameras do. One thread. The sink is the caller's, and its close() too.
class QuickTimeWriter {
public:
    /// Begins the file. Errors: environment, naming `file`.
    static Result<std::unique_ptr<QuickTimeWriter>> create(ByteSink& sink,
                                                           const MediaFormat& format,
                                                           const std::string& file);
    virtual ~QuickTimeWriter() = default;
    /// The next frame; its time is its number times rate.den, in units of 1/rate.num s.
    virtual Result<void> add(std::span<std::byte> frame) = 0;
    /// Writes the movie header. Nothing is added afterwards.
    virtual Result<void> finish() = 0;
};

}  // namespace streamsim
