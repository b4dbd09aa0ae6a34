// A thread that does something again and again until it is stopped.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <thread>

#include "base/system/mutex.h"

namespace streamsim {

class RepeatingThread {
public:
    /// Returns the pause until it is called again.
    using Act = std::function<std::chrono::nanoseconds()>;

    RepeatingThread() = default;
    ~RepeatingThread() { stop(); }
    RepeatingThread(const RepeatingThread&) = delete;
    RepeatingThread& operator=(const RepeatingThread&) = delete;

    /// Calls `act` on a thread of its own, for the first time after `pause`. Stops another one first.
    void start(std::chrono::nanoseconds pause, Act act);
    /// Waits until the last call has returned; there is no further one.
    void stop();

private:
    void run(std::chrono::nanoseconds pause, const Act& act);

    Mutex mutex_;
    std::condition_variable wake_;
    bool ending_ GUARDED_BY(mutex_) = false;
    std::thread thread_;
};

}  // namespace streamsim
