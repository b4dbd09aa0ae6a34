// StreamChanges: streams that are added and removed by hand while the others play.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/system/mutex.h"
#include "play/ledger.h"
#include "run/plan/playback_plan.h"
#include "run/playback/playback.h"

namespace streamsim::run {

/// The streams of a result: by seat, then stream.
struct PlayedStreams {
    std::vector<StreamPlan> plans;
    std::vector<const play::DeadlineLedger*> ledgers;  // as plans
    std::size_t added = 0;
    std::size_t removed = 0;
};

/// Any thread.
class StreamChanges {
public:
    /// Plan and playback outlive it.
    StreamChanges(PlaybackPlan& plan, Playback& playback) : plan_(plan), playback_(playback) {}

    /// Adds one stream like the last one, until the others end: on a clip that none plays, if there is one,
    /// else on the clip of another stream. The stream fills its read-ahead first. Blocks while memory is
    /// reserved. Returns a sentence about what it plays. Errors: a sentence about why not.
    Result<std::string> add();
    /// Ends the stream with this index in PlaybackPlan::streams(). The frames that it has played stay in the
    /// result. Returns a sentence that says so. Errors: a sentence about why not.
    Result<std::string> remove(std::size_t index);

    /// The streams so far, by `ledger_of`: the ledger of a stream by its index; null: it has played nothing.
    using LedgerOf = std::function<const play::DeadlineLedger*(std::size_t index)>;
    PlayedStreams played(const LedgerOf& ledger_of) const;
    /// The streams that played, with a notice about those that were added or removed. REQUIRES: the loops have
    /// ended. From then on add() fails.
    PlayedStreams finish();

private:
    Result<void> check_addition() const REQUIRES(mutex_);
    Result<StreamPlan> plan_addition(std::string& shared_with) const;
    std::uint32_t seat_with_fewest_streams() const;
    std::vector<Clip> clips_for_addition(const StreamPlan& like, std::string& shared_with) const;
    std::uint64_t slots_left(const StreamPlan& plan) const;
    PlayedStreams collect(const LedgerOf& ledger_of) const REQUIRES(mutex_);
    std::string stream_name(const StreamPlan& plan) const;

    PlaybackPlan& plan_;
    Playback& playback_;
    mutable Mutex mutex_;
    std::map<std::size_t, PlaybackLoop*> added_ GUARDED_BY(mutex_);  // by index
    std::set<std::size_t> removed_ GUARDED_BY(mutex_);
    bool finished_ GUARDED_BY(mutex_) = false;
};

}  // namespace streamsim::run
