// RunFacts: everything that a result is made from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/host.h"
#include "play/ledger.h"
#include "run/diagnosis/diagnosis.h"
#include "run/plan/stream_plan.h"
#include "run/playback/playback_loop.h"
#include "streamsim/system_history.h"

namespace streamsim::run {

struct RunFacts {
    const PlayRequest* request = nullptr;
    const std::vector<StreamPlan>* streams = nullptr;
    const CutList* cuts = nullptr;                     // where one was played
    std::vector<const play::DeadlineLedger*> ledgers;  // as the streams
    std::vector<const LoopStats*> playback_loops;
    const PlaybackLoop* model = nullptr;  // whose parts are asked for what they did; null: they are not
    std::uint64_t buffer_bytes = 0;
    host::ProcessUsage before;
    host::ProcessUsage after;
    bool counts_storage_reads = false;  // ProcessUsage::storage_read_bytes means something for these files
    /// Share of the clips that is in this computer's page cache; nullopt: not known, or not read through it.
    std::optional<double> cached_before, cached_after;
    SystemHistory system;             // over play
    std::optional<MountFacts> mount;  // of the target
    Diagnosis diagnosis;              // after play that failed
    std::vector<VanishedLocation> vanished;
    bool interrupted = false;
    bool faults_injected = false;
    std::vector<std::string> notices;
};

}  // namespace streamsim::run
