#include "run/process/control.h"

#include <algorithm>
#include <csignal>
#include <memory>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "run/process/end_signals.h"

namespace streamsim::run {
namespace {

constexpr Duration kTick = milliseconds(100);
/// Added to the timeout of work that is about to end, so that its result is not lost.
constexpr Duration kEndingTime = seconds(10);
/// Signals that come within this time are one.
constexpr Duration kSameSignal = milliseconds(250);

constexpr std::uint64_t kSignalTickMs = 50;

/// Throws where libuv fails: this computer lacks a resource.
void must(int result) {
    if (result != 0) throw std::system_error(-result, std::generic_category(), "signals cannot be heard");
}

template <typename Handle>
void close_handle(Handle& handle) {
    uv_close(reinterpret_cast<uv_handle_t*>(&handle), nullptr);
}

}  // namespace

SignalThread::SignalThread(std::function<void()> heard, std::function<void()> tick)
    : heard_(std::move(heard)), tick_(std::move(tick)) {
    must(uv_loop_init(&loop_));
    must(uv_timer_init(&loop_, &timer_));
    must(uv_async_init(&loop_, &end_, [](uv_async_t* end) { uv_stop(end->loop); }));
    timer_.data = this;
    for (const int number : end_signals()) {
        uv_signal_t& handle = signals_.emplace_back();
        handle.data = this;
        must(uv_signal_init(&loop_, &handle));
        must(uv_signal_start(
            &handle, [](uv_signal_t* raised, int) { static_cast<SignalThread*>(raised->data)->on_signal(); },
            number));
    }
    thread_ = std::thread([this] { uv_run(&loop_, UV_RUN_DEFAULT); });
}

SignalThread::~SignalThread() {
    uv_async_send(&end_);
    thread_.join();
    for (uv_signal_t& each : signals_) close_handle(each);
    close_handle(timer_);
    close_handle(end_);
    while (uv_run(&loop_, UV_RUN_NOWAIT) != 0) {
    }
    STREAMSIM_CHECK(uv_loop_close(&loop_) == 0, "every handle on the loop was closed");
}

void SignalThread::on_signal() {
    uv_timer_start(
        &timer_, [](uv_timer_t* timer) { static_cast<SignalThread*>(timer->data)->tick_(); }, kSignalTickMs,
        kSignalTickMs);
    heard_();
}

Control::Control(ControlOptions options)
    : options_(std::move(options)),
      timeout_(options_.timeout),
      signal_thread_([this] { on_signal(); }, [this] { watch_main(); }) {
#ifdef SIGPIPE  // not everywhere
    std::signal(SIGPIPE, SIG_IGN);
#endif
}

bool Control::run(Work work) {
    // An abandoned thread keeps its work alive.
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

void Control::saving(Duration timeout, Duration after_second) {
    const MutexLock lock(mutex_);
    timeout_ = timeout;
    after_second_ = after_second;
    reacted_at_ = loop_.now();
    if (over_at_ != Instant::never()) over_at_ = std::min(over_at_, reacted_at_ + after_second);
}

void Control::heard() {
    interrupted_ = true;
    note_reaction();
    if (work_ == nullptr) return;
    if (told_ || !work_->on_interrupt) {  // a second signal, or no way to end the work: abandon it
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

/// Runs on the signal thread.
void Control::on_signal() {
    const Instant now = loop_.now();
    MutexLock lock(mutex_);
    // timeout(1) and some shells send each signal twice, to the process and to its group.
    if (interrupted_ && now - signalled_at_ < kSameSignal) return;
    const bool again = std::exchange(signalled_, true);
    signalled_at_ = now;
    interrupted_ = true;
    if (!again) reacted_at_ = now;
    if (working_) {
        loop_.post([this] { heard(); });
    } else if (again && after_second_ != Duration{} && over_at_ == Instant::never()) {
        over_at_ = now + after_second_;
    } else if (again || timeout_ == Duration{}) {
        lock.unlock();
        leave();
    }
}

/// Runs on the signal thread, repeatedly after the first signal.
void Control::watch_main() {
    {
        const MutexLock lock(mutex_);
        const Instant now = loop_.now();
        if (now < over_at_ && now - reacted_at_ < (working_ ? kInterruptTimeout : timeout_)) return;
    }
    leave();
}

void Control::set_working(bool working) {
    const MutexLock lock(mutex_);
    working_ = working;
    reacted_at_ = loop_.now();
}

void Control::note_reaction() {
    const MutexLock lock(mutex_);
    reacted_at_ = loop_.now();
}

}  // namespace streamsim::run
