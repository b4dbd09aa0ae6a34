#include "cli/media/steps_ahead.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "run/plan/media_plan.h"

namespace streamsim::cli {

namespace {

/// Makes the session known to those who may interrupt it, as long as it is there.
template <typename Step>
class Interruptible {
public:
    Interruptible(Step& step, run::Session& session) : step_(step) {
        const MutexLock lock(step_.mutex);
        if (step_.stopped) session.interrupt();
        step_.session = &session;
    }
    ~Interruptible() {
        const MutexLock lock(step_.mutex);
        step_.session = nullptr;
    }
    Interruptible(const Interruptible&) = delete;
    Interruptible& operator=(const Interruptible&) = delete;

private:
    Step& step_;
};

}  // namespace

void StepsAhead::want(const judge::MaxNext& now,
                      const std::vector<judge::MaxNext>& later,
                      const std::function<run::PlayRequest(const judge::MaxNext&)>& request_of) {
    const auto is_wanted = [&](const Step& step) {
        return step.next.same(now) ||
               std::ranges::any_of(later, [&step](const judge::MaxNext& each) { return step.next.same(each); });
    };
    for (Step& step : steps_) {
        if (!is_wanted(step)) stop(step);
    }
    std::erase_if(steps_, [&](const Step& step) { return !is_wanted(step); });
    const auto playing = std::ranges::count_if(steps_, [](const Step& step) {
        return step.played.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
    });
    std::size_t free = at_once_ - std::min(at_once_, static_cast<std::size_t>(playing));
    if (has(now)) ++free;  // the caller only waits
    for (const judge::MaxNext& next : later) {
        if (has(next)) continue;
        if (free-- == 0) return;
        Step& step = steps_.emplace_back();
        step.next = next;
        step.played = std::async(std::launch::async, [this, &step, request = request_of(next)] {
            return play(step, request, program_);
        });
    }
}

StepsAhead::Played StepsAhead::play(Step& step,
                                    const run::PlayRequest& request,
                                    const run::ProgramFacts& program) {
    Played out{.result = interrupted_error(), .preroll_took_too_long = false, .notices = {}};
    auto media = run::find_media(nullptr, request, nullptr);
    if (!media) {
        out.result = media.error();
        return out;
    }
    run::Session session(request, std::move(*media), program,
                         [&out](const std::string& text) { out.notices.push_back(text); });
    const Interruptible<Step> interruptible(step, session);
    out.result = session.execute();
    out.preroll_took_too_long = session.preroll_took_too_long();
    return out;
}

bool StepsAhead::has(const judge::MaxNext& next) const {
    return std::ranges::any_of(steps_, [&next](const Step& step) { return step.next.same(next); });
}

void StepsAhead::wait_for(const judge::MaxNext& next) const {
    const auto found = std::ranges::find_if(steps_, [&next](const Step& step) { return step.next.same(next); });
    if (found != steps_.end()) found->played.wait();
}

StepsAhead::Played StepsAhead::take(const judge::MaxNext& next) {
    const auto found = std::ranges::find_if(steps_, [&next](const Step& step) { return step.next.same(next); });
    STREAMSIM_CHECK(found != steps_.end(), "only a step that is played ahead can be taken");
    Played played = found->played.get();
    steps_.erase(found);
    return played;
}

void StepsAhead::stop() {
    for (Step& step : steps_) stop(step);
}

void StepsAhead::stop(Step& step) {
    const MutexLock lock(step.mutex);
    step.stopped = true;
    if (step.session != nullptr) step.session->interrupt();
}

}  // namespace streamsim::cli
