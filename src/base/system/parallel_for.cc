#include "base/system/parallel_for.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

#include "base/system/thread_group.h"

namespace streamsim {
namespace {

constexpr std::size_t kThreadsMax = 8;

}  // namespace

void parallel_for(std::size_t count, const std::function<void(std::size_t)>& work) {
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
    const std::size_t wanted = std::min(count, kThreadsMax);
    // The threads that the system gives do all of the work.
    while (threads.size() + 1 < wanted && threads.add(run)) {
    }
    run();
    threads.join();
    if (thrown != nullptr) std::rethrow_exception(thrown);
}

}  // namespace streamsim
