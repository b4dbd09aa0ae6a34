// Media as every module sees it: a format is data, a frame index says where the bytes of each frame are, a clip
// is a frame index with a name.
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
#include "streamsim/verifier.h"

namespace streamsim {

/// DPX image layout (SMPTE ST 268), element 0.
struct DpxLayout {
    int bits = 10;    // 8, 10, 12 or 16 a component, three components
    int packing = 1;  // 0 packed, 1 filled method A, 2 filled method B
    bool big_endian = true;
    std::uint32_t image_offset = 8192;  // bytes of the file before the image data
};

/// Frame sizes of a clip, drawn from a seed. The properties of each kind are tested.
struct FrameSizeModel {
    enum class Kind {
        constant,  // every frame has mean_bytes
        table,     // the sizes of `table`, over and over
        scene,     // a level held over a shot, correlated noise inside it, a cap; the mean over a clip is exact
        long_gop,  // I, P and B frames in the order of `gop`; the mean over a clip is exact
    };
    Kind kind = Kind::constant;
    double mean_bytes = 0;  // mean frame size of a clip
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
    /// The codec's name of its flavour: ProRes "apcn", "apch", ...; DNxHR "lb" "sq" "hq" "hqx" "444"; EXR
    /// "none" "zip" "piz" "dwaa"; H.264 "avci100" "avci200" "xavc300" "xavc480" "long-gop".
    std::string profile;
    int width = 0;
    int height = 0;
    FrameRate rate;
    std::vector<FrameRate> rates;  // all rates of the format, the default first
    DpxLayout dpx;                 // codec "dpx"
    FrameSizeModel size;
    /// Why `prepare` cannot make media of this format; empty: prepare can. null: and sim: play every format.
    std::string not_prepared;
    /// The basis of each number, in the order of the document: "what: basis".
    std::vector<std::string> sources;

    /// Bytes of a frame on average: exact for constant sizes.
    double mean_frame_bytes = 0;
    double bytes_per_s() const { return mean_frame_bytes * rate.per_second(); }
};

struct Extent {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};

/// Location of each frame of one clip. Immutable, random access, no I/O, no allocation; any thread. Frames are
/// in the order in which they are stored and read (decoding order).
class FrameIndex {
public:
    virtual ~FrameIndex() = default;
    /// Frames in the clip, at least 1. Gaps in a sequence count: each has a slot, which fails.
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
    /// The path that write_path writes, in memory of its own.
    std::string path_of(std::uint64_t frame) const {
        std::string path(path_capacity(), '\0');
        write_path(frame, path.data());
        path.resize(path.find('\0'));
        return path;
    }
    /// The expected byte range of the frame in its file. REQUIRES: frame < count().
    virtual Extent extent(std::uint64_t frame) const = 0;
    /// The largest extent of the clip, in bytes.
    virtual std::uint64_t largest_frame_bytes() const = 0;
    /// The number that the media gives the frame: the digits of its file name; in a container the frame itself.
    virtual std::uint64_t frame_number(std::uint64_t frame) const { return frame; }
    /// False: the frame's file was not in the listing when the index was made.
    virtual bool listed(std::uint64_t /*frame*/) const { return true; }

    /// The frame from which on this one can be decoded: itself, or the I frame of its group before it.
    virtual std::uint64_t sync_frame(std::uint64_t frame) const { return frame; }

    /// True: frames have time stamps of their own, which no rate gives.
    virtual bool variable_rate() const { return false; }
    /// Time from the first frame to this one. Rises with the frame; due(count()) is the length of the clip.
    /// REQUIRES: frame <= count().
    virtual Duration due(std::uint64_t frame) const { return rate().due(frame); }

    /// The bytes that the frames must have; null: not known, or nobody asked.
    virtual const FrameContent* content() const { return nullptr; }

    /// The audio chunks that begin with this frame, in the order of their offsets; empty unless
    /// IndexOptions::audio was set.
    virtual std::span<const Extent> audio(std::uint64_t /*frame*/) const { return {}; }
    /// The largest sum of audio bytes that begin with one frame.
    virtual std::uint64_t largest_audio_bytes() const { return 0; }
};

/// The media of one stream.
struct Clip {
    std::string name;    // path below TARGET, for display
    std::string format;  // a format's name, or what was found: "dpx 12 bit filled 3840x2160"
    std::shared_ptr<const FrameIndex> index;
    bool ours = false;           // made by prepare
    std::int64_t touched_s = 0;  // of the youngest of its files that were looked at; 0: unknown
    std::string file;            // path of the first file without links, for clips that play; empty: unknown
    std::vector<std::string> notes;  // remarks for the user ("3 frame numbers are missing")
    /// Time code of the first frame, in frames since 00:00:00:00; empty where the media states none. A sequence
    /// has the number of its first frame here.
    std::optional<std::uint64_t> start_timecode;
    std::uint64_t timecode_each = 1;  // frames for each label of the time code: 2 where it counts 25 in 50
    bool rate_assumed = false;        // the media states none
    bool drop = true;                 // drop-frame time code where the rate has it (29.97, 59.94)
    bool audio = false;               // it has some, which is read along (IndexOptions::audio)
    bool read_through = false;        // all of it was read for its index, just now
    bool still = false;               // a single picture outside of a numbered sequence: nothing to play
    /// At the first clip of a folder: the files and clips of the folder that cannot be played, and why.
    std::vector<std::string> skipped;
    /// At the first clip of a folder with folders or other files in it: how deep was searched, what was found.
    std::string searched;
    std::string structure;  // structure of a container in one line ("MOV: ftyp, wide, mdat, moov last; ...")
};

/// The indexing thread writes these counters and a progress bar on another thread reads them; the other thread
/// sets `cancel`.
struct IndexProgress {
    std::atomic<std::uint64_t> bytes_done{0};
    std::atomic<std::uint64_t> bytes_total{0};  // 0: no long read is under way
    std::atomic<std::uint64_t> files_done{0};
    std::atomic<std::uint64_t> files_total{0};  // 0: the files of no sequence are being looked at
    std::atomic<std::uint64_t> clips_done{0};
    std::atomic<std::uint64_t> clips_total{0};  // 0: not known yet, or one
    std::atomic<bool> cancel{false};
    const IndexProgress* whole =
        nullptr;  // progress of all clips, of which this is one; its cancel ends this one too

    bool cancelled() const { return cancel || (whole != nullptr && whole->cancelled()); }
};

inline constexpr int kFolderDepth = 16;

/// Options for finding and reading clips.
struct IndexOptions {
    bool audio = false;       // index the audio chunks too
    bool keep_index = false;  // write the index beside the media, and use an existing index that fits
    IndexProgress* progress = nullptr;
    int depth = kFolderDepth;  // levels of folders below TARGET in which clips are looked for
};

}  // namespace streamsim
