// Builds without the OpenEXR library read documents and frames, and make no frames.
#include "media/frames/codec_makers.h"

namespace streamsim::media {

std::optional<Unmakable> exr_unmakable(const MediaFormat& /*format*/) {
    return std::nullopt;
}

MadeMaker make_exr_maker(const MediaFormat& format) {
    return environment_error(format.name + ": this streamsim was built without OpenEXR and cannot make exr");
}

std::uint64_t exr_bytes_min(const MediaFormat& /*format*/) {
    return 0;
}

}  // namespace streamsim::media
