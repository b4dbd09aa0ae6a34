#include "cli/media/steps_ahead.h"

#include <algorithm>
#include <chrono>
#include <system_error>
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

bool StepsAhead::is_over(const Step& step) {
    return step.played.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

void StepsAhead::put_away(const std::function<bool(const Step&)>& unwanted) {
    for (auto at = steps_.begin(); at != steps_.end();) {
        const auto step = at++;
        if (!unwanted(*step)) continue;
        stop(*step);
        interrupted_.splice(interrupted_.end(), steps_, step);
    }
    std::erase_if(interrupted_, is_over);
}

void StepsAhead::want(const judge::MaxNext& now,
                      const std::vector<judge::MaxNext>& later,
                      const std::function<run::PlayRequest(const judge::MaxNext&)>& request_of) {
    put_away([&](const Step& step) {
        const auto same = [&step](const judge::MaxNext& each) { return step.next.same(each); };
        return !same(now) && std::ranges::none_of(later, same);
    });
    const auto is_playing = [](const Step& step) { return !is_over(step); };
    // The caller only waits if `now` is among them.
    const bool waits =
        std::ranges::any_of(steps_, [&](const Step& step) { return step.next.same(now) && is_playing(step); });
    std::size_t playing = static_cast<std::size_t>(std::ranges::count_if(steps_, is_playing)) +
                          interrupted_.size() - (waits ? 1 : 0);
    for (const judge::MaxNext& next : later) {
        if (playing >= at_once_) return;
        if (has(next)) continue;
        auto request = request_of(next);
        Step& step = steps_.emplace_back();
        step.next = next;
        try {
            step.played = std::async(std::launch::async, [this, &step, request = std::move(request)] {
                return play(step, request, program_);
            });
        } catch (const std::system_error&) {  // no thread: the step is played when it is asked for
            steps_.pop_back();
            return;
        }
        ++playing;
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

void StepsAhead::forget() {
    put_away([](const Step&) { return true; });
}

void StepsAhead::stop(Step& step) {
    const MutexLock lock(step.mutex);
    step.stopped = true;
    if (step.session != nullptr) step.session->interrupt();
}

}  // namespace streamsim::cli
