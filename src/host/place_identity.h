// Which directory or file a path names: another one may come to have the name, or none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace streamsim::host {

struct PlaceIdentity {
    std::uint64_t device = 0, inode = 0;
    std::uint64_t mount = 0;        // of this mount namespace; 0: the system does not say
    bool has_block_device = false;  // the device that the system lists under the number `device`

    bool operator==(const PlaceIdentity&) const = default;
};

struct PlaceAnswer {
    std::optional<PlaceIdentity> identity;
    int error = 0;  // errno, where there is none
};

/// Links are followed. May block for as long as the file system does.
PlaceAnswer place_identity_of(const std::string& path);

}  // namespace streamsim::host
