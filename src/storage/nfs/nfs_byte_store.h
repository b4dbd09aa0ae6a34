// Files of an NFS server by blocking calls, outside of playback.
#pragma once

#include <memory>
#include <string>

#include "streamsim/byte_store.h"
#include "streamsim/remote_place.h"

namespace streamsim::storage {

/// `directory`: as for make_nfs_storage(). The first use connects, and returns the error if that fails.
std::unique_ptr<ByteStore> make_nfs_byte_store(const RemotePlace& place, const std::string& directory);

}  // namespace streamsim::storage
