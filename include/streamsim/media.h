// What media is, to everyone who is not media/: a format is data, a frame index says where the bytes of each
// frame are, a clip is a frame index with a name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"

namespace streamsim {

/// DPX image layout (SMPTE ST 268), element 0.
struct DpxLayout {
    int bits = 10;    // 8, 10, 12 or 16 a component, three components
    int packing = 1;  // 0 packed, 1 filled method A, 2 filled method B
    bool big_endian = true;
    std::uint32_t image_offset = 8192;  // of the image data in the file
};

/// How many bytes the frames of a clip have.
struct FrameSizeModel {
    enum class Kind {
        constant,  // every frame alike; from raster and layout
        scene,     // a level held over a shot, correlated noise inside it, a cap; the mean over a clip is exact
    };
    Kind kind = Kind::constant;
    double mean_bytes = 0;  // scene
    double level_min = 1;   // scene: a shot's level, relative to the mean, uniform in [min, max]
    double level_max = 1;
    std::int64_t shot_frames_min = 1;
    std::int64_t shot_frames_max = 1;
    double variation = 0;    // scene: standard deviation inside a shot, relative
    double correlation = 0;  // scene: of a frame with the next (AR(1))
    double cap = 1;          // scene: no frame above cap * mean
};

struct MediaFormat {
    enum class Container { sequence, quicktime };

    std::string name;   // "dpx12": as typed
    std::string title;  // "DPX 12 bit filled, UHD, 24 fps"
    Container container = Container::sequence;
    std::string codec;  // "dpx" | "prores"
    int width = 0;
    int height = 0;
    FrameRate rate;
    DpxLayout dpx;              // codec "dpx"
    std::string prores_fourcc;  // codec "prores": "apcn", "apch", ...
    FrameSizeModel size;
    /// What each number rests on, in the order of the document: "what: basis".
    std::vector<std::string> sources;

    /// Bytes of a frame on average: exact for constant sizes.
    double mean_frame_bytes = 0;
    double bytes_per_s() const { return mean_frame_bytes * rate.per_second(); }
};

struct Extent {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};

/// Where the frames of one clip are. Immutable, random access, no I/O, no allocation; any thread.
class FrameIndex {
public:
    virtual ~FrameIndex() = default;
    /// Frames in the clip, gaps in a sequence included: they have a slot, and fail at it. At least 1.
    virtual std::uint64_t count() const = 0;
    virtual FrameRate rate() const = 0;
    /// True: each frame is a file of its own.
    virtual bool file_per_frame() const = 0;
    /// Writes the zero-terminated path of the file that holds the frame. REQUIRES: frame < count(),
    /// into.size() >= path_capacity().
    virtual void write_path(std::uint64_t frame, char* into) const = 0;
    /// Bytes that write_path needs, the final zero included.
    virtual std::size_t path_capacity() const = 0;
    /// The bytes of the frame in its file: its *expected* place and length. REQUIRES: frame < count().
    virtual Extent extent(std::uint64_t frame) const = 0;
    /// The largest extent of the clip, in bytes.
    virtual std::uint64_t largest_frame_bytes() const = 0;
    /// The number that the media gives the frame: the digits of its file name; in a container the frame itself.
    virtual std::uint64_t frame_number(std::uint64_t frame) const { return frame; }
};

/// The media of one stream.
struct Clip {
    std::string name;    // as shown: a path below TARGET
    std::string format;  // a format's name, or what was found: "dpx 12 bit filled 3840x2160"
    std::shared_ptr<const FrameIndex> index;
    bool ours = false;               // made by prepare
    std::int64_t modified_s = 0;     // of its (first) file; 0: not known
    std::vector<std::string> notes;  // what its reader should know ("3 frame numbers are missing")
};

}  // namespace streamsim
