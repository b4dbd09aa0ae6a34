// Pictures for templates: flat grey ones, coded by libavcodec. Inside media/ only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "media/libav/libav.h"
#include "streamsim/media.h"

namespace streamsim::media {

struct FlatPictures {
    const char* encoder = nullptr;
    AVPixelFormat pixels = AV_PIX_FMT_NONE;
    std::string types = "I";  // type of each picture in display order: 'I', 'P' or 'B'
    int b_frames_max = 0;     // B pictures in a row
    std::vector<std::pair<std::string, std::string>> options;  // options of the encoder
};

/// Coded pictures, in the order in which they are stored.
struct CodedPicture {
    std::vector<std::byte> bytes;
    std::int64_t display = 0;  // position in display order
};

/// Codes pictures of the format's raster and rate. Errors: environment, naming the format and what libavcodec
/// says.
Result<std::vector<CodedPicture>> code_flat(const MediaFormat& format, const FlatPictures& wanted);

}  // namespace streamsim::media
