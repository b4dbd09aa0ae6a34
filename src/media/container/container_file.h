// The frame index of one file that holds all frames, and the audio that is stored beside them, as chunks that
// belong to frames. Pure. Inside media/ only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "streamsim/media.h"

namespace streamsim::media {

/// The facts about the frames of a container, in stored order.
struct ContainerFrames {
    FrameRate rate;
    std::vector<Extent> extents;       // at least one
    std::vector<std::uint32_t> sync;   // sync_frame of each; empty: each frame itself
    std::vector<std::int64_t> due_ns;  // variable rate: due(0) = 0 ... due(count()), rising; else empty
    std::vector<Extent> audio;         // chunks, those of one frame together
    /// First index in `audio` of each frame, and the end: count + 1 values; or empty.
    std::vector<std::uint32_t> audio_begin;
};

/// REQUIRES: as the members say.
std::shared_ptr<const FrameIndex> make_container_index(std::string path, ContainerFrames frames);

/// ContainerFrames::sync, from whether each frame can be decoded alone.
std::vector<std::uint32_t> sync_frames(const std::vector<bool>& alone);

/// Makes each extent reach up to where the next one in the file begins, unless that is far away. The last one
/// ends with the file, but is no longer than the longest before it.
void reach_next(std::vector<Extent>& extents, std::uint64_t file_bytes);

/// "audio aac 2 ch 48 kHz"
std::string describe_audio(std::string_view codec, int channels, int sample_rate);

/// "video h264, 2 x audio aac 2 ch 48 kHz": each kind with its number, in the order of the first of each.
std::string list_tracks(const std::vector<std::string>& tracks);

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
/// their offsets. REQUIRES: `frames` has at least one frame; its rate, extents and due_ns are final.
void give_audio(ContainerFrames& frames, const std::vector<AudioPiece>& chunks);

}  // namespace streamsim::media
