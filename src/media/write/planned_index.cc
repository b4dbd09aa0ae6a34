#include "media/write/planned_index.h"

#include "media/catalogue/frame_sizes.h"
#include "media/container/container_file.h"
#include "media/frames/frame_maker.h"
#include "media/sequence/sequence_index.h"
#include "media/write/container_writer.h"

namespace streamsim::media {

namespace {

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

std::shared_ptr<const FrameIndex> planned_sequence(const MediaFormat& format,
                                                   std::uint64_t frames,
                                                   std::uint64_t seed,
                                                   std::uint32_t clip,
                                                   const std::string& path) {
    SequenceFacts facts{.directory = path,
                        .pattern = prepared_pattern(frame_extension(format)),
                        .first = kFirstFrameNumber,
                        .count = frames,
                        .frame_bytes = static_cast<std::uint64_t>(format.mean_frame_bytes),
                        .rate = format.rate};
    if (format.size.kind != FrameSizeModel::Kind::constant) {
        const auto sizes = plan_frame_bytes(format, frames, seed, clip);
        facts.frame_sizes.assign(sizes.begin(), sizes.end());
    }
    return make_sequence_index(std::move(facts));
}

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

std::shared_ptr<const FrameIndex> planned_index(const MediaFormat& format,
                                                std::uint64_t frames,
                                                std::uint64_t seed,
                                                std::uint32_t clip,
                                                const std::string& path) {
    using Container = MediaFormat::Container;
    std::shared_ptr<const FrameIndex> index;
    if (format.container == Container::sequence) {
        index = planned_sequence(format, frames, seed, clip, path);
    } else {
        const auto sizes = plan_frame_bytes(format, frames, seed, clip);
        const std::uint64_t first = format.container == Container::mp4 ? kMp4DataOffset : kQuickTimeDataOffset;
        index = make_container_index(
            path, format.rate,
            format.container == Container::mxf ? on_mxf_grid(sizes) : back_to_back(sizes, first));
    }
    if (format.size.kind != FrameSizeModel::Kind::long_gop) return index;
    return std::make_shared<GopIndex>(std::move(index), format.size.gop.size());
}

}  // namespace streamsim::media
