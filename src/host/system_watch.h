// Watches this computer while streams play, on a thread of its own, a few times a second.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/system/mutex.h"
#include "base/time.h"
#include "streamsim/system_history.h"

namespace streamsim::host {

class SystemSampler;

/// The time for which this computer has been suspended since its start: on Linux, CLOCK_BOOTTIME less
/// CLOCK_MONOTONIC.
std::int64_t suspended_since_start_ns();

class SystemWatch {
public:
    using SuspendClock = std::function<std::int64_t()>;

    /// Begins. A `path` that a process in another network namespace serves (FUSE) has the network watched
    /// there, if this process may do so; else in its own namespace. `servers`: file servers of this process and
    /// of those that it starts, addresses as numbers; only the connections with them and the interfaces toward
    /// them are watched. Empty: the server of the share (NFS, SMB) that `path` is on; all where it is on none.
    explicit SystemWatch(std::string path,
                         std::vector<std::string> servers = {},
                         SuspendClock suspended_ns = suspended_since_start_ns);
    ~SystemWatch();
    SystemWatch(const SystemWatch&) = delete;
    SystemWatch& operator=(const SystemWatch&) = delete;

    /// Goes on for `idle`, ends, and returns the samples; a long history is thinned out to some thousand
    /// samples.
    SystemHistory stop(Duration idle = {});

private:
    void watch();
    /// Waits for `interval` and looks at the network path meanwhile. True: the watch has to end.
    bool wait(std::chrono::milliseconds interval, SystemSampler& sampler);

    const std::string path_;
    const std::vector<std::string> servers_;
    const SuspendClock suspended_ns_;
    Mutex mutex_;
    std::condition_variable wake_;
    bool stopping_ GUARDED_BY(mutex_) = false;
    SystemHistory history_;  // the thread's own until it has ended
    std::thread thread_;
};

}  // namespace streamsim::host
