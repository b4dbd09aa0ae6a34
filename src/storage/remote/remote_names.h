// Files of a file server by their whole names, nfs://host/export/dir/clip.mov, as a user types them and as
// every message and result shows them. Backends use paths from the server's root.
#pragma once

#include <memory>

#include "streamsim/byte_store.h"
#include "streamsim/storage.h"

namespace streamsim::storage {

/// "/export/clip.mov" of "nfs://host/export/clip.mov"; a name without a scheme is returned as it is.
const char* path_on_server(const char* name);

/// Take whole names, and pass paths on the server to `inner`.
std::unique_ptr<Storage> by_whole_names(std::unique_ptr<Storage> inner);
std::unique_ptr<ByteStore> by_whole_names(std::unique_ptr<ByteStore> inner);

}  // namespace streamsim::storage
