// Local files by libuv's thread pool. threads_storage.cc opens with how it works.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "storage/local/local_options.h"
#include "streamsim/event_loop.h"
#include "streamsim/storage.h"

struct uv_loop_s;  // libuv's uv_loop_t

namespace streamsim::storage {

/// Sizes libuv's pool, which the whole process shares: the sum of parallel_reads and parallel_opens over its
/// loops (libuv's own default is 4, its limit 1024), unless the user set UV_THREADPOOL_SIZE. Returns the size.
/// REQUIRES: no other thread runs yet, and nothing has used the pool.
std::uint32_t size_thread_pool(std::uint64_t threads);

/// Made before the loop runs or on its thread; `uv` is the libuv loop under `loop`. Paths are as for open(2).
/// Both loops outlive the storage; shutdown()'s callback ran before it is destroyed. Never fails today.
Result<std::unique_ptr<Storage>> make_threads_storage(EventLoop& loop,
                                                      uv_loop_s* uv,
                                                      const LocalOptions& options);

}  // namespace streamsim::storage
