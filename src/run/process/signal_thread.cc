#include "run/process/signal_thread.h"

#include <csignal>
#include <system_error>
#include <utility>

#include "base/check.h"

namespace streamsim::run {
namespace {

constexpr std::uint64_t kTickMs = 50;

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
    const int numbers[] = {SIGINT, SIGTERM};
    for (int i = 0; i < 2; ++i) {
        signals_[i].data = this;
        must(uv_signal_init(&loop_, &signals_[i]));
        must(uv_signal_start(
            &signals_[i],
            [](uv_signal_t* handle, int) { static_cast<SignalThread*>(handle->data)->on_signal(); },
            numbers[i]));
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
        &timer_, [](uv_timer_t* timer) { static_cast<SignalThread*>(timer->data)->tick_(); }, kTickMs, kTickMs);
    heard_();
}

}  // namespace streamsim::run
