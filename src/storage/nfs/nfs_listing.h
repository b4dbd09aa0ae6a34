// The entries of a directory with their attributes, for the byte store.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/nfs/nfs_session.h"
#include "streamsim/byte_store.h"

namespace streamsim::storage {

struct NfsListed {
    std::string name;
    std::optional<FileInfo> info;  // none: the server did not say
};

/// Without "." and "..", in the server's order. Returns zero or an errno.
int list_directory(NfsSession::Turn& turn, const std::string& path, std::vector<NfsListed>& entries);

}  // namespace streamsim::storage
