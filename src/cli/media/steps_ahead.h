// Steps of a search in virtual time that are played before they are asked for, on processors that have nothing
// else to do. Whether the search asks for a step depends on the ones before it: what it does not ask for is
// lost.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <future>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/system/mutex.h"
#include "judge/search/max_search.h"
#include "run/plan/play_request.h"
#include "run/session/session.h"

namespace streamsim::cli {

class StepsAhead {
public:
    /// Each step holds a model and all of its streams; those far ahead are seldom asked for.
    static constexpr std::size_t kAtOnceMax = 7;
    struct Played {
        Result<RunResult> result;
        bool preroll_took_too_long = false;
        std::vector<std::string> notices;
    };

    /// `at_once`: the steps that are played at a time, beside the one that the caller plays; kAtOnceMax at
    /// most.
    StepsAhead(run::ProgramFacts program, std::size_t at_once)
        : program_(std::move(program)), at_once_(std::min(at_once, kAtOnceMax)) {}
    /// Waits for what is played, which is interrupted.
    ~StepsAhead() { stop(); }
    StepsAhead(const StepsAhead&) = delete;
    StepsAhead& operator=(const StepsAhead&) = delete;

    std::size_t at_once() const { return at_once_; }
    /// The caller asks for `now`, and `later` may follow: begins to play those of `later` that are not here
    /// yet, the first ones first, as far as there are processors. Interrupts all other steps.
    void want(const judge::MaxNext& now,
              const std::vector<judge::MaxNext>& later,
              const std::function<run::PlayRequest(const judge::MaxNext&)>& request_of);
    bool has(const judge::MaxNext& next) const;
    /// Waits until the step has been played. Any thread, as long as it is there.
    void wait_for(const judge::MaxNext& next) const;
    /// Waits for the step, which is gone then. Throws what its play has thrown. REQUIRES: has(next).
    Played take(const judge::MaxNext& next);
    /// Interrupts all steps. Any thread, during wait_for() too.
    void stop();
    /// Interrupts all steps, which are not here any more: another search begins.
    void forget();

private:
    struct Step {
        judge::MaxNext next;
        Mutex mutex;
        run::Session* session GUARDED_BY(mutex) = nullptr;  // while it plays
        bool stopped GUARDED_BY(mutex) = false;
        std::future<Played> played;
    };

    static Played play(Step& step, const run::PlayRequest& request, const run::ProgramFacts& program);
    static void stop(Step& step);
    static bool is_over(const Step& step);
    void put_away(const std::function<bool(const Step&)>& unwanted);

    const run::ProgramFacts program_;
    const std::size_t at_once_;
    std::list<Step> steps_;
    std::list<Step> interrupted_;  // until they have ended
};

}  // namespace streamsim::cli
