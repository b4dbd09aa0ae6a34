// From clips to streams: who plays what, in which order and how.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "play/play_path.h"
#include "play/recorder.h"
#include "run/session/media_plan.h"
#include "run/session/play_part.h"
#include "run/session/play_request.h"

namespace streamsim::run {

/// How a stream records.
struct RecordPlan {
    play::RecordOptions options;
    MediaFormat format;
};

/// One stream.
struct StreamPlan {
    std::vector<Clip> clips;  // the sources of the path
    std::string name;         // as shown
    std::string format;
    std::shared_ptr<const play::PlayPath> path;  // for one thread at a time
    play::PlayerOptions options;
    std::shared_ptr<const RecordPlan> record;  // null: it plays
    double bytes_per_slot = 0;                 // on average
    std::uint32_t layers = 1;                  // clips that are shown at once
    const PlayRequest* request = nullptr;      // of its part
    const MediaFormat* decoded = nullptr;      // the format of its clips, the request's; null: they have no one
    Duration start_offset;                     // from the beginning of the run (--stagger, scenarios)
    std::optional<Duration> stop_offset;       // rate `max`: no frame is begun from then on

    FrameRate rate() const { return path->rate(); }
    /// For its frames.
    std::uint64_t memory_bytes() const {
        return record != nullptr ? play::Recorder::memory_bytes(*path, options, record->options)
                                 : play::Player::memory_bytes(*path, options);
    }
    double required_bytes_per_s() const { return options.paced ? bytes_per_slot * rate().per_second() : 0; }
};

/// Deals what was found to streams, part by part, each in its place, and keeps those of the seats that this
/// process plays (PlayRequest::plays); by seat, then stream; the parts outlive them. `alignment` is the
/// storage's. Errors: bad input.
Result<std::vector<StreamPlan>> plan_parts(const std::vector<PlayPart>& parts, std::uint32_t alignment);

/// One stream more of a part that plays already, on these clips: what the part would have dealt there had it
/// been asked for more. `stream`: within the seat. REQUIRES: no cut list, no angles, no place.
StreamPlan plan_another(const PlayPart& part,
                        std::uint32_t seat,
                        std::uint32_t stream,
                        std::vector<Clip> clips,
                        std::uint32_t alignment);

}  // namespace streamsim::run
