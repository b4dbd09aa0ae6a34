// The functions that make the storage backends, and those backends that this streamsim was built with.
//
// A storage is made before its loop runs or on the loop's thread; `uv` is the libuv loop under `loop`. Both
// loops outlive the storage; shutdown()'s callback ran before it is destroyed. Each backend's .cc file begins
// with how the backend works. Errors: environment, with the reason why a backend is not available.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "storage/remote/remote_options.h"
#include "streamsim/byte_store.h"
#include "streamsim/event_loop.h"
#include "streamsim/storage.h"

struct uv_loop_s;  // libuv's uv_loop_t

namespace streamsim::storage {

struct LocalOptions;

/// A subset of "uring", "iocp", "threads", "nfs" and "smb", the best for local files first. The functions that
/// make the others return an error.
std::vector<std::string> storage_compiled_in();
bool iocp_is_built_in();
bool nfs_is_built_in();
bool smb_is_built_in();

// ---- local files: paths are as for open(2)

/// By io_uring, with a ring of its own, in which the loop waits.
Result<std::unique_ptr<Storage>> make_uring_storage(EventLoop& loop,
                                                    uv_loop_s* uv,
                                                    const LocalOptions& options);
/// The system lets this process have a ring.
bool uring_is_available();

/// By overlapped reads and a completion port of its own; by libuv's thread pool what Windows would do inside
/// the call.
Result<std::unique_ptr<Storage>> make_iocp_storage(EventLoop& loop, uv_loop_s* uv, const LocalOptions& options);

/// By libuv's thread pool. Never fails today.
Result<std::unique_ptr<Storage>> make_threads_storage(EventLoop& loop,
                                                      uv_loop_s* uv,
                                                      const LocalOptions& options);

/// Sizes libuv's pool, which the whole process shares, unless the user has set UV_THREADPOOL_SIZE. `threads` is
/// the sum of parallel_reads and parallel_opens over all loops (libuv's default is 4, its limit 1024).
/// `better`: threads that it has where the system gives them all. Returns the size. REQUIRES: no other thread
/// runs yet, and nothing has used the pool.
std::uint32_t size_thread_pool(std::uint64_t threads, std::uint64_t better = 0);

// ---- files of a server: `directory` is the path of an existing directory or file, from the server's root

/// Paths are from the server's root, or whole names (remote_names.h). Connects: blocks for RemotePlace::timeout
/// at most. Errors name host, share and reason.
Result<std::unique_ptr<Storage>> make_nfs_storage(EventLoop& loop,
                                                  uv_loop_s* uv,
                                                  const RemotePlace& place,
                                                  const std::string& directory,
                                                  const RemoteOptions& options);
Result<std::unique_ptr<Storage>> make_smb_storage(EventLoop& loop,
                                                  uv_loop_s* uv,
                                                  const RemotePlace& place,
                                                  const std::string& directory,
                                                  const RemoteOptions& options);

/// By blocking calls, outside of playback. Paths are from the server's root. The first use connects, and
/// returns the error if that fails.
std::unique_ptr<ByteStore> make_nfs_byte_store(const RemotePlace& place, const std::string& directory);
std::unique_ptr<ByteStore> make_smb_byte_store(const RemotePlace& place,
                                               const std::string& directory,
                                               const Credentials& credentials);

}  // namespace streamsim::storage
