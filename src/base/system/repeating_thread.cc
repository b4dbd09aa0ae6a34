#include "base/system/repeating_thread.h"

#include <utility>

namespace streamsim {

void RepeatingThread::start(std::chrono::nanoseconds pause, Act act) {
    stop();
    thread_ = std::thread([this, pause, act = std::move(act)] { run(pause, act); });
}

void RepeatingThread::stop() {
    if (!thread_.joinable()) return;
    {
        const MutexLock lock(mutex_);
        ending_ = true;
    }
    wake_.notify_all();
    thread_.join();
    const MutexLock lock(mutex_);
    ending_ = false;
}

void RepeatingThread::run(std::chrono::nanoseconds pause, const Act& act) {
    MutexLock lock(mutex_);
    while (!ending_) {
        if (lock.wait_for(wake_, pause) || ending_) continue;
        lock.unlock();
        pause = act();
        lock.lock();
    }
}

}  // namespace streamsim
