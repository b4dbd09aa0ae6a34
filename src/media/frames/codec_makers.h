// The codecs that prepare makes frames of; frame_maker.cc chooses. Inside media/ only.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "media/frames/frame_maker.h"
#include "media/frames/payload.h"

namespace streamsim::media {

using MadeMaker = Result<std::unique_ptr<FrameMaker>>;

/// The functions for one codec.
struct Codec {
    std::string_view name;  // as in MediaFormat::codec
    /// For clips of `frames` frames. REQUIRES: the format is not unmakable.
    MadeMaker (*make)(const MediaFormat& format, std::uint64_t frames);
    std::uint64_t (*bytes_min)(const MediaFormat& format);  // see frame_bytes_min
    /// Null: each format of the codec can be made.
    std::optional<Unmakable> (*unmakable)(const MediaFormat& format) = nullptr;
};

// uncompressed_frames.cc: random samples behind a header of the format.
extern const Codec kDpx;
extern const Codec kTiff;    // 16 bit RGB
extern const Codec kCineon;  // 10 bit RGB, filled
extern const Codec kV210;

extern const Codec kExr;  // half RGB scan lines; "none" random, other compressions a flat picture and gaps
extern const Codec kProres;
extern const Codec kDnxhr;
extern const Codec kJpeg2000;
extern const Codec kH264;

/// The significant bits of a DPX image.
PayloadMask dpx_payload_mask(const DpxLayout& layout);

/// Zeroes the padding at the end of each line in a piece of a DPX image. `position` is the offset of the piece
/// in the image in bytes, a multiple of 4 as its length is (but at the end of the image).
void zero_dpx_line_ends(std::span<std::byte> piece, std::uint64_t position, const MediaFormat& format);

/// Writes the DPX header of frame `number` into `into` (layout.image_offset bytes; the rest is zero). `file` is
/// the name of the file without its directory. The time code counts from 00:00:00:00 at frame `first`.
/// Deterministic: there is no creation time in it. REQUIRES: into.size() == format.dpx.image_offset >=
/// kDpxHeaderBytes.
void write_dpx_header(std::span<std::byte> into,
                      const MediaFormat& format,
                      const std::string& file,
                      std::uint64_t number,
                      std::uint64_t first);

/// The smallest ProRes frame in bytes: headers and the picture, for the format's raster and sampling.
std::uint64_t prores_frame_bytes_min(const MediaFormat& format);

/// Builds one ProRes frame of exactly `into.size()` bytes; `key` makes its data unique. REQUIRES:
/// prores_frame_bytes_min(format) <= into.size() < 2^32.
void build_prores_frame(std::span<std::byte> into, const MediaFormat& format, std::uint64_t key);

/// A maker whose frames all have the same limits.
class EqualFramesMaker : public FrameMaker {
public:
    EqualFramesMaker(const MediaFormat& format, FrameLimits limits) : format_(format), limits_(limits) {}
    FrameLimits limits(std::uint64_t /*frame*/) const override { return limits_; }

protected:
    MediaFormat format_;
    FrameLimits limits_;
};

/// The one of a codec's flavours that a profile names; null: none of them.
template <typename Flavour, std::size_t count>
const Flavour* flavour_named(const Flavour (&all)[count], std::string_view profile) {
    for (const Flavour& each : all) {
        if (each.name == profile) return &each;
    }
    return nullptr;
}

/// Macroblocks of 16 pixels and lines, the last ones of a side in part only.
inline std::uint64_t macroblocks(int pixels) {
    return (static_cast<std::uint64_t>(pixels) + 15) / 16;
}
inline std::uint64_t macroblocks(const MediaFormat& format) {
    return macroblocks(format.width) * macroblocks(format.height);
}

}  // namespace streamsim::media
