// Files of an SMB server by blocking calls, outside of playback.
#pragma once

#include <memory>
#include <string>

#include "streamsim/byte_store.h"
#include "streamsim/remote_place.h"

namespace streamsim::storage {

/// `directory`: as for make_smb_storage(). The first use connects, and returns the error if that fails.
std::unique_ptr<ByteStore> make_smb_byte_store(const RemotePlace& place,
                                               const std::string& directory,
                                               const Credentials& credentials);

}  // namespace streamsim::storage
