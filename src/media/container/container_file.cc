#include "media/container/container_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

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

std::int64_t due_ns(const ContainerFrames& frames, std::size_t frame) {
    return frames.due_ns.empty() ? frames.rate.due(frame).ns : frames.due_ns[frame];
}

/// The last frame that is due at `start_ns`.
std::size_t frame_at(const ContainerFrames& frames, std::int64_t start_ns) {
    std::size_t low = 0;
    std::size_t high = frames.extents.size();
    while (high - low > 1) {
        const std::size_t middle = low + (high - low) / 2;
        (due_ns(frames, middle) <= start_ns ? low : high) = middle;
    }
    return low;
}

}  // namespace

std::shared_ptr<const FrameIndex> make_container_index(std::string path, ContainerFrames frames) {
    return std::make_shared<ContainerIndex>(std::move(path), std::move(frames));
}

std::vector<std::uint32_t> sync_frames(const std::vector<bool>& alone) {
    std::vector<std::uint32_t> sync;
    if (std::find(alone.begin(), alone.end(), false) == alone.end()) return sync;
    sync.reserve(alone.size());
    std::uint32_t last = 0;
    for (std::size_t k = 0; k < alone.size(); ++k) {
        if (alone[k]) last = static_cast<std::uint32_t>(k);
        sync.push_back(last);
    }
    return sync;
}

void reach_next(std::vector<Extent>& extents, std::uint64_t file_bytes) {
    constexpr std::uint64_t kReachMax = std::uint64_t{64} << 20;  // longer: a gap in the video
    std::vector<std::uint64_t> begins;
    begins.reserve(extents.size());
    for (const Extent& extent : extents) begins.push_back(extent.offset);
    std::sort(begins.begin(), begins.end());
    std::uint64_t longest = 0;
    for (Extent& extent : extents) {
        const auto next = std::upper_bound(begins.begin(), begins.end(), extent.offset);
        if (next != begins.end()) {
            extent.bytes = std::min(*next - extent.offset, std::max(kReachMax, extent.bytes));
        } else if (extent.offset + extent.bytes < file_bytes) {
            extent.bytes = std::min(file_bytes - extent.offset, std::max(longest, 2 * extent.bytes));
        }
        longest = std::max(longest, extent.bytes);
    }
}

std::string describe_audio(std::string_view codec, int channels, int sample_rate) {
    return fmt::format("audio {} {} ch {} kHz", codec, channels, static_cast<double>(sample_rate) / 1000);
}

std::string list_tracks(const std::vector<std::string>& tracks) {
    std::string list;
    for (auto at = tracks.begin(); at != tracks.end(); ++at) {
        if (std::find(tracks.begin(), at, *at) != at) continue;
        const auto count = std::count(at, tracks.end(), *at);
        if (!list.empty()) list += ", ";
        list += count == 1 ? *at : fmt::format("{} x {}", count, *at);
    }
    return list;
}

std::vector<AudioPiece> join_audio(const std::vector<AudioPiece>& pieces) {
    std::vector<AudioPiece> chunks;
    for (const AudioPiece& piece : pieces) {
        if (!chunks.empty()) {
            AudioPiece& chunk = chunks.back();
            const std::uint64_t bytes = chunk.extent.bytes + piece.extent.bytes;
            const std::int64_t length = chunk.length_ns + piece.length_ns;
            if (chunk.extent.offset + chunk.extent.bytes == piece.extent.offset &&
                (bytes <= kAudioChunkBytes || length <= kAudioChunkNs)) {
                chunk.extent.bytes = bytes;
                chunk.length_ns = length;
                continue;
            }
        }
        chunks.push_back(piece);
    }
    return chunks;
}

void give_audio(ContainerFrames& frames, const std::vector<AudioPiece>& chunks) {
    STREAMSIM_CHECK(!frames.extents.empty(), "a clip has at least one frame");
    struct Placed {
        std::size_t frame;
        Extent extent;
    };
    std::vector<Placed> placed;
    placed.reserve(chunks.size());
    for (const AudioPiece& chunk : chunks) placed.push_back({frame_at(frames, chunk.start_ns), chunk.extent});
    std::sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
        return std::pair(a.frame, a.extent.offset) < std::pair(b.frame, b.extent.offset);
    });
    frames.audio.clear();
    frames.audio_begin.assign(frames.extents.size() + 1, 0);
    for (const Placed& each : placed) {
        frames.audio.push_back(each.extent);
        ++frames.audio_begin[each.frame + 1];
    }
    std::partial_sum(frames.audio_begin.begin(), frames.audio_begin.end(), frames.audio_begin.begin());
}

}  // namespace streamsim::media
