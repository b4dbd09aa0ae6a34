#include "media/clips/planned_index.h"

#include <utility>

#include "media/catalogue/frame_sizes.h"
#include "media/container/container_file.h"
#include "media/frames/frame_maker.h"
#include "media/sequence/sequence_index.h"

namespace streamsim::media {
namespace {

constexpr std::uint64_t kMp4DataOffset = 48;     // ftyp, free, the head of mdat
constexpr std::uint64_t kMxfHeaderBytes = 6144;  // partitions, metadata, the first system item
constexpr std::uint64_t kMxfKeyBytes = 20;       // key and length of a frame
constexpr std::uint64_t kMxfSystemBytes = 512;   // the system item before the next frame
constexpr std::uint64_t kMxfGrid = 512;          // each content package begins on it

/// Frames in groups of one length; only the first frame of a group decodes alone.
class GopIndex final : public FrameIndex {
public:
    GopIndex(std::shared_ptr<const FrameIndex> frames, std::uint64_t gop)
        : frames_(std::move(frames)), gop_(gop) {}

    std::uint64_t count() const override { return frames_->count(); }
    FrameRate rate() const override { return frames_->rate(); }
    bool file_per_frame() const override { return frames_->file_per_frame(); }
    void write_path(std::uint64_t frame, char* into) const override { frames_->write_path(frame, into); }
    std::size_t path_capacity() const override { return frames_->path_capacity(); }
    Extent extent(std::uint64_t frame) const override { return frames_->extent(frame); }
    std::uint64_t largest_frame_bytes() const override { return frames_->largest_frame_bytes(); }
    std::uint64_t sync_frame(std::uint64_t frame) const override { return frame / gop_ * gop_; }

private:
    std::shared_ptr<const FrameIndex> frames_;
    std::uint64_t gop_;
};

std::vector<Extent> back_to_back(const std::vector<std::uint32_t>& sizes, std::uint64_t offset) {
    std::vector<Extent> extents;
    extents.reserve(sizes.size());
    for (const std::uint32_t bytes : sizes) {
        extents.push_back({offset, bytes});
        offset += bytes;
    }
    return extents;
}

/// One content package for each frame: a system item, the frame, fill.
std::vector<Extent> on_mxf_grid(const std::vector<std::uint32_t>& sizes) {
    std::vector<Extent> extents;
    extents.reserve(sizes.size());
    std::uint64_t key = kMxfHeaderBytes;
    for (const std::uint32_t bytes : sizes) {
        extents.push_back({key + kMxfKeyBytes, bytes});
        const std::uint64_t package = kMxfSystemBytes + kMxfKeyBytes + bytes;
        key += (package + kMxfGrid - 1) / kMxfGrid * kMxfGrid;
    }
    return extents;
}

}  // namespace

std::uint64_t essence_offset(MediaFormat::Container container) {
    using Container = MediaFormat::Container;
    if (container == Container::mp4) return kMp4DataOffset;
    return container == Container::mxf ? kMxfHeaderBytes : kQuickTimeDataOffset;
}

std::shared_ptr<const FrameIndex> planned_index(const MediaFormat& format,
                                                std::uint64_t frames,
                                                std::uint64_t seed,
                                                std::uint32_t clip,
                                                const std::string& path) {
    const bool sequence = format.container == MediaFormat::Container::sequence;
    std::vector<std::uint32_t> sizes;  // none where a sequence may be very long, and one size says all
    if (!sequence || format.size.kind != FrameSizeModel::Kind::constant)
        sizes = plan_frame_bytes(format, frames, seed, clip);
    std::shared_ptr<const FrameIndex> index;
    if (sequence) {
        index = make_sequence_index({.directory = path,
                                     .pattern = prepared_pattern(frame_extension(format)),
                                     .first = kFirstFrameNumber,
                                     .count = frames,
                                     .frame_bytes = static_cast<std::uint64_t>(format.mean_frame_bytes),
                                     .rate = format.rate,
                                     .frame_sizes = {sizes.begin(), sizes.end()}});
    } else {
        index = make_container_index(path,
                                     {.rate = format.rate,
                                      .extents = format.container == MediaFormat::Container::mxf
                                                     ? on_mxf_grid(sizes)
                                                     : back_to_back(sizes, essence_offset(format.container))});
    }
    if (format.size.kind != FrameSizeModel::Kind::long_gop) return index;
    return std::make_shared<GopIndex>(std::move(index), format.size.gop.size());
}

}  // namespace streamsim::media
