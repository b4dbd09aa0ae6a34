// Diagnosis: after play that failed the same clips are read once more, without deadlines, to find the cause.
// It answers two questions:
//
//   Would another way of reading have been fast enough? All streams read as fast as they can, for most of a
//   second each time: as they were played, as an editing system reads, in larger pieces, with more in flight.
//   Only the ratios count: data that a cache has taken in by then is the same for all of them.
//
//   Is the cause in these frames? Some missed frames and some others are re-read alone, one after the other.
//
// For storage alone: the statistics of a model say more than re-reading could.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/system/mutex.h"
#include "judge/evidence.h"
#include "play/ledger.h"
#include "run/backends/backends.h"
#include "run/plan/stream_plan.h"
#include "run/playback/playback_loop.h"

namespace streamsim::run {

/// Rates with all streams reading as fast as they can, and the times of single frames that were re-read.
struct Diagnosis {
    std::optional<ProbeResult> as_played, usual, larger_reads, more_in_flight;
    std::optional<std::uint64_t> reads_at_once_max;  // as DiagnosisSubject
    std::vector<judge::Reread> rereads;              // clip: of Evidence
    bool stuck = false;                              // the storage has not given back everything

    std::vector<ProbeResult> rates() const {
        std::vector<ProbeResult> all;
        for (const auto* each : {&as_played, &usual, &larger_reads, &more_in_flight}) {
            if (*each) all.push_back(**each);
        }
        return all;
    }
};

/// Ends a diagnosis early. Any thread.
class DiagnosisControl {
public:
    void interrupt();
    bool interrupted() const;
    /// Runs a loop until it ends or is interrupted. True: it has run, and its storage has given back
    /// everything.
    bool run(PlaybackLoop& loop);

private:
    mutable Mutex mutex_;
    PlaybackLoop* running_ GUARDED_BY(mutex_) = nullptr;
    bool interrupted_ GUARDED_BY(mutex_) = false;
};

struct DiagnosisSubject {
    const std::vector<StreamPlan>* streams = nullptr;
    std::vector<const play::DeadlineLedger*> ledgers;  // by stream
    StorageSpec storage;
    /// Removes the clips from this computer's page cache; empty: reads bypass it.
    std::function<void()> evict;
    /// Reads that this computer carries out at once; nullopt: as many as it is asked for.
    std::optional<std::uint64_t> reads_at_once_max;
};

/// The rate that a model delivers at most; the head of model_rate.cc says how it is found.
/// `request` plays `parts` with planned media on a model; the streams of a scenario play all at once. nullopt:
/// the request has meters, recorders or faults, for which the rate would say nothing; or `control` was
/// interrupted. Blocks.
std::optional<ProbeResult> model_rate(const PlayRequest& request,
                                      const std::vector<PlayPart>& parts,
                                      const DiagnosisControl& control);

/// Blocks for some seconds. A measurement that fails is left out.
Diagnosis diagnose(const DiagnosisSubject& subject, DiagnosisControl& control);

}  // namespace streamsim::run
