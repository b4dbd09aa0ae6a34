// The blocking side of SMB.
#pragma once

#include <memory>
#include <string>

#include "streamsim/byte_store.h"
#include "streamsim/remote_place.h"

namespace streamsim::storage {

/// `directory`: as make_smb_storage. Connects when it is first used; errors come then.
std::unique_ptr<ByteStore> make_smb_byte_store(const RemotePlace& place,
                                               const std::string& directory,
                                               const Credentials& credentials);

}  // namespace streamsim::storage
