// Threads that are always joined. Running out of threads is an expected condition, not a bug.
#pragma once

#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace streamsim {

class ThreadGroup {
public:
    ThreadGroup() = default;
    ~ThreadGroup() { join(); }
    ThreadGroup(const ThreadGroup&) = delete;
    ThreadGroup& operator=(const ThreadGroup&) = delete;

    /// False: the system gives no further thread, and `function` is not run.
    template <typename Function>
    bool add(Function function) {
        threads_.reserve(threads_.size() + 1);
        try {
            threads_.emplace_back(std::move(function));
        } catch (const std::system_error&) {
            return false;
        }
        return true;
    }
    std::size_t size() const { return threads_.size(); }

    void join() {
        for (std::thread& thread : threads_) thread.join();
        threads_.clear();
    }

private:
    std::vector<std::thread> threads_;
};

}  // namespace streamsim
