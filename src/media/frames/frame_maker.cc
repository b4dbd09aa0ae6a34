#include "media/frames/frame_maker.h"

#include <fmt/format.h>

#include "media/frames/codec_makers.h"
#include "media/frames/prores.h"

namespace streamsim::media {

Result<std::unique_ptr<FrameMaker>> make_frame_maker(const MediaFormat& format, std::uint64_t frames) {
    if (const auto never = unmakable(format)) {
        return bad_input(fmt::format("{}: {}: {}", format.name, never->member, never->why));
    }
    if (format.codec == "dpx") return make_dpx_maker(format);
    if (format.codec == "tiff") return make_tiff_maker(format);
    if (format.codec == "cineon") return make_cineon_maker(format);
    if (format.codec == "exr") return make_exr_maker(format);
    if (format.codec == "v210") return make_v210_maker(format);
    if (format.codec == "prores") return make_prores_maker(format);
    if (format.codec == "dnxhr") return make_dnxhr_maker(format);
    if (format.codec == "jpeg2000") return make_jpeg2000_maker(format);
    return make_h264_maker(format, frames);
}

std::optional<Unmakable> unmakable(const MediaFormat& format) {
    if (format.codec == "exr") return exr_unmakable(format);
    if (format.codec == "dnxhr") return dnxhr_unmakable(format);
    if (format.codec == "jpeg2000") return jpeg2000_unmakable(format);
    if (format.codec == "h264") return h264_unmakable(format);
    if (frame_bytes_min(format) > 0) return std::nullopt;
    return Unmakable{"/codec", fmt::format("prepare cannot make {}", format.codec)};
}

std::uint64_t frame_bytes_min(const MediaFormat& format) {
    if (format.codec == "dpx") return dpx_bytes_min(format);
    if (format.codec == "tiff") return tiff_bytes_min(format);
    if (format.codec == "cineon") return cineon_bytes_min(format);
    if (format.codec == "exr") return exr_bytes_min(format);
    if (format.codec == "v210") return v210_bytes_min(format);
    if (format.codec == "prores") return prores_frame_bytes_min(format);
    if (format.codec == "dnxhr") return dnxhr_bytes_min(format);
    if (format.codec == "jpeg2000") return jpeg2000_bytes_min(format);
    if (format.codec == "h264") return h264_bytes_min(format);
    return 0;
}

std::string_view frame_extension(const MediaFormat& format) {
    if (format.codec == "tiff") return "tif";
    if (format.codec == "cineon") return "cin";
    if (format.codec == "exr") return "exr";
    if (format.codec == "arriraw") return "ari";
    return format.codec == "other" ? "bin" : "dpx";
}

bool is_frame_extension(std::string_view extension) {
    return extension == "dpx" || extension == "exr" || extension == "tif" || extension == "cin";
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
