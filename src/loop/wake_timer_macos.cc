// A timer in a kqueue of its own, which libuv polls. NOTE_CRITICAL: the system does not move it together with
// other timers.
#include <sys/event.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/check.h"
#include "loop/wake_timer.h"

namespace streamsim::loop {

struct WakeTimer::Impl {
    /// Takes the expiry, so that the kqueue is not ready any more. The turn runs after libuv has polled every
    /// descriptor: nothing else is to be done.
    static void take_expiry(uv_poll_t* poll, int, int) {
        constexpr timespec kAtOnce{};
        struct kevent event {};
        kevent(static_cast<Impl*>(poll->data)->queue, nullptr, 0, &event, 1, &kAtOnce);
    }

    uv_poll_t poll{};
    int queue = -1;
};

WakeTimer::WakeTimer(uv_loop_t* loop) : impl_(new Impl) {
    impl_->queue = kqueue();
    if (impl_->queue < 0) throw std::system_error(errno, std::generic_category(), "a timer cannot be made");
    impl_->poll.data = impl_;
    int result = uv_poll_init(loop, &impl_->poll, impl_->queue);
    if (result == 0) result = uv_poll_start(&impl_->poll, UV_READABLE, Impl::take_expiry);
    if (result != 0) throw std::system_error(-result, std::generic_category(), "a timer cannot be waited for");
}

WakeTimer::~WakeTimer() {
    uv_poll_stop(&impl_->poll);
    uv_close(reinterpret_cast<uv_handle_t*>(&impl_->poll), [](uv_handle_t* handle) {
        auto* const impl = static_cast<Impl*>(handle->data);
        close(impl->queue);
        delete impl;
    });
}

void WakeTimer::set(Instant when) {
    struct kevent change {};
    change.filter = EVFILT_TIMER;
    if (when == Instant::never()) {
        change.flags = EV_DELETE;
        kevent(impl_->queue, &change, 1, nullptr, 0, nullptr);  // refused when no timer is set
        return;
    }
    // From now on, since libuv's clock is not that of NOTE_ABSOLUTE; also while the computer sleeps.
    change.flags = EV_ADD | EV_ONESHOT;
    change.fflags = NOTE_NSECONDS | NOTE_CRITICAL | NOTE_MACH_CONTINUOUS_TIME;
    change.data = std::max<std::int64_t>(when.ns - static_cast<std::int64_t>(uv_hrtime()), 1);
    STREAMSIM_CHECK(kevent(impl_->queue, &change, 1, nullptr, 0, nullptr) == 0, "a kqueue takes a timer");
}

}  // namespace streamsim::loop
