// The user of this process, as NFS servers see them.
#pragma once

#include <cstdint>
#include <vector>

namespace streamsim::storage {

struct OwnUser {
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    std::vector<std::uint32_t> groups;
};

OwnUser own_user();

/// The bits that new files do not get, as they were at the first call.
std::uint32_t own_umask();

}  // namespace streamsim::storage
