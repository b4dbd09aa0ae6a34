#include "media/container/container_audio.h"

#include <algorithm>

namespace streamsim::media {
namespace {

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
    struct Placed {
        std::size_t frame;
        Extent extent;
    };
    std::vector<Placed> placed;
    placed.reserve(chunks.size());
    for (const AudioPiece& chunk : chunks) placed.push_back({frame_at(frames, chunk.start_ns), chunk.extent});
    std::sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
        return a.frame != b.frame ? a.frame < b.frame : a.extent.offset < b.extent.offset;
    });
    frames.audio.clear();
    frames.audio_begin.assign(1, 0);
    frames.audio_begin.reserve(frames.extents.size() + 1);
    std::size_t next = 0;
    for (std::size_t frame = 0; frame < frames.extents.size(); ++frame) {
        for (; next < placed.size() && placed[next].frame == frame; ++next)
            frames.audio.push_back(placed[next].extent);
        frames.audio_begin.push_back(static_cast<std::uint32_t>(next));
    }
}

}  // namespace streamsim::media
