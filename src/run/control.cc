#include "run/control.h"

#include <csignal>
#include <exception>
#include <memory>
#include <thread>

#include "base/check.h"

namespace streamsim {
namespace {

constexpr Duration kTick = milliseconds(100);

}  // namespace

Control::Control() {
#ifdef SIGPIPE  // not everywhere
    std::signal(SIGPIPE, SIG_IGN);
#endif
    const int numbers[] = {SIGINT, SIGTERM};
    for (int i = 0; i < 2; ++i) {
        signals_[i].data = this;
        STREAMSIM_CHECK(uv_signal_init(loop_.uv(), &signals_[i]) == 0, "libuv makes a signal handle");
        uv_signal_start(
            &signals_[i], [](uv_signal_t* handle, int) { static_cast<Control*>(handle->data)->heard(); },
            numbers[i]);
        uv_unref(reinterpret_cast<uv_handle_t*>(&signals_[i]));
    }
}

Control::~Control() {
    for (uv_signal_t& each : signals_) uv_close(reinterpret_cast<uv_handle_t*>(&each), nullptr);
}

bool Control::run(Work work) {
    // The thread keeps its work alive where it is left behind.
    auto shared = std::make_shared<Work>(std::move(work));
    auto failure = std::make_shared<std::exception_ptr>();
    work_ = shared.get();
    told_ = ended_ = false;
    leave_at_ = Instant::never();
    loop_.hold();
    if (interrupted_) loop_.defer(Callback::of<&Control::heard>(this));
    loop_.at(loop_.now() + kTick, Callback::of<&Control::tick>(this));
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
    work_ = nullptr;
    if (!ended_) {
        thread.detach();
        return false;
    }
    thread.join();
    if (*failure) std::rethrow_exception(*failure);
    return true;
}

void Control::heard() {
    interrupted_ = true;
    if (work_ == nullptr) return;
    if (told_ || !work_->on_interrupt) {  // asked twice, or nothing to ask: the work is left behind
        loop_.stop();
    } else {
        work_->on_interrupt();
        if (work_->patience) leave_at_ = loop_.now() + *work_->patience;
    }
    told_ = true;
}

void Control::tick() {
    if (work_ == nullptr || ended_) return;
    if (loop_.now() >= leave_at_) return loop_.stop();
    if (work_->on_tick) work_->on_tick();
    loop_.at(loop_.now() + kTick, Callback::of<&Control::tick>(this));
}

}  // namespace streamsim
