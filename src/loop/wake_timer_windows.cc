// A waitable timer of high resolution (Windows 10 from 1803 on; earlier ones tick once in 0.5 to 15 ms). A
// thread of the system's waits for it and wakes the loop.
#include <uv.h>
#include <windows.h>

#include <algorithm>

#include "base/check.h"
#include "loop/wake_timer.h"

#ifndef CREATE_WAITABLE_TIMER_HIGH_RESOLUTION
#define CREATE_WAITABLE_TIMER_HIGH_RESOLUTION 0x00000002
#endif

namespace streamsim::loop {

struct WakeTimer::Impl {
    uv_async_t wake{};
    HANDLE timer = nullptr;
    HANDLE wait = nullptr;
};

WakeTimer::WakeTimer(uv_loop_t* loop) : impl_(new Impl) {
    impl_->wake.data = impl_;
    const int result = uv_async_init(loop, &impl_->wake, [](uv_async_t*) {});
    STREAMSIM_CHECK(result == 0, "libuv makes an async handle");
    impl_->timer =
        CreateWaitableTimerExW(nullptr, nullptr, CREATE_WAITABLE_TIMER_HIGH_RESOLUTION, TIMER_ALL_ACCESS);
    if (impl_->timer == nullptr) impl_->timer = CreateWaitableTimerExW(nullptr, nullptr, 0, TIMER_ALL_ACCESS);
    STREAMSIM_CHECK(impl_->timer != nullptr, "the system gives a waitable timer");
    const auto wake = [](void* handle, BOOLEAN) { uv_async_send(static_cast<uv_async_t*>(handle)); };
    const bool waited = RegisterWaitForSingleObject(&impl_->wait, impl_->timer, wake, &impl_->wake, INFINITE,
                                                    WT_EXECUTEINWAITTHREAD) != 0;
    STREAMSIM_CHECK(waited, "the system waits for a timer");
}

WakeTimer::~WakeTimer() {
    UnregisterWaitEx(impl_->wait, INVALID_HANDLE_VALUE);  // returns when no callback runs any more
    CloseHandle(impl_->timer);
    uv_close(reinterpret_cast<uv_handle_t*>(&impl_->wake),
             [](uv_handle_t* handle) { delete static_cast<Impl*>(handle->data); });
}

void WakeTimer::set(Instant when) {
    if (when == Instant::never()) {
        CancelWaitableTimer(impl_->timer);
        return;
    }
    const std::int64_t left_ns = when.ns - static_cast<std::int64_t>(uv_hrtime());
    LARGE_INTEGER due;
    due.QuadPart = -std::max<std::int64_t>((left_ns + 99) / 100, 1);  // negative: from now on
    SetWaitableTimer(impl_->timer, &due, 0, nullptr, nullptr, FALSE);
}

}  // namespace streamsim::loop
