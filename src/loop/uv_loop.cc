#include "loop/uv_loop.h"

#include <algorithm>
#include <functional>
#include <system_error>
#include <utility>

namespace streamsim::loop {
namespace {

void must(int result, const char* why) {
    STREAMSIM_CHECK(result == 0, why);
}

/// The system may refuse descriptors and memory.
void must_get(int result) {
    if (result != 0) throw std::system_error(-result, std::generic_category(), "an event loop cannot be made");
}

}  // namespace

UvLoop::UvLoop() {
    must_get(uv_loop_init(&loop_));
    must_get(uv_async_init(&loop_, &wake_, [](uv_async_t*) {}));
    must(uv_check_init(&loop_, &check_), "libuv makes a check handle");
    must(uv_idle_init(&loop_, &busy_), "libuv makes an idle handle");
    wake_timer_.emplace(&loop_);
    check_.data = this;
    // The turn runs after libuv has polled every descriptor, so that their callbacks have nothing to do.
    must(uv_check_start(&check_, [](uv_check_t* handle) { static_cast<UvLoop*>(handle->data)->turn(); }),
         "libuv starts a check handle");
    alive_ = now();
}

UvLoop::~UvLoop() {
    wake_timer_.reset();
    for (uv_handle_t* handle : {reinterpret_cast<uv_handle_t*>(&wake_), reinterpret_cast<uv_handle_t*>(&check_),
                                reinterpret_cast<uv_handle_t*>(&busy_)}) {
        uv_close(handle, nullptr);
    }
    while (uv_run(&loop_, UV_RUN_NOWAIT) != 0) {
    }
    must(uv_loop_close(&loop_), "every handle on the loop was closed");
}

void UvLoop::post(std::function<void()> function) {
    LoopBase::post(std::move(function));
    uv_async_send(&wake_);
}

StopReason UvLoop::run() {
    stopping_ = false;
    alive_ = now();
    heartbeat_ = timers_.set(alive_ + kHeartbeat, Callback::of<&UvLoop::beat>(this));
    // A waiter is woken by the handles that libuv has polled before: the first turn does not wait. A handle of
    // a later turn is polled at the next heartbeat at the latest.
    for (bool polled = false; !stopping_ && !idle(); polled = true) {
        prepare_to_wait();
        const bool wait = polled && uv_backend_timeout(&loop_) != 0;
        if (waiter_ == nullptr) {
            uv_run(&loop_, UV_RUN_ONCE);
        } else if (waiter_->end_turn(wait) || !wait) {
            uv_run(&loop_, UV_RUN_NOWAIT);
        } else {
            turn();
        }
    }
    timers_.cancel(heartbeat_);
    return stopping_ ? StopReason::stopped : StopReason::idle;
}

Duration UvLoop::stalled_within(Instant from, Instant to) const {
    Duration sum;
    const std::uint64_t oldest = stall_count_ > stalls_.size() ? stall_count_ - stalls_.size() : 0;
    for (std::uint64_t i = stall_count_; i > oldest; --i) {
        const Stall& stall = stalls_[(i - 1) % stalls_.size()];
        if (stall.to <= from) break;
        const Instant begin = std::max(stall.from, from);
        const Instant end = std::min(stall.to, to);
        if (begin < end) sum += end - begin;
    }
    return sum;
}

LoopLateness UvLoop::lateness() const {
    return {lateness_.at_permille(500),
            lateness_.at_permille(990),
            lateness_.max(),
            lateness_.count(),
            stall_count_,
            stalled_.ns};
}

void UvLoop::turn() {
    const Instant begin = now();
    if (!timers_.empty()) note_stall(timers_.next(), begin);
    reap();
    run_timers();
    run_calls();
    alive_ = now();
}

void UvLoop::run_timers() {
    const std::uint64_t order = timers_.order();
    for (;;) {
        const Instant at = now();
        if (!timers_.due(at, order)) return;
        Instant when;
        const Callback callback = timers_.pop(when);
        lateness_.add((at - when).ns);
        note_stall(when, at);
        in_timer_ = true;
        callback();
        in_timer_ = false;
        for (const Callback each : behind_timer_) each();
        behind_timer_.clear();
    }
}

void UvLoop::defer_first(Callback callback) {
    if (!in_timer_) return defer(callback);
    behind_timer_.push_back(callback);
}

void UvLoop::note_stall(Instant due, Instant now) {
    if (now - due < kStallThreshold) return;
    Stall& last = stalls_[(stall_count_ - 1) % stalls_.size()];
    const Stall stall{std::max(std::min(alive_, due), stall_count_ == 0 ? Instant{} : last.to), now};
    if (stall.from >= stall.to) return;
    stalled_ += stall.to - stall.from;
    if (stall_count_ > 0 && stall.from == last.to) {  // of many timers that are due at once, each is later
        last.to = stall.to;
        return;
    }
    stalls_[stall_count_ % stalls_.size()] = stall;
    ++stall_count_;
}

void UvLoop::beat() {
    heartbeat_ = timers_.set(now() + kHeartbeat, Callback::of<&UvLoop::beat>(this));
}

void UvLoop::prepare_to_wait() {
    if (!deferred_.empty()) {
        uv_idle_start(&busy_, [](uv_idle_t*) {});
        return;
    }
    uv_idle_stop(&busy_);
    const Instant next = timers_.next();
    if (next == armed_ && next > now()) return;
    wake_timer_->set(next);
    armed_ = next;
}

bool UvLoop::idle() const {
    const std::size_t own = 1;  // the heartbeat
    return timers_.size() == own && held_ == 0 && !has_calls();
}

}  // namespace streamsim::loop
