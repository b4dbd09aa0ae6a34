// The header of one image file of any kind: expected length of the file, rate and raster. A header is a claim,
// and counts only as far as its own file confirms it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "streamsim/byte_store.h"

namespace streamsim::media {

enum class ImageKind {
    dpx,
    exr,
    tiff,
    cineon,
    by_size,  // PNG, JPEG, JPEG 2000, ARRIRAW, ...: the file size is the frame length, and no header is read
              // but the frame rate of CinemaDNG
};

/// Writers of DPX fill up their lines in more ways than one: a file that is shorter by that many bytes a line
/// may be whole.
inline constexpr std::uint64_t kLineFill = 4;

struct ImageHeader {
    std::string format;        // "exr half zip 3840x2160"
    std::uint64_t width = 0;   // pixels; 0: not read
    std::uint64_t height = 0;  // lines
    /// Length of the file up to the last byte that the header accounts for. 0: the image is compressed, and
    /// only the file size tells the length.
    std::uint64_t expected_bytes = 0;
    std::optional<FrameRate> rate;
    bool rate_is_read = true;  // false: streamsim reads no rate from files of this kind
    std::string timecode;      // "01:00:00:00"; empty: it has none

    // Byte offsets of the claims, for messages.
    std::uint64_t raster_at = 0;        // byte offset of the field
    std::uint64_t image_begins = 0;     // byte offset of the image data; 0: not known
    std::uint64_t image_begins_at = 0;  // byte offset of the field that says so
    /// Error text for a file that ends before its image does. Empty: the file is long enough.
    std::string cut;
};

/// The kind of image that a file name promises: by its extension in any case, and also before a frame number
/// ("shot.dpx.0101"). Empty for an unknown kind.
std::optional<ImageKind> image_kind(std::string_view name);

/// "dpx, exr, tif, ...": for messages.
std::string known_image_extensions();

/// Reads a header: a few KiB of the file, never more than 1 MiB, and never allocates by what it claims. Errors:
/// bad input that names `file`, the byte and what was expected there, also where the image would begin past the
/// end of the file, or be larger than a GiB that is not there; environment from the source. A file that is
/// merely shorter than its image is no error here: it was cut.
Result<ImageHeader> read_image_header(ByteSource& source, ImageKind kind, const std::string& file);

}  // namespace streamsim::media
