// The makers of single codecs; frame_maker.cc chooses. Each `..._bytes_min` is what frame_bytes_min says for
// the codec. Inside media/ only.
#pragma once

#include <cstddef>
#include <string_view>

#include "media/frames/frame_maker.h"

namespace streamsim::media {

/// The one of a codec's flavours that a profile names; null: none of them.
template <typename Flavour, std::size_t count>
const Flavour* flavour_named(const Flavour (&all)[count], std::string_view profile) {
    for (const Flavour& each : all) {
        if (each.name == profile) return &each;
    }
    return nullptr;
}

using MadeMaker = Result<std::unique_ptr<FrameMaker>>;

// REQUIRES of all makers: the format is not unmakable.

// uncompressed_frames.cc: random samples behind a header of the format.
MadeMaker make_dpx_maker(const MediaFormat& format);
MadeMaker make_tiff_maker(const MediaFormat& format);    // 16 bit RGB
MadeMaker make_cineon_maker(const MediaFormat& format);  // 10 bit RGB, filled
MadeMaker make_v210_maker(const MediaFormat& format);
std::uint64_t dpx_bytes_min(const MediaFormat& format);
std::uint64_t tiff_bytes_min(const MediaFormat& format);
std::uint64_t cineon_bytes_min(const MediaFormat& format);
std::uint64_t v210_bytes_min(const MediaFormat& format);

// exr_frames.cc: half RGB scan lines; "none" random, other compressions a flat picture and gaps.
MadeMaker make_exr_maker(const MediaFormat& format);
std::optional<Unmakable> exr_unmakable(const MediaFormat& format);
std::uint64_t exr_bytes_min(const MediaFormat& format);

// prores.cc, dnxhr_frames.cc, jpeg2000_frames.cc, h264_frames.cc
MadeMaker make_prores_maker(const MediaFormat& format);
MadeMaker make_dnxhr_maker(const MediaFormat& format);
MadeMaker make_jpeg2000_maker(const MediaFormat& format);
MadeMaker make_h264_maker(const MediaFormat& format, std::uint64_t frames);
std::optional<Unmakable> dnxhr_unmakable(const MediaFormat& format);
std::optional<Unmakable> jpeg2000_unmakable(const MediaFormat& format);
std::optional<Unmakable> h264_unmakable(const MediaFormat& format);
std::uint64_t dnxhr_bytes_min(const MediaFormat& format);
std::uint64_t jpeg2000_bytes_min(const MediaFormat& format);
std::uint64_t h264_bytes_min(const MediaFormat& format);

}  // namespace streamsim::media
