// DPX files (SMPTE ST 268): the header that says where the image is and how long the image must be.
// frames/uncompressed_frames.cc writes headers.
//
// Line rule. 10 bit filled: three components a 32-bit word. 8 bit, and packed 10 and 12 bit: a line ends on a
// 32-bit word. Components of 16 bits (12 bit filled, 16 bit): no padding. Writers differ for odd widths (FFmpeg
// 5.1 pads 16-bit lines too, OpenImageIO 2.4 does not pad 8-bit ones), so a header whose declared file size is
// exactly that of the other rule is read by the other rule.
#pragma once

#include <cstddef>
#include <span>

#include "media/image/image_header.h"

namespace streamsim::media {

/// Generic and industry header, in bytes; parse_dpx_header needs as many where the file has them.
inline constexpr std::size_t kDpxHeaderBytes = 2048;

/// The header of a DPX file; of several elements, element 0. The image begins where the element says, else
/// where the file's header says. The rate is that of the film, else that of the television header, which has
/// the time code.
struct DpxHeader : ImageHeader {
    bool big_endian = true;
    int descriptor = 50;             // 50 RGB, 51 RGBA, 100 CbYCrY, ...
    int components = 3;              // a pixel
    int bits = 0;                    // a component
    int packing = 0;                 // 0 packed, 1 filled method A, 2 filled method B
    std::uint32_t image_offset = 0;  // by the file's header, in bytes from the beginning of the file
    /// Run-length encoded: no field states the length of the image.
    bool run_length = false;
    std::uint64_t declared_bytes = 0;           // file length that the header states; 0: not set
    std::optional<std::uint32_t> frame_number;  // film frame position

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

namespace dpx_fields {
// Offsets of the fields that the reader or the writer uses, in bytes from the beginning of the file.
inline constexpr std::size_t kMagic = 0;
inline constexpr std::size_t kImageOffset = 4;
inline constexpr std::size_t kVersion = 8;
inline constexpr std::size_t kFileSize = 16;
inline constexpr std::size_t kDittoKey = 20;
inline constexpr std::size_t kGenericLength = 24;
inline constexpr std::size_t kIndustryLength = 28;
inline constexpr std::size_t kFileName = 36;
inline constexpr std::size_t kCreator = 160;
inline constexpr std::size_t kEncryptionKey = 660;
inline constexpr std::size_t kElements = 770;
inline constexpr std::size_t kWidth = 772;
inline constexpr std::size_t kHeight = 776;
inline constexpr std::size_t kElement = 780;  // the first of eight
inline constexpr std::size_t kElementBytes = 72;
inline constexpr std::size_t kOrigination = 1408;
inline constexpr std::size_t kFilmFramePosition = 1712;
inline constexpr std::size_t kFilmHeldCount = 1720;
inline constexpr std::size_t kFilmFrameRate = 1724;
inline constexpr std::size_t kTimeCode = 1920;
inline constexpr std::size_t kTelevisionFrameRate = 1940;

// Offsets inside an element.
inline constexpr std::size_t kHighData = 12;
inline constexpr std::size_t kDescriptor = 20;
inline constexpr std::size_t kTransfer = 21;
inline constexpr std::size_t kColorimetric = 22;
inline constexpr std::size_t kBits = 23;
inline constexpr std::size_t kPacking = 24;
inline constexpr std::size_t kEncoding = 26;
inline constexpr std::size_t kDataOffset = 28;
inline constexpr std::size_t kLinePadding = 32;
inline constexpr std::size_t kImagePadding = 36;
inline constexpr std::size_t kDescription = 40;

inline constexpr std::uint32_t kMagicNumber = 0x53445058;  // "SDPX"
inline constexpr std::uint32_t kUndefined = 0xffffffff;
inline constexpr std::size_t kElementsMax = 8;
}  // namespace dpx_fields

}  // namespace streamsim::media
