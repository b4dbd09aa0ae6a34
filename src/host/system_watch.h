// Watches this computer while streams play, on a thread of its own, a few times a second.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/time.h"
#include "streamsim/system_history.h"

namespace streamsim::host {

/// File servers that this process, and those that it starts, speak to; their addresses as numbers.
struct ServersWatched {
    std::vector<std::string> addresses;
};

class ServerPath;

/// For how long this computer has been suspended since it was started: CLOCK_BOOTTIME less CLOCK_MONOTONIC.
std::int64_t suspended_since_start_ns();

class SystemWatch {
public:
    using SuspendClock = std::function<std::int64_t()>;

    /// Begins. Where `path` is served by a process in another network namespace (FUSE), the network is watched
    /// there, if that is allowed; else where this process is.
    explicit SystemWatch(std::string path, SuspendClock suspended_ns = suspended_since_start_ns);
    /// Begins; of the network only the connections with these servers and the interfaces toward them are looked
    /// at, where they are known.
    explicit SystemWatch(ServersWatched servers, SuspendClock suspended_ns = suspended_since_start_ns);
    ~SystemWatch();
    SystemWatch(const SystemWatch&) = delete;
    SystemWatch& operator=(const SystemWatch&) = delete;

    /// Goes on for `idle` more, ends, and gives what was seen; a day of it is thinned out, never more than some
    /// thousand samples.
    SystemHistory stop(Duration idle = {});

private:
    void watch();
    /// Waits for `interval` and samples the path meanwhile. True: the watch has to end.
    bool wait(std::chrono::milliseconds interval, ServerPath& path);

    const std::string path_;
    const std::vector<std::string> servers_;
    const SuspendClock suspended_ns_;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool stopping_ = false;  // protected by mutex_
    SystemHistory history_;  // of the thread, until it has ended
    std::thread thread_;
};

}  // namespace streamsim::host
