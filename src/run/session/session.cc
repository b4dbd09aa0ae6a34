#include "run/session/session.h"

#include "host/host.h"
#include "judge/run_verdicts.h"
#include "run/conclude/result_builder.h"

namespace streamsim::run {

RunResult not_played(const PlayRequest& request, const ProgramFacts& program) {
    RunResult result;
    result.version = program.version;
    result.revision = program.revision;
    result.backends = backend_names();
    result.command = program.command;
    result.started_at = host::now_rfc3339();
    result.project = program.project;
    result.host = host::read_host_facts();
    fill_request(request, result);
    result.interrupted = true;
    result.verdict = judge::interrupted_before_play();
    result.digest = metrics::Digest{}.hex();
    return result;
}

Result<RunResult> Session::execute() {
    if (auto planned = plan_.make(); !planned) return planned.error();
    conclusion_.begin(not_played(plan_.request(), program_));
    const auto after_play = [this] {
        if (after_play_ && !interrupted_) after_play_();
    };
    if (plan_.is_empty()) {
        if (auto go = playback_.wait_for_others(); !go) return go.error();
        playback_.tell_end();
        after_play();
        return conclusion_.nothing_to_play();
    }
    playback_.prepare();
    PlayObservation observation(plan_);
    conclusion_.observe(observation);
    if (auto ran = playback_.run(); !ran) {
        if (playback_.preroll_took_too_long() && playback_.started_ns() != 0)
            until_error_ = conclusion_.conclude_failed(observation, ran.error());
        // The process ends by _exit then: nothing removes the recordings.
        if (playback_.is_stuck()) (void)plan_.close_recordings(false, nullptr);
        return ran.error();
    }
    return conclusion_.conclude(observation, after_play);
}

void Session::interrupt() {
    interrupted_ = true;
    if (cancel_after_play_) cancel_after_play_();
    playback_.interrupt();
    conclusion_.interrupt();
}

Session::Watch Session::watch() const {
    if (!plan_.is_made()) return {};
    return {&plan_.streams(),
            &plan_.progress(),
            playback_.started_ns(),
            plan_.request().target.is_virtual_time(),
            conclusion_.is_diagnosing(),
            &plan_.meters(),
            plan_.play_time(),
            plan_.faults_injected()};
}

}  // namespace streamsim::run
