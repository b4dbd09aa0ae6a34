#include "media/frames/frame_maker.h"

#include <fmt/format.h>

#include "media/frames/codec_makers.h"

namespace streamsim::media {
namespace {

/// Null: prepare does not make the codec.
const Codec* codec_of(const MediaFormat& format) {
    for (const Codec* const codec :
         {&kDpx, &kTiff, &kCineon, &kExr, &kV210, &kProres, &kDnxhr, &kJpeg2000, &kH264}) {
        if (codec->name == format.codec) return codec;
    }
    return nullptr;
}

}  // namespace

Result<std::unique_ptr<FrameMaker>> make_frame_maker(const MediaFormat& format, std::uint64_t frames) {
    if (const auto never = unmakable(format))
        return bad_input(fmt::format("{}: {}: {}", format.name, never->member, never->why));
    return codec_of(format)->make(format, frames);
}

std::optional<Unmakable> unmakable(const MediaFormat& format) {
    const Codec* const codec = codec_of(format);
    if (codec != nullptr && codec->unmakable != nullptr) return codec->unmakable(format);
    if (frame_bytes_min(format) > 0) return std::nullopt;
    return Unmakable{"/codec", fmt::format("prepare cannot make {}", format.codec)};
}

std::uint64_t frame_bytes_min(const MediaFormat& format) {
    const Codec* const codec = codec_of(format);
    return codec == nullptr ? 0 : codec->bytes_min(format);
}

std::string_view frame_extension(const MediaFormat& format) {
    if (format.codec == "tiff") return "tif";
    if (format.codec == "cineon") return "cin";
    if (format.codec == "exr") return "exr";
    if (format.codec == "arriraw") return "ari";
    return format.codec == "other" ? "bin" : "dpx";
}

std::string_view container_extension(MediaFormat::Container container) {
    switch (container) {
        case MediaFormat::Container::sequence: return "";
        case MediaFormat::Container::quicktime: return ".mov";
        case MediaFormat::Container::mp4: return ".mp4";
        case MediaFormat::Container::mxf: return ".mxf";
    }
    return "";
}

}  // namespace streamsim::media
