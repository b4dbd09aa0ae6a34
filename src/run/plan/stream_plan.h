// From clips to streams: which seat plays which clips, in which order and with which settings.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "play/player.h"
#include "play/recorder.h"
#include "run/plan/media_plan.h"
#include "run/plan/play_request.h"
#include "streamsim/progress.h"

namespace streamsim::run {

/// How a stream records.
struct RecordPlan {
    play::RecordOptions options;
    MediaFormat format;
};

/// A stream before play.
struct StreamPlan {
    std::vector<Clip> clips;  // the sources of the path
    std::string name;         // as shown
    std::string format;
    std::shared_ptr<const play::PlayPath> path;  // for one thread at a time
    play::PlayerOptions options;
    std::shared_ptr<const RecordPlan> record;  // null: it plays
    double bytes_per_slot = 0;                 // on average
    std::uint32_t layers = 1;                  // clips that are shown at once
    bool shares_clip = false;                  // another stream or layer of the run, on any computer, reads one
    const PlayRequest* request = nullptr;      // of its part
    const MediaFormat* decoded = nullptr;      // the request's format of its clips; null: there is none
    Duration start_offset;                     // from the beginning of the run (--stagger, scenarios)
    std::optional<Duration> stop_offset;       // without deadlines: no frame begins from then on

    /// From the start of play to the end of the last slot. REQUIRES: paced.
    Duration play_time() const { return start_offset + path->due(options.slots); }
    FrameRate rate() const { return path->rate(); }
    /// The memory of its frames.
    std::uint64_t memory_bytes() const {
        return record != nullptr ? play::Recorder::memory_bytes(*path, options, record->options)
                                 : play::Player::memory_bytes(*path, options);
    }
    double required_bytes_per_s() const { return options.paced ? bytes_per_slot * rate().per_second() : 0; }
};

/// A stream of a run, as its loop and its viewers know it, which plan and progress outlive.
struct LoopStream {
    const StreamPlan* plan = nullptr;
    StreamProgress* progress = nullptr;
};

/// The same for clips that the storage cannot tell apart: those of one file, where it is known, or one index.
using ClipKey = std::pair<std::string, const FrameIndex*>;
ClipKey key_of(const Clip& clip);

/// A number for each clip; streams that share a clip share its number.
std::map<const FrameIndex*, std::uint32_t> clip_numbers(const std::vector<StreamPlan>& streams);

/// The length of play without --duration and --frames: a cut list plays once, anything else for
/// kDefaultDuration.
Duration usual_length(const PlayRequest& request, const FoundMedia& media);

/// Assigns the media of all parts to streams, and returns the streams of the seats that this process plays
/// (PlayRequest::plays): by seat, then stream. The parts outlive them. `alignment` is the storage's. Errors:
/// bad input. `play_time` becomes the time from the start of play to the end of the last stream, over the
/// streams of all seats; without deadlines, those of a schedule and those that read a number of frames do not
/// count. Null: it is not wanted.
Result<std::vector<StreamPlan>> plan_parts(const std::vector<PlayPart>& parts,
                                           std::uint32_t alignment,
                                           Duration* play_time = nullptr);

/// One more stream of a part that plays already, with the settings of the part, on these clips. `stream`: its
/// number within the seat. REQUIRES: no cut list, no angles, no schedule.
StreamPlan plan_another(const PlayPart& part,
                        std::uint32_t seat,
                        std::uint32_t stream,
                        std::vector<Clip> clips,
                        std::uint32_t alignment);

}  // namespace streamsim::run
