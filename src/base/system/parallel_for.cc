#include "base/system/parallel_for.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "base/system/thread_group.h"

namespace streamsim {

std::size_t computing_threads() {
    return std::max(std::thread::hardware_concurrency(), 1U);
}

void parallel_for(std::size_t count, const std::function<void(std::size_t)>& work, std::size_t threads_max) {
    std::atomic<std::size_t> next{0};
    std::mutex mutex;  // guards `thrown`; GUARDED_BY takes no local
    std::exception_ptr thrown;
    const auto run = [&] {
        for (std::size_t i = next++; i < count; i = next++) {
            try {
                work(i);
            } catch (...) {
                const std::lock_guard lock(mutex);
                if (thrown == nullptr) thrown = std::current_exception();
                next = count;
            }
        }
    };
    ThreadGroup threads;
    const std::size_t wanted = std::min(count, threads_max);
    // The threads that the system gives do all of the work.
    while (threads.size() + 1 < wanted && threads.add(run)) {
    }
    run();
    threads.join();
    if (thrown != nullptr) std::rethrow_exception(thrown);
}

}  // namespace streamsim
