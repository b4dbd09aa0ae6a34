// What media is, to everyone who is not media/: a format is data, a frame index says where the bytes of each
// frame are, a clip is a frame index with a name.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
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

/// How many bytes the frames of a clip have. Seeded; what each kind promises is tested.
struct FrameSizeModel {
    enum class Kind {
        constant,  // every frame alike: mean_bytes
        table,     // the sizes of `table`, over and over
        scene,     // a level held over a shot, correlated noise inside it, a cap; the mean over a clip is exact
        long_gop,  // I, P and B frames in the order of `gop`; the mean over a clip is exact
    };
    Kind kind = Kind::constant;
    double mean_bytes = 0;  // of a frame, over a clip
    std::vector<std::uint32_t> table;
    double level_min = 1;  // scene: a shot's level, relative to the mean, uniform in [min, max]
    double level_max = 1;
    std::int64_t shot_frames_min = 1;
    std::int64_t shot_frames_max = 1;
    double variation = 0;    // scene, long_gop: standard deviation inside a shot, or of one kind; relative
    double correlation = 0;  // scene: of a frame with the next (AR(1))
    double cap = 1;          // scene, long_gop: no frame above cap * mean
    std::string gop;      // long_gop: one letter a frame as they are stored, "IPBBPBB": begins with its only I
    double weight_i = 1;  // long_gop: sizes relative to each other
    double weight_p = 1;
    double weight_b = 1;
};

struct MediaFormat {
    enum class Container { sequence, quicktime, mp4, mxf };

    std::string name;   // "dpx12": as typed; "avci100-hd@25" is the format at a rate that is not its first
    std::string title;  // "DPX 12 bit filled, UHD, 24 fps"
    Container container = Container::sequence;
    std::string codec;  // "dpx" | "prores" | "dnxhr" | "exr" | "tiff" | "cineon" | "v210" | "h264" | ...
    /// What the codec calls its flavour: ProRes "apcn", "apch", ...; DNxHR "lb" "sq" "hq" "hqx" "444"; EXR
    /// "none" "zip" "piz" "dwaa"; H.264 "avci100" "avci200" "xavc300" "xavc480" "long-gop".
    std::string profile;
    int width = 0;
    int height = 0;
    FrameRate rate;
    std::vector<FrameRate> rates;  // that the format has, its first (the default) first
    DpxLayout dpx;                 // codec "dpx"
    FrameSizeModel size;
    /// Why `prepare` cannot make it; empty: it can. It can be played from null: and sim: in any case.
    std::string not_prepared;
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

/// Where the frames of one clip are. Immutable, random access, no I/O, no allocation; any thread. Frames are in
/// the order in which they are stored and read (decoding order).
class FrameIndex {
public:
    virtual ~FrameIndex() = default;
    /// Frames in the clip, gaps in a sequence included: they have a slot, and fail at it. At least 1.
    virtual std::uint64_t count() const = 0;
    /// The rate; where it varies, the mean.
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
    /// False: the frame's file was not in the listing when the index was made.
    virtual bool listed(std::uint64_t /*frame*/) const { return true; }

    /// The frame from which on this one can be decoded: itself, or the I frame of its group before it.
    virtual std::uint64_t sync_frame(std::uint64_t frame) const { return frame; }

    /// Frames have time stamps of their own, which no rate gives.
    virtual bool variable_rate() const { return false; }
    /// When frame k of the clip is needed, from its first one on: rising; due(count()) is the length of the
    /// clip. REQUIRES: frame <= count().
    virtual Duration due(std::uint64_t frame) const { return rate().due(frame); }

    /// The audio that is stored beside the frames, in chunks as they lie in the file; only where it was asked
    /// for. Chunks that begin with this frame, in the order of their offsets.
    virtual std::span<const Extent> audio(std::uint64_t /*frame*/) const { return {}; }
    /// The bytes of audio that begin with one frame, at most.
    virtual std::uint64_t largest_audio_bytes() const { return 0; }
};

/// The media of one stream.
struct Clip {
    std::string name;    // as shown: a path below TARGET
    std::string format;  // a format's name, or what was found: "dpx 12 bit filled 3840x2160"
    std::shared_ptr<const FrameIndex> index;
    bool ours = false;               // made by prepare
    std::int64_t modified_s = 0;     // of its (first) file; 0: not known
    std::vector<std::string> notes;  // what its reader should know ("3 frame numbers are missing")
    /// The time code of its first frame, as a number of frames from 00:00:00:00; nothing where the media does
    /// not say. For a sequence the number of its first frame.
    std::optional<std::uint64_t> start_timecode;
    bool rate_assumed = false;  // the media states none
    bool drop = true;           // its time code leaves labels out where drop frame exists (29.97, 59.94)
    bool still = false;         // one picture, and no frame of a numbered sequence: nothing to play
    /// At the first clip of a folder: the files and clips of the folder that cannot be played, and why.
    std::vector<std::string> skipped;
    std::string structure;  // one line: what a container is made of ("MOV: ftyp, wide, mdat, moov last; ...")
};

/// Written by whoever indexes, read by a progress bar in another thread; `cancel` the other way.
struct IndexProgress {
    std::atomic<std::uint64_t> bytes_done{0};
    std::atomic<std::uint64_t> bytes_total{0};  // 0: nothing long is going on
    std::atomic<std::uint64_t> clips_done{0};
    std::atomic<std::uint64_t> clips_total{0};  // 0: not known yet, or one
    std::atomic<bool> cancel{false};
    const IndexProgress* whole = nullptr;  // this is of one clip of several, and ends with them

    bool cancelled() const { return cancel || (whole != nullptr && whole->cancelled()); }
};

/// How clips are found and read.
struct IndexOptions {
    bool audio = false;       // also the audio chunks
    bool keep_index = false;  // write the index beside the media, and use one that is there and fits
    IndexProgress* progress = nullptr;
};

}  // namespace streamsim
