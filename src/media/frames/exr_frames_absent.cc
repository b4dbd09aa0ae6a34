// Builds without the OpenEXR library read documents and frames, and make no frames.
#include "media/frames/codec_makers.h"

namespace streamsim::media {

const Codec kExr{"exr",
                 [](const MediaFormat& format, std::uint64_t) -> MadeMaker {
                     return environment_error(format.name +
                                              ": this streamsim was built without OpenEXR and cannot make exr");
                 },
                 [](const MediaFormat&) { return std::uint64_t{0}; },
                 [](const MediaFormat&) -> std::optional<Unmakable> { return std::nullopt; }};

bool exr_is_built_in() {
    return false;
}

}  // namespace streamsim::media
