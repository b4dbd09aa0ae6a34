// Formats that prepare can make, as small or as large as a test wants them, and clips of them on disk.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "streamsim/media.h"
#include "unit/media/fixtures.h"

namespace streamsim::testing {

using Container = MediaFormat::Container;

/// A format with frames of one size. 0 bytes: what frame_bytes_min says, and some for stuffing where the codec
/// has any. Long GOP: "IPBBPBB".
MediaFormat format_of(const std::string& codec,
                      const std::string& profile,
                      Container container,
                      int width,
                      int height,
                      FrameRate rate = {24, 1},
                      std::uint64_t bytes = 0);

/// A DPX format.
MediaFormat dpx_of(int bits, int packing, bool big_endian, int width, int height);

/// The same with sizes that vary from frame to frame around the mean.
MediaFormat with_scenes(MediaFormat format);

/// Every codec and profile that prepare can make, at a raster that is quick.
std::vector<MediaFormat> all_small_formats();

/// Prepares one clip of `frames` frames below the place; its files are kept there. Fails the test when it
/// cannot.
void prepare_clip(DirectoryStore& store, const Place& place, const MediaFormat& format, std::uint64_t frames);

/// The one complete clip of the format below the place.
Clip prepared_clip(DirectoryStore& store, const Place& place, const MediaFormat& format);

}  // namespace streamsim::testing

namespace streamsim::media {
/// In messages of tests.
inline void PrintTo(const MediaFormat& format, std::ostream* out) {
    *out << format.name;
}
}  // namespace streamsim::media
