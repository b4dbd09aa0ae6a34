// DPX files (SMPTE ST 268): the header that says where the image is and how long the image must be.
// frames/dpx_writer.h writes headers.
//
// Line rule. 10 bit filled: three components a 32-bit word. 8 bit, and packed 10 and 12 bit: a line ends on a
// 32-bit word. Components of 16 bits (12 bit filled, 16 bit): no padding. Writers differ for odd widths (FFmpeg
// 5.1 pads 16-bit lines too, OpenImageIO 2.4 does not pad 8-bit ones), so a header whose declared file size is
// exactly that of the other rule is read by the other rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace streamsim::media {

/// Generic and industry header, in bytes; parse_dpx_header needs as many where the file has them.
inline constexpr std::size_t kDpxHeaderBytes = 2048;

/// The header of a DPX file; of several elements, element 0.
struct DpxHeader {
    bool big_endian = true;
    std::uint32_t width = 0;           // pixels
    std::uint32_t height = 0;          // lines
    int descriptor = 50;               // 50 RGB, 51 RGBA, 100 CbYCrY, ...
    int components = 3;                // a pixel
    int bits = 0;                      // a component
    int packing = 0;                   // 0 packed, 1 filled method A, 2 filled method B
    std::uint32_t image_offset = 0;    // bytes from the beginning of the file
    std::uint64_t data_offset = 0;     // offset of the data of element 0: its own where the element states one
    std::uint64_t data_offset_at = 0;  // offset of the field that states data_offset
    /// Run-length encoded: no field states the length of the image.
    bool run_length = false;
    std::uint64_t expected_bytes = 0;  // file length up to the last image byte, by offset, raster and packing
    std::uint64_t declared_bytes = 0;  // file length that the header states; 0: not set
    /// Film frame rate, else television frame rate; nothing when neither is set.
    std::optional<FrameRate> rate;
    std::optional<std::uint32_t> frame_number;  // film frame position
    std::string timecode;  // television header: "01:00:00:00"; empty: none, zero or no such time

    /// "dpx 12 bit filled 3840x2160"
    std::string describe() const;
};

/// Reads a header from the first bytes of a file (768 + one element at least; more gives the rate too). Errors:
/// bad input that names `file`, the byte offset and what was expected there. Never allocates by what the header
/// claims.
Result<DpxHeader> parse_dpx_header(std::span<const std::byte> bytes, const std::string& file);

/// Bytes of one image without header, by the line rule above; saturates at 2^64 - 1.
std::uint64_t dpx_image_bytes(
    std::uint64_t width, std::uint64_t height, int bits, int packing, int components = 3);

/// Bytes of one line, line padding included.
std::uint64_t dpx_line_bytes(std::uint64_t width, int bits, int packing, int components = 3);

}  // namespace streamsim::media
