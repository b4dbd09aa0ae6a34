// A mutex whose use clang checks: a member that is declared GUARDED_BY(mutex_) is only read and written where
// mutex_ is held, else the build fails (-Wthread-safety). Other compilers see a std::mutex.
#pragma once

#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define STREAMSIM_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define STREAMSIM_THREAD_ATTRIBUTE(x)
#endif

/// On a member: it is only used while the mutex is held.
#define GUARDED_BY(mutex) STREAMSIM_THREAD_ATTRIBUTE(guarded_by(mutex))
/// On a function: its caller holds the mutex.
#define REQUIRES(mutex) STREAMSIM_THREAD_ATTRIBUTE(requires_capability(mutex))
/// On a function: its caller does not hold the mutex, which the function takes.
#define EXCLUDES(mutex) STREAMSIM_THREAD_ATTRIBUTE(locks_excluded(mutex))

namespace streamsim {

class STREAMSIM_THREAD_ATTRIBUTE(capability("mutex")) Mutex {
public:
    void lock() STREAMSIM_THREAD_ATTRIBUTE(acquire_capability()) { mutex_.lock(); }
    void unlock() STREAMSIM_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }

private:
    friend class MutexLock;
    std::mutex mutex_;
};

/// Holds a mutex from its construction to its end, but for the time of wait() and between unlock() and lock().
class STREAMSIM_THREAD_ATTRIBUTE(scoped_lockable) MutexLock {
public:
    explicit MutexLock(Mutex& mutex) STREAMSIM_THREAD_ATTRIBUTE(acquire_capability(mutex))
        : lock_(mutex.mutex_) {}
    ~MutexLock() STREAMSIM_THREAD_ATTRIBUTE(release_capability()) {}
    MutexLock(const MutexLock&) = delete;
    MutexLock& operator=(const MutexLock&) = delete;

    void lock() STREAMSIM_THREAD_ATTRIBUTE(acquire_capability()) { lock_.lock(); }
    void unlock() STREAMSIM_THREAD_ATTRIBUTE(release_capability()) { lock_.unlock(); }

    /// Waits for one notification; like every wait, it may end without one: the caller loops on what it waits
    /// for.
    void wait(std::condition_variable& condition) { condition.wait(lock_); }
    /// As wait(), for at most `longest`. False: that time has passed.
    template <typename Time>
    bool wait_for(std::condition_variable& condition, Time longest) {
        return condition.wait_for(lock_, longest) == std::cv_status::no_timeout;
    }

private:
    std::unique_lock<std::mutex> lock_;
};

}  // namespace streamsim
