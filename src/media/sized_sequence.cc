#include "media/sized_sequence.h"

#include <algorithm>

#include "base/check.h"

namespace streamsim {
namespace {

class SizedSequence final : public FrameIndex {
public:
    SizedSequence(SequenceFacts facts, std::vector<std::uint32_t> sizes)
        : otherwise_(facts.frame_bytes),
          sizes_(std::move(sizes)),
          names_(make_sequence_index(std::move(facts))) {
        STREAMSIM_CHECK(sizes_.size() == names_->count(), "each frame has a size");
        largest_ = *std::max_element(sizes_.begin(), sizes_.end());
        if (std::find(sizes_.begin(), sizes_.end(), 0U) != sizes_.end())
            largest_ = std::max(largest_, otherwise_);
    }

    std::uint64_t count() const override { return names_->count(); }
    FrameRate rate() const override { return names_->rate(); }
    bool file_per_frame() const override { return true; }
    void write_path(std::uint64_t frame, char* into) const override { names_->write_path(frame, into); }
    std::size_t path_capacity() const override { return names_->path_capacity(); }
    Extent extent(std::uint64_t frame) const override {
        return {0, sizes_[frame] == 0 ? otherwise_ : sizes_[frame]};
    }
    std::uint64_t largest_frame_bytes() const override { return largest_; }
    std::uint64_t frame_number(std::uint64_t frame) const override { return names_->frame_number(frame); }
    bool listed(std::uint64_t frame) const override { return sizes_[frame] != 0; }

private:
    std::uint64_t otherwise_;
    std::uint64_t largest_ = 0;
    std::vector<std::uint32_t> sizes_;
    std::shared_ptr<const FrameIndex> names_;
};

}  // namespace

std::shared_ptr<const FrameIndex> make_sized_sequence(SequenceFacts facts, std::vector<std::uint32_t> sizes) {
    return std::make_shared<SizedSequence>(std::move(facts), std::move(sizes));
}

}  // namespace streamsim
