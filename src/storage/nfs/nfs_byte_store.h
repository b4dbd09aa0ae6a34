// The blocking side of NFS.
#pragma once

#include <memory>
#include <string>

#include "streamsim/byte_store.h"
#include "streamsim/remote_place.h"

namespace streamsim::storage {

/// `directory`: as make_nfs_storage. Connects when it is first used; errors come then.
std::unique_ptr<ByteStore> make_nfs_byte_store(const RemotePlace& place, const std::string& directory);

}  // namespace streamsim::storage
