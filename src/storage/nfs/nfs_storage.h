// Files of a server by NFS, spoken on the loop. nfs_storage.cc opens with how it works.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "storage/remote/remote_options.h"
#include "streamsim/event_loop.h"
#include "streamsim/storage.h"

struct uv_loop_s;  // libuv's uv_loop_t

namespace streamsim::storage {

/// False: there was no libnfs, and what is made below fails and says so.
bool nfs_is_built_in();

/// Made before the loop runs or on its thread; `uv` is the libuv loop under `loop`. Paths are as Target::path,
/// from the server's root; `directory` is one of them that is there, or its file. Connects (that blocks, for
/// RemotePlace::timeout at most). Both loops outlive the storage; shutdown()'s callback ran before it is
/// destroyed.
///
/// Errors: environment, naming host, share and reason.
Result<std::unique_ptr<Storage>> make_nfs_storage(EventLoop& loop,
                                                  uv_loop_s* uv,
                                                  const RemotePlace& place,
                                                  const std::string& directory,
                                                  const RemoteOptions& options);

}  // namespace streamsim::storage
