// The fields of a DPX header, for the reader and for the writer of headers. Inside media/ only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace streamsim::media::dpx_fields {

// Offsets of the fields that are used here, in bytes from the beginning of the file.
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

}  // namespace streamsim::media::dpx_fields
