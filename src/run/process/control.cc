#include "run/process/control.h"

#include <csignal>
#include <memory>
#include <thread>
#include <utility>

namespace streamsim::run {
namespace {

constexpr Duration kTick = milliseconds(100);
/// Added to the timeout of work that is about to end: it still computes, and its result would be lost.
constexpr Duration kEndingTime = seconds(10);
/// Signals that come within this time are one.
constexpr Duration kSameSignal = milliseconds(250);

}  // namespace

Control::Control(ControlOptions options)
    : options_(std::move(options)),
      timeout_(options_.timeout),
      signal_thread_([this] { on_signal(); }, [this] { watch_main(); }) {
#ifdef SIGPIPE  // not everywhere
    std::signal(SIGPIPE, SIG_IGN);
#endif
}

bool Control::run(Work work) {
    // The thread keeps its work alive where it is left behind.
    auto shared = std::make_shared<Work>(std::move(work));
    auto failure = std::make_shared<std::exception_ptr>();
    work_ = shared.get();
    told_ = ended_ = false;
    leave_at_ = end_at_ = Instant::never();
    set_working(true);
    loop_.hold();
    if (interrupted_) loop_.defer(Callback::of<&Control::heard>(this));
    tick_ = loop_.at(loop_.now() + kTick, Callback::of<&Control::tick>(this));
    std::thread thread([this, shared, failure] {
        try {
            shared->run();
        } catch (...) {
            *failure = std::current_exception();
        }
        loop_.post([this] {
            ended_ = true;
            loop_.stop();
        });
    });
    loop_.run();
    loop_.release();
    loop_.cancel(tick_);  // the next work has ticks of its own
    work_ = nullptr;
    set_working(false);
    if (!ended_) {
        thread.detach();
        return false;
    }
    thread.join();
    if (*failure && options_.failed) options_.failed(*failure);
    if (*failure) std::rethrow_exception(*failure);
    return true;
}

void Control::saving(Duration timeout) {
    const std::lock_guard lock(mutex_);
    timeout_ = timeout;
    reacted_at_ = loop_.now();
}

void Control::heard() {
    interrupted_ = true;
    note_reaction();
    if (work_ == nullptr) return;
    if (told_ || !work_->on_interrupt) {  // asked twice, or nothing to ask: the work is left behind
        loop_.stop();
    } else {
        work_->on_interrupt();
        if (work_->timeout) leave_at_ = loop_.now() + *work_->timeout;
        end_at_ = leave_at_ == Instant::never() ? leave_at_ : leave_at_ + kEndingTime;
    }
    told_ = true;
}

void Control::tick() {
    if (work_ == nullptr || ended_) return;
    note_reaction();
    const Instant now = loop_.now();
    const bool ending = now < end_at_ && work_->about_to_end && work_->about_to_end();
    if (now >= leave_at_ && !ending) return loop_.stop();
    if (work_->on_tick) work_->on_tick();
    tick_ = loop_.at(loop_.now() + kTick, Callback::of<&Control::tick>(this));
}

/// On the thread that hears signals.
void Control::on_signal() {
    const Instant now = loop_.now();
    std::unique_lock lock(mutex_);
    // timeout(1) and some shells send each signal twice, to the process and to its group.
    if (interrupted_ && now - signalled_at_ < kSameSignal) return;
    const bool again = std::exchange(signalled_, true);
    signalled_at_ = now;
    interrupted_ = true;
    if (!again) reacted_at_ = now;
    if (working_) {
        loop_.post([this] { heard(); });
    } else if (again || timeout_ == Duration{}) {
        lock.unlock();
        leave();
    }
}

/// On the thread that hears signals, again and again after the first one.
void Control::watch_main() {
    {
        const std::lock_guard lock(mutex_);
        if (loop_.now() - reacted_at_ < (working_ ? kInterruptTimeout : timeout_)) return;
    }
    leave();
}

void Control::leave() {
    if (options_.leave) options_.leave();
}

void Control::set_working(bool working) {
    const std::lock_guard lock(mutex_);
    working_ = working;
    reacted_at_ = loop_.now();
}

void Control::note_reaction() {
    const std::lock_guard lock(mutex_);
    reacted_at_ = loop_.now();
}

}  // namespace streamsim::run
