// Where the OpenEXR library is not: frames are read and none is made.
#include "media/codec_makers.h"

namespace streamsim {
namespace {

constexpr const char* kWithout = "this streamsim was built without OpenEXR and cannot make exr";

}  // namespace

std::optional<Unmakable> exr_unmakable(const MediaFormat& /*format*/) {
    return Unmakable{"/codec", kWithout};
}

MadeMaker make_exr_maker(const MediaFormat& /*format*/) {
    return bad_input(kWithout);
}

std::uint64_t exr_bytes_min(const MediaFormat& /*format*/) {
    return 0;
}

}  // namespace streamsim
