// The audio of a QuickTime or MP4 track, piece by piece. Pure. Inside media/ only.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "media/container/container_file.h"
#include "media/container/mov_track.h"

namespace streamsim::media {

/// `ticks` in nanoseconds, rounded down, no further from zero than 2^60.
std::int64_t ticks_to_ns(std::int64_t ticks, std::uint32_t ticks_per_second);

/// The length of an edit in ticks of its track, rounded half up. REQUIRES: movie_ticks_per_second > 0.
std::int64_t edit_length(const MovTrack& track, const MovEdit& edit, std::uint32_t movie_ticks_per_second);

/// The pieces as libavformat lists them: one a sample; of PCM 1024 samples each, and the rest of each chunk.
/// Times count from `base_ns`. Empty for a table or an edit list that audio seldom has.
std::optional<std::vector<AudioPiece>> read_mov_audio(const MovTrack& track,
                                                      std::uint32_t movie_ticks_per_second,
                                                      std::int64_t base_ns);

}  // namespace streamsim::media
