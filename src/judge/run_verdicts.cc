#include "judge/run_verdicts.h"

namespace streamsim::judge {

Verdict interrupted_before_play() {
    return {false, "interrupted before anything was played", Limit::unknown};
}

Verdict nothing_assigned() {
    return {true, "no stream was assigned to this computer", Limit::none};
}

void judge_vanished_recording(const std::string& file, RunResult& result) {
    if (!result.verdict.pass) return;
    const Limit limit = judges_storage(result) ? Limit::storage : Limit::unknown;
    result.verdict = {false, file + " vanished while it was being recorded", limit};
}

void withhold_storage(RunResult& result) {
    if (judges_storage(result)) return;
    if (result.verdict.limit == Limit::storage) result.verdict.limit = Limit::unknown;
    for (CauseResult& cause : result.causes) {
        if (cause.limit == Limit::storage) cause.limit = Limit::unknown;
    }
}

bool server_cache_may_be_warm(const MediaReading& reading) {
    return reading.looped || reading.shared || (reading.age_s && *reading.age_s < kServerCacheSeconds);
}

}  // namespace streamsim::judge
