// After play that failed: the same clips once more, without deadlines, to find out why. Two questions:
//
//   Would it have been enough, had the player asked in another way? All streams read as fast as it goes, for
//   most of a second each time: as they were played, as an editing system reads, in larger pieces, with more in
//   flight. Only the ratios count: what a cache has taken in by then is the same for all of them.
//
//   Is it these frames? Some that were missed, and some that were not, are read alone, one after the other.
//
// On storage alone: a model's books say more than questions could.
#pragma once

#include <functional>
#include <vector>

#include "run/diagnosis/findings.h"
#include "run/playback/backends.h"
#include "run/session/play_request.h"
#include "run/session/stream_plan.h"

namespace streamsim::play {
class DeadlineLedger;
}  // namespace streamsim::play

namespace streamsim::run {

class PlaybackLoop;

struct ProbeSubject {
    const PlayRequest* request = nullptr;
    const std::vector<StreamPlan>* streams = nullptr;
    std::vector<const play::DeadlineLedger*> ledgers;  // by stream
    StorageSpec storage;
    NoticeSink notice;
    std::function<bool()> cancelled;  // asked between two measurements
    std::function<void()> evict;  // the clips, from this computer's page cache; empty: it is not read through
    /// Is told which world is about to run, and null after it: to interrupt it. cancelled() is asked later.
    std::function<void(PlaybackLoop*)> running;
};

/// Blocks for some seconds. What could not be measured is left out.
Findings look_into(const ProbeSubject& subject);

}  // namespace streamsim::run
