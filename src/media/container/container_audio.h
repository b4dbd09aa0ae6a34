// The audio that is stored beside the frames of a container, as chunks that belong to frames. Pure. Inside
// media/ only.
#pragma once

#include <cstdint>
#include <vector>

#include "media/container/container_file.h"
#include "streamsim/media.h"

namespace streamsim::media {

/// A packet, or a table's entry, of audio.
struct AudioPiece {
    Extent extent;
    std::int64_t start_ns = 0;  // time of its first sample; 0: when the first frame is shown
    std::int64_t length_ns = 0;
};

/// Limit of one chunk: 1 MiB or 0.5 s, whichever is more. A single larger piece stays whole.
inline constexpr std::uint64_t kAudioChunkBytes = 1 << 20;
inline constexpr std::int64_t kAudioChunkNs = 500'000'000;

/// Joins the pieces of one track, in the order of their times, to chunks: pieces that touch each other in the
/// file are one, up to the most above. A chunk has the time of its first piece.
std::vector<AudioPiece> join_audio(const std::vector<AudioPiece>& pieces);

/// Gives each chunk to the frame k with due(k) <= start < due(k + 1); those before the first frame to it, those
/// behind the last one to that. Fills `audio` and `audio_begin`; the chunks of one frame, of all tracks, by
/// their offsets. REQUIRES: rate, extents and due_ns of `frames` are final.
void give_audio(ContainerFrames& frames, const std::vector<AudioPiece>& chunks);

}  // namespace streamsim::media
