#include "run/playback/io_threads.h"

#include <fmt/format.h>

#include <algorithm>

#include "storage/threads/threads_storage.h"

namespace streamsim::run {
namespace {

/// Threads for closing files and for hints, and the most that libuv makes.
constexpr std::uint64_t kPoolThreadsSpare = 4;
constexpr std::uint64_t kPoolThreadsMax = 1024;

}  // namespace

void reserve_io_threads(const PlayRequest& request, std::uint64_t streams) {
    if (request.target.kind != target::Target::Kind::local) return;
    const std::uint64_t frames = streams * std::min(request.inflight, request.readahead);
    storage::size_thread_pool(std::min(frames * (request.io_depth + 1) + kPoolThreadsSpare, kPoolThreadsMax));
}

void size_io_threads(const PlayRequest& request, std::uint64_t operations, const NoticeSink& notice) {
    if (request.target.kind != target::Target::Kind::local) return;
    const std::uint64_t threads = operations + kPoolThreadsSpare;
    const std::uint32_t had = storage::size_thread_pool(threads);
    if (had >= std::min(threads, kPoolThreadsMax) || request.io != IoChoice::threads) return;
    notice(
        fmt::format("the thread pool has {} threads (UV_THREADPOOL_SIZE) and this load needs {}: reads will "
                    "wait for each other on this computer",
                    had, threads));
}

}  // namespace streamsim::run
