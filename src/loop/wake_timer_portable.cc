// A thread that sleeps until the time has come and then wakes the loop.
#include <uv.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/check.h"
#include "loop/wake_timer.h"

namespace streamsim::loop {

struct WakeTimer::Impl {
    void wait() {
        std::unique_lock lock(mutex);
        while (!ending) {
            const Instant now{static_cast<std::int64_t>(uv_hrtime())};
            if (due <= now) {
                due = Instant::never();
                uv_async_send(&wake);
            } else if (due == Instant::never()) {
                changed.wait(lock);
            } else {
                changed.wait_for(lock, std::chrono::nanoseconds((due - now).ns));
            }
        }
    }

    uv_async_t wake{};
    std::mutex mutex;
    std::condition_variable changed;
    Instant due = Instant::never();  // protected by mutex
    bool ending = false;             // protected by mutex
    std::thread thread;
};

WakeTimer::WakeTimer(uv_loop_t* loop) : impl_(new Impl) {
    impl_->wake.data = impl_;
    const int result = uv_async_init(loop, &impl_->wake, [](uv_async_t*) {});
    STREAMSIM_CHECK(result == 0, "libuv makes an async handle");
    impl_->thread = std::thread([impl = impl_] { impl->wait(); });
}

WakeTimer::~WakeTimer() {
    {
        const std::lock_guard lock(impl_->mutex);
        impl_->ending = true;
    }
    impl_->changed.notify_one();
    impl_->thread.join();
    uv_close(reinterpret_cast<uv_handle_t*>(&impl_->wake),
             [](uv_handle_t* handle) { delete static_cast<Impl*>(handle->data); });
}

void WakeTimer::set(Instant when) {
    {
        const std::lock_guard lock(impl_->mutex);
        impl_->due = when;
    }
    impl_->changed.notify_one();
}

}  // namespace streamsim::loop
