#include "media/container/container_file.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace streamsim::media {
namespace {

class ContainerIndex final : public FrameIndex {
public:
    ContainerIndex(std::string path, ContainerFrames frames)
        : path_(std::move(path)), frames_(std::move(frames)) {
        const std::size_t count = frames_.extents.size();
        STREAMSIM_CHECK(count > 0, "a clip has at least one frame");
        STREAMSIM_CHECK(frames_.sync.empty() || frames_.sync.size() == count, "a sync frame for each");
        STREAMSIM_CHECK(frames_.due_ns.empty() || frames_.due_ns.size() == count + 1, "times, and the length");
        STREAMSIM_CHECK(frames_.audio_begin.empty() || frames_.audio_begin.size() == count + 1,
                        "audio of each frame");
        for (const Extent& extent : frames_.extents) largest_ = std::max(largest_, extent.bytes);
        for (std::size_t frame = 0; frame < count && !frames_.audio_begin.empty(); ++frame) {
            std::uint64_t bytes = 0;
            for (const Extent& chunk : audio(frame)) bytes += chunk.bytes;
            largest_audio_ = std::max(largest_audio_, bytes);
        }
    }

    std::uint64_t count() const override { return frames_.extents.size(); }
    FrameRate rate() const override { return frames_.rate; }
    bool file_per_frame() const override { return false; }
    void write_path(std::uint64_t /*frame*/, char* into) const override {
        std::memcpy(into, path_.c_str(), path_.size() + 1);
    }
    std::size_t path_capacity() const override { return path_.size() + 1; }
    Extent extent(std::uint64_t frame) const override { return frames_.extents[frame]; }
    std::uint64_t largest_frame_bytes() const override { return largest_; }
    std::uint64_t sync_frame(std::uint64_t frame) const override {
        return frames_.sync.empty() ? frame : frames_.sync[frame];
    }
    bool variable_rate() const override { return !frames_.due_ns.empty(); }
    Duration due(std::uint64_t frame) const override {
        return frames_.due_ns.empty() ? frames_.rate.due(frame) : nanoseconds(frames_.due_ns[frame]);
    }
    std::span<const Extent> audio(std::uint64_t frame) const override {
        if (frames_.audio_begin.empty()) return {};
        const std::size_t begin = frames_.audio_begin[frame];
        return std::span(frames_.audio).subspan(begin, frames_.audio_begin[frame + 1] - begin);
    }
    std::uint64_t largest_audio_bytes() const override { return largest_audio_; }

private:
    std::string path_;
    ContainerFrames frames_;
    std::uint64_t largest_ = 0;
    std::uint64_t largest_audio_ = 0;
};

}  // namespace

std::shared_ptr<const FrameIndex> make_container_index(std::string path, ContainerFrames frames) {
    return std::make_shared<ContainerIndex>(std::move(path), std::move(frames));
}

std::shared_ptr<const FrameIndex> make_container_index(std::string path,
                                                       FrameRate rate,
                                                       std::vector<Extent> extents) {
    return make_container_index(std::move(path), ContainerFrames{rate, std::move(extents), {}, {}, {}, {}});
}

}  // namespace streamsim::media
