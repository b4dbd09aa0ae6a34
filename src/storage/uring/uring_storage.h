// Local files by io_uring. uring_storage.cc begins with how the backend works.
#pragma once

#include <memory>

#include "base/result.h"
#include "storage/local/local_options.h"
#include "streamsim/event_loop.h"
#include "streamsim/storage.h"

struct uv_loop_s;  // libuv's uv_loop_t

namespace streamsim::storage {

/// Makes a storage with a ring of its own, before the loop runs or on its thread; `uv` is the libuv loop under
/// `loop`, which polls the ring's eventfd. Paths are as for open(2). Both loops outlive the storage;
/// shutdown()'s callback ran before it is destroyed.
///
/// Errors: environment, with the reason why io_uring is not available.
Result<std::unique_ptr<Storage>> make_uring_storage(EventLoop& loop,
                                                    uv_loop_s* uv,
                                                    const LocalOptions& options);

}  // namespace streamsim::storage
