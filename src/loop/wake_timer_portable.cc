// A thread that sleeps until the time has come and then wakes the loop.
#include <uv.h>

#include <chrono>
#include <condition_variable>
#include <thread>

#include "base/check.h"
#include "base/system/mutex.h"
#include "loop/wake_timer.h"

namespace streamsim::loop {

struct WakeTimer::Impl {
    void wait() {
        MutexLock lock(mutex);
        while (!ending) {
            const Instant now{static_cast<std::int64_t>(uv_hrtime())};
            if (due <= now) {
                due = Instant::never();
                uv_async_send(&wake);
            } else if (due == Instant::never()) {
                lock.wait(changed);
            } else {
                lock.wait_for(changed, std::chrono::nanoseconds((due - now).ns));
            }
        }
    }

    uv_async_t wake{};
    Mutex mutex;
    std::condition_variable changed;
    Instant due GUARDED_BY(mutex) = Instant::never();
    bool ending GUARDED_BY(mutex) = false;
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
        const MutexLock lock(impl_->mutex);
        impl_->ending = true;
    }
    impl_->changed.notify_one();
    impl_->thread.join();
    uv_close(reinterpret_cast<uv_handle_t*>(&impl_->wake),
             [](uv_handle_t* handle) { delete static_cast<Impl*>(handle->data); });
}

void WakeTimer::set(Instant when) {
    {
        const MutexLock lock(impl_->mutex);
        impl_->due = when;
    }
    impl_->changed.notify_one();
}

}  // namespace streamsim::loop
