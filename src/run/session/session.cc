#include "run/session/session.h"

#include <utility>

#include "run/conclude/conclusion.h"
#include "run/plan/notice_log.h"
#include "run/plan/playback_plan.h"
#include "run/playback/playback.h"
#include "run/playback/stream_changes.h"

namespace streamsim::run {

struct Session::Steps {
    Steps(PlayRequest request,
          std::vector<PlayPart> parts,
          std::vector<ScenarioFault> faults,
          const NoticeSink& notice)
        : log(notice), plan(std::move(request), std::move(parts), std::move(faults), log) {}

    NoticeLog log;
    PlaybackPlan plan;
    Playback playback{plan};
    StreamChanges changes{plan, playback};
    Conclusion conclusion{plan, playback, changes};
};

Session::Session(const PlayRequest& request, FoundMedia media, ProgramFacts program, const NoticeSink& notice)
    : Session(request, one_part(request, std::move(media)), {}, std::move(program), notice) {}

Session::Session(PlayRequest request,
                 std::vector<PlayPart> parts,
                 std::vector<ScenarioFault> faults,
                 ProgramFacts program,
                 const NoticeSink& notice)
    : program_(std::move(program)),
      steps_(std::make_unique<Steps>(std::move(request), std::move(parts), std::move(faults), notice)) {}

Session::~Session() = default;

void Session::wait_for(seats::StartBarrier& barrier) {
    steps_->playback.wait_for(barrier);
}

Result<RunResult> Session::execute() {
    auto& [log, plan, playback, changes, conclusion] = *steps_;
    if (auto planned = plan.make(); !planned) return planned.error();
    conclusion.begin(program_);
    if (plan.is_empty()) {
        if (auto go = playback.wait_for_others(); !go) return go.error();
        return conclusion.nothing_to_play();
    }
    PlayObservation observation(plan);
    conclusion.observe(observation);
    if (auto ran = playback.run(); !ran) return ran.error();
    return conclusion.conclude(observation);
}

void Session::interrupt() {
    steps_->playback.interrupt();
    steps_->conclusion.interrupt();
}

std::optional<RunResult> Session::snapshot() {
    return steps_->conclusion.snapshot();
}

Result<std::string> Session::add_stream() {
    return steps_->changes.add();
}

Result<std::string> Session::remove_stream(std::size_t index) {
    return steps_->changes.remove(index);
}

Session::Watch Session::watch() const {
    const PlaybackPlan& plan = steps_->plan;
    if (!plan.is_made()) return {};
    return {&plan.streams(),
            &plan.progress(),
            steps_->playback.started_ns(),
            plan.request().target.is_virtual_time(),
            steps_->conclusion.is_diagnosing(),
            &plan.meters(),
            plan.play_time(),
            plan.faults_injected()};
}

bool Session::storage_is_over() const {
    return steps_->conclusion.storage_is_over();
}

bool Session::stuck() const {
    return steps_->playback.is_stuck() || steps_->conclusion.is_stuck();
}

bool Session::preroll_took_too_long() const {
    return steps_->playback.preroll_took_too_long();
}

}  // namespace streamsim::run
