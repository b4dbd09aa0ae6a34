// From the statistics of all loops to one RunResult.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/host.h"
#include "judge/evidence.h"
#include "play/ledger.h"
#include "run/diagnosis/diagnosis.h"
#include "run/plan/stream_plan.h"
#include "run/playback/playback_loop.h"
#include "streamsim/run_result.h"
#include "streamsim/system_history.h"

namespace streamsim::run {

/// Everything that a result is made from.
struct RunFacts {
    const PlayRequest* request = nullptr;
    const std::vector<StreamPlan>* streams = nullptr;
    const CutList* cuts = nullptr;                     // where one was played
    std::vector<const play::DeadlineLedger*> ledgers;  // as the streams
    std::vector<const LoopStats*> playback_loops;
    const PlaybackLoop* model = nullptr;  // whose parts are asked for what they did; null: they are not
    std::uint64_t buffer_bytes = 0;
    std::int64_t began_s = 0;  // when play began, since 1970: the age of the media counts up to then
    host::ProcessUsage before;
    host::ProcessUsage after;
    bool direct_uses_page_cache = false;  // direct reads may be answered from the page cache
    bool counts_storage_reads = false;    // ProcessUsage::storage_read_bytes means something for these files
    /// As cached_share(); nullopt: not known, or not read through the page cache.
    std::optional<double> cached_before, cached_after;
    SystemHistory system;                      // over play
    std::optional<MountFacts> mount;           // of the target
    std::map<std::string, MountFacts> mounts;  // by directory of a clip
    Diagnosis diagnosis;                       // after play that failed
    std::vector<VanishedLocation> vanished;
    bool interrupted = false;
    bool preroll_took_too_long = false;  // which is what interrupted it
    bool faults_injected = false;
    std::vector<std::string> notices;
    std::optional<ProveResult> prove;  // nullopt: nothing is to be proved
};

/// Fills everything below `target` in the result; program, host and time are the caller's.
void fill_result(const RunFacts& facts, RunResult& result);

/// How the request says it is played: for results of runs that never began, too.
void fill_request(const PlayRequest& request, RunResult& result);

/// The evidence of the verdict. `result` has its totals, streams, drops, media, client and parts. The missed
/// frames are in the order of result.drops, then the stalls.
judge::Evidence evidence_of(const RunFacts& facts, const RunResult& result);

/// True: a frame of this stream failed because this computer had no descriptor, port or memory left.
bool client_lacked_anything(const play::DeadlineLedger* ledger);

}  // namespace streamsim::run
