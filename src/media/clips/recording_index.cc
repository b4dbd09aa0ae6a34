#include "media/clips/recording_index.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "media/catalogue/frame_sizes.h"
#include "media/clips/planned_index.h"
#include "media/container/container_file.h"
#include "media/frames/frame_maker.h"
#include "media/sequence/sequence_index.h"

namespace streamsim::media {
namespace {

/// Approximate memory for one stream's frames, and limits of their number.
constexpr double kBytesKept = 64e6;
constexpr double kFramesMin = 4;
constexpr double kFramesMax = 48;
/// Limit of frame numbers: more than a year at 24 fps.
constexpr std::uint64_t kFrames = 1'000'000'000;

class RecordingIndex final : public FrameIndex {
public:
    /// `named` gives the file names.
    RecordingIndex(std::shared_ptr<const FrameIndex> named,
                   std::vector<std::uint32_t> sizes,
                   std::uint64_t first,
                   std::uint32_t alignment)
        : named_(std::move(named)), sizes_(std::move(sizes)) {
        first_ = align_up(first, alignment);
        for (const std::uint32_t bytes : sizes_) {
            offsets_.push_back(round_);
            round_ += align_up(bytes, alignment);
        }
    }
    std::uint64_t count() const override { return kFrames; }
    FrameRate rate() const override { return named_->rate(); }
    bool file_per_frame() const override { return named_->file_per_frame(); }
    void write_path(std::uint64_t frame, char* into) const override { named_->write_path(frame, into); }
    std::size_t path_capacity() const override { return named_->path_capacity(); }
    Extent extent(std::uint64_t frame) const override {
        const std::size_t which = frame % sizes_.size();
        if (file_per_frame()) return {0, sizes_[which]};
        return {first_ + frame / sizes_.size() * round_ + offsets_[which], sizes_[which]};
    }
    std::uint64_t largest_frame_bytes() const override {
        return *std::max_element(sizes_.begin(), sizes_.end());
    }
    std::uint64_t frame_number(std::uint64_t frame) const override { return named_->frame_number(frame); }

private:
    std::shared_ptr<const FrameIndex> named_;
    std::vector<std::uint32_t> sizes_;
    std::vector<std::uint64_t> offsets_;  // offsets within one round of the distinct frames
    std::uint64_t first_ = 0;
    std::uint64_t round_ = 0;
};

}  // namespace

std::uint32_t distinct_frames(const MediaFormat& format) {
    const double frames =
        std::clamp(kBytesKept / std::max(format.mean_frame_bytes, 1.0), kFramesMin, kFramesMax);
    const std::size_t group = std::max<std::size_t>(format.size.gop.size(), 1);
    const std::size_t table = format.size.kind == FrameSizeModel::Kind::table ? format.size.table.size() : 1;
    const std::size_t unit = std::max(group, table);  // whole groups, and a table's sizes all
    return static_cast<std::uint32_t>((static_cast<std::size_t>(frames) + unit - 1) / unit * unit);
}

std::shared_ptr<const FrameIndex> recording_index(const MediaFormat& format,
                                                  std::uint64_t seed,
                                                  std::uint32_t alignment,
                                                  const std::string& path) {
    const std::uint32_t distinct = distinct_frames(format);
    std::vector<std::uint32_t> sizes = plan_frame_bytes(format, distinct, seed, 0);
    std::shared_ptr<const FrameIndex> named;
    if (format.container == MediaFormat::Container::sequence) {
        named = make_sequence_index({.directory = path,
                                     .pattern = prepared_pattern(frame_extension(format)),
                                     .first = kFirstFrameNumber,
                                     .count = kFrames,
                                     .frame_bytes = sizes.front(),
                                     .rate = format.rate});
    } else {
        const std::string file = path + std::string(container_extension(format.container));
        named = make_container_index(file, {.rate = format.rate, .extents = {{0, sizes.front()}}});
    }
    return std::make_shared<RecordingIndex>(std::move(named), std::move(sizes),
                                            essence_offset(format.container), alignment);
}

}  // namespace streamsim::media
