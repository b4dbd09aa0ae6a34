// Files of a file server by their whole names, nfs://host/export/dir/clip.mov: what a user has typed, and what
// every message and result calls them. Backends know them from the server's root on.
#pragma once

#include <memory>

#include "streamsim/byte_store.h"
#include "streamsim/storage.h"

namespace streamsim::storage {

/// "/export/clip.mov" of "nfs://host/export/clip.mov"; what does not begin with a scheme stays as it is.
const char* path_on_server(const char* name);

/// Take whole names, and give `inner` the paths on the server.
std::unique_ptr<Storage> by_whole_names(std::unique_ptr<Storage> inner);
std::unique_ptr<ByteStore> by_whole_names(std::unique_ptr<ByteStore> inner);

}  // namespace streamsim::storage
