// Small image files, made byte by byte as the writers of the field make them.
#pragma once

#include <cstdint>
#include <string>

namespace streamsim::testing {

/// Integers into text, in either byte order.
std::string be(std::uint64_t value, int bytes);
std::string le(std::uint64_t value, int bytes);
std::string in_order(std::uint64_t value, int bytes, bool big_endian);
/// Writes `text` over what is at `at`.
void put(std::string& file, std::size_t at, const std::string& text);

/// A DPX file with generic header, and industry header where the image begins at 2048 or later; RGB.
std::string dpx_sample(
    int width, int height, int bits, int packing, std::uint32_t offset, bool big_endian = true);

struct ExrSample {
    int width = 5;
    int height = 3;
    int compression = 0;
    int channels = 3;       // half
    int tile = 0;           // > 0: tiles of this side
    int level_mode = 0;     // of tiles
    std::string more = {};  // attributes
};
std::string exr_attribute(const std::string& name, const std::string& type, const std::string& value);
/// Only uncompressed images have their image data, all of it; others have 100 bytes, a table of chunks in them.
std::string exr_sample(const ExrSample& sample);

struct TiffSample {
    int width = 7;
    int height = 4;
    bool big_endian = false;
    bool big = false;  // 64-bit offsets
    int compression = 1;
    bool directory_last = false;
    int rows_per_strip = 2;
};
/// 16 bit RGB.
std::string tiff_sample(const TiffSample& sample);

/// The directory of a CinemaDNG file, with nothing in it but its frame rate.
std::string dng_sample(int num, int den, bool big_endian = false);

/// 10 bit filled RGB.
std::string cineon_sample(int width, int height, std::uint32_t offset, bool big_endian = true);

}  // namespace streamsim::testing
