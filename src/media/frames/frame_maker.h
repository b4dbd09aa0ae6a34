// The frames that `prepare` writes. A FrameMaker makes the frames of one format, each of exactly the bytes that
// were planned, faster than a disk writes them: what costs time (coding a picture) is done once, when the maker
// is made. Uncompressed frames are random samples. Coded frames are a small, valid picture and, where decoders
// of the codec pass over it, random stuffing up to the planned size: the sizes are those of real footage, and
// nothing in the storage can compress or deduplicate them. Inside media/ only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "streamsim/media.h"

struct AVCodecParameters;

namespace streamsim::media {

/// The frame that is to be made.
struct FrameToMake {
    std::uint64_t frame = 0;   // index in the clip, in stored order
    std::uint64_t number = 1;  // sequences: number in the file name
    std::uint64_t key = 0;     // makes its bytes unique (payload_key)
    std::string_view file;     // sequences: name of the file, for headers that hold it
};

/// Smallest and largest size of a frame, in bytes.
struct FrameLimits {
    std::uint64_t min = 0;
    std::uint64_t max = UINT32_MAX;
};

/// Immutable: any number of threads may make frames with one maker.
class FrameMaker {
public:
    virtual ~FrameMaker() = default;
    /// REQUIRES, here and below: frame is one of the clip that the maker was made for.
    virtual FrameLimits limits(std::uint64_t frame) const = 0;
    /// Fills all of `into`. REQUIRES: limits(at.frame).min <= into.size() <= limits(at.frame).max.
    virtual void make(std::span<std::byte> into, const FrameToMake& at) const = 0;
    /// The first bytes of the file of a frame of `bytes`, none of them payload; empty where frames are no files
    /// of their own. Frames of any length begin so, but for the fields that state the length.
    virtual std::vector<std::byte> beginning(std::uint64_t /*bytes*/, const FrameToMake& /*at*/) const {
        return {};
    }

    /// Position of a stored frame in display order, from 0; B frames are stored behind a later frame.
    virtual std::uint64_t display(std::uint64_t frame) const { return frame; }
    /// Frames that decoders hold back before the first can be shown: pts = dts + this at least.
    virtual std::uint64_t delay() const { return 0; }
    /// True: decoding can begin here.
    virtual bool is_key(std::uint64_t /*frame*/) const { return true; }
    /// Fills in the container's facts about the track besides the raster: codec, tag, pixel format, extradata.
    virtual void describe(AVCodecParameters& /*track*/) const {}
};

/// The maker of a format, for clips of `frames` frames. Errors: environment when the picture cannot be coded
/// (an encoder that this libavcodec does not have); bad input when there is none for this codec, profile or
/// container.
Result<std::unique_ptr<FrameMaker>> make_frame_maker(const MediaFormat& format, std::uint64_t frames);

/// Why no maker can make media of a format, and the member of a format document that says so.
struct Unmakable {
    const char* member;  // "/codec", "/profile", "/raster" or "/frame_sizes/gop"
    std::string why;
};
/// Pure arithmetic, like frame_bytes_min(). Empty when prepare can make the format, provided that its encoder
/// exists.
std::optional<Unmakable> unmakable(const MediaFormat& format);

/// False: there is no OpenEXR library, and no frame of the codec "exr" can be made.
bool exr_is_built_in();

/// Bytes that every frame of the format can have at least: what its headers and its picture may need. Exact for
/// uncompressed formats, an upper bound for coded ones. Pure arithmetic: nothing is coded for it. 0 for codecs
/// that prepare cannot make.
std::uint64_t frame_bytes_min(const MediaFormat& format);

/// The extension of a sequence's files for a codec, without the dot: "dpx", "exr", "tif", "cin".
std::string_view frame_extension(const MediaFormat& format);

/// The extension of a clip's file, with the dot: ".mov", ".mxf", ".mp4"; empty for sequences.
std::string_view container_extension(MediaFormat::Container container);

}  // namespace streamsim::media
