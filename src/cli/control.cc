#include "cli/control.h"

#include <csignal>
#include <memory>
#include <thread>

#include "base/check.h"

namespace streamsim {
namespace {

constexpr Duration kTick = milliseconds(100);

}  // namespace

Control::Control() {
    std::signal(SIGPIPE, SIG_IGN);
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
    work_ = &work;
    told_ = ended_ = false;
    loop_.hold();
    if (interrupted_) loop_.defer(Callback::of<&Control::heard>(this));
    loop_.at(loop_.now() + kTick, Callback::of<&Control::tick>(this));
    std::thread thread([this, &work] {
        work.run();
        loop_.post([this] {
            ended_ = true;
            loop_.stop();
        });
    });
    loop_.run();
    loop_.release();
    if (ended_) {
        thread.join();
    } else {
        thread.detach();
    }
    work_ = nullptr;
    return ended_;
}

void Control::heard() {
    interrupted_ = true;
    if (work_ == nullptr || told_) return;
    told_ = true;
    if (work_->on_interrupt) {
        work_->on_interrupt();
    } else {
        loop_.stop();
    }
}

void Control::tick() {
    if (work_ == nullptr || ended_) return;
    if (work_->on_tick) work_->on_tick();
    loop_.at(loop_.now() + kTick, Callback::of<&Control::tick>(this));
}

}  // namespace streamsim
