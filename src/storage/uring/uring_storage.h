// Local files by io_uring. uring_storage.cc opens with how it works.
#pragma once

#include <memory>

#include "base/result.h"
#include "storage/local/local_options.h"
#include "streamsim/event_loop.h"
#include "streamsim/storage.h"

struct uv_loop_s;  // libuv's uv_loop_t

namespace streamsim::storage {

/// A ring of its own for this loop. Made before the loop runs or on its thread; `uv` is the libuv loop under
/// `loop`, on which the ring's eventfd is polled. Paths are as for open(2). Both loops outlive the storage;
/// shutdown()'s callback ran before it is destroyed.
///
/// Errors: environment, when io_uring cannot be had here, with the reason.
Result<std::unique_ptr<Storage>> make_uring_storage(EventLoop& loop,
                                                    uv_loop_s* uv,
                                                    const LocalOptions& options);

}  // namespace streamsim::storage
