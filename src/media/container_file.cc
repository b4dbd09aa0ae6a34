#include "media/container_file.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace streamsim {
namespace {

class ContainerIndex final : public FrameIndex {
public:
    ContainerIndex(std::string path, FrameRate rate, std::vector<Extent> extents)
        : path_(std::move(path)), rate_(rate), extents_(std::move(extents)) {
        STREAMSIM_CHECK(!extents_.empty(), "a clip has at least one frame");
        for (const Extent& extent : extents_) largest_ = std::max(largest_, extent.bytes);
    }

    std::uint64_t count() const override { return extents_.size(); }
    FrameRate rate() const override { return rate_; }
    bool file_per_frame() const override { return false; }
    void write_path(std::uint64_t /*frame*/, char* into) const override {
        std::memcpy(into, path_.c_str(), path_.size() + 1);
    }
    std::size_t path_capacity() const override { return path_.size() + 1; }
    Extent extent(std::uint64_t frame) const override { return extents_[frame]; }
    std::uint64_t largest_frame_bytes() const override { return largest_; }

private:
    std::string path_;
    FrameRate rate_;
    std::vector<Extent> extents_;
    std::uint64_t largest_ = 0;
};

}  // namespace

std::shared_ptr<const FrameIndex> make_container_index(std::string path,
                                                       FrameRate rate,
                                                       std::vector<Extent> extents) {
    return std::make_shared<ContainerIndex>(std::move(path), rate, std::move(extents));
}

}  // namespace streamsim
