// The sessions of a server that the threads of a blocking byte store share: each thread has one for a turn.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/system/mutex.h"

namespace streamsim::storage {

class STREAMSIM_THREAD_ATTRIBUTE(capability("mutex")) TurnMutex {
public:
    void lock() STREAMSIM_THREAD_ATTRIBUTE(acquire_capability()) {
        ++turns_;
        mutex_.lock();
    }
    void unlock() STREAMSIM_THREAD_ATTRIBUTE(release_capability()) {
        --turns_;
        mutex_.unlock();
    }
    /// A thread has a turn, or waits for one.
    bool busy() const { return turns_ > 0; }

private:
    std::atomic<std::uint32_t> turns_{0};
    std::mutex mutex_;
};

/// The turn of a thread, from its construction to its end.
class STREAMSIM_THREAD_ATTRIBUTE(scoped_lockable) TurnLock {
public:
    explicit TurnLock(TurnMutex& mutex) STREAMSIM_THREAD_ATTRIBUTE(acquire_capability(mutex)) : mutex_(mutex) {
        mutex_.lock();
    }
    ~TurnLock() STREAMSIM_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }
    TurnLock(const TurnLock&) = delete;
    TurnLock& operator=(const TurnLock&) = delete;

private:
    TurnMutex& mutex_;
};

/// A single thread uses the first session only. Thread-safe.
template <typename Session>
class SessionPool {
public:
    SessionPool(std::size_t sessions_max, std::function<std::shared_ptr<Session>()> make)
        : sessions_max_(sessions_max), make_(std::move(make)) {}

    /// A session that no thread uses; one of the others, in turn, when `sessions_max` are in use.
    std::shared_ptr<Session> take() {
        const MutexLock lock(mutex_);
        for (const auto& session : all_) {
            if (!session->busy()) return session;
        }
        if (all_.size() == sessions_max_) return all_[next_++ % all_.size()];
        return all_.emplace_back(make_());
    }

private:
    const std::size_t sessions_max_;
    const std::function<std::shared_ptr<Session>()> make_;
    Mutex mutex_;
    std::vector<std::shared_ptr<Session>> all_ GUARDED_BY(mutex_);
    std::size_t next_ GUARDED_BY(mutex_) = 0;
};

}  // namespace streamsim::storage
