#include "base/system/parallel_for.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace streamsim {
namespace {

constexpr std::size_t kThreadsMax = 8;

}  // namespace

void parallel_for(std::size_t count, const std::function<void(std::size_t)>& work) {
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
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
    std::vector<std::thread> threads;
    const std::size_t wanted = std::min(count, kThreadsMax);
    threads.reserve(wanted);
    try {
        while (threads.size() + 1 < wanted) threads.emplace_back(run);
    } catch (const std::system_error&) {
        // The system gives no more threads: the ones already running do all of the work.
    }
    run();
    for (std::thread& thread : threads) thread.join();
    if (thrown != nullptr) std::rethrow_exception(thrown);
}

}  // namespace streamsim
