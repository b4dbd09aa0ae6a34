// A timerfd that libuv polls.
#include <sys/timerfd.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/check.h"
#include "loop/wake_timer.h"

namespace streamsim::loop {

struct WakeTimer::Impl {
    uv_poll_t poll{};
    int fd = -1;
};

WakeTimer::WakeTimer(uv_loop_t* loop) : impl_(new Impl) {
    impl_->fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (impl_->fd < 0) throw std::system_error(errno, std::generic_category(), "a timer cannot be made");
    impl_->poll.data = impl_;
    // The turn runs after libuv has polled every descriptor, so that the callback has nothing to do.
    int result = uv_poll_init(loop, &impl_->poll, impl_->fd);
    if (result == 0) result = uv_poll_start(&impl_->poll, UV_READABLE, [](uv_poll_t*, int, int) {});
    if (result != 0) throw std::system_error(-result, std::generic_category(), "a timer cannot be waited for");
}

WakeTimer::~WakeTimer() {
    uv_poll_stop(&impl_->poll);
    uv_close(reinterpret_cast<uv_handle_t*>(&impl_->poll), [](uv_handle_t* handle) {
        auto* const impl = static_cast<Impl*>(handle->data);
        close(impl->fd);
        delete impl;
    });
}

void WakeTimer::set(Instant when) {
    // Setting the timer also discards an expiry that was not read.
    itimerspec spec{};
    const std::int64_t ns = std::max<std::int64_t>(when.ns, 1);  // 0 would disarm it
    spec.it_value.tv_sec = ns / 1'000'000'000;
    spec.it_value.tv_nsec = ns % 1'000'000'000;
    STREAMSIM_CHECK(timerfd_settime(impl_->fd, TFD_TIMER_ABSTIME, &spec, nullptr) == 0,
                    "a timerfd takes a time");
}

}  // namespace streamsim::loop
