// The identity of the directory or file that a path names, which a later one of the same name does not have.
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
    int error = 0;  // errno: the path names none
};

/// Follows links. May block for as long as the file system does.
PlaceAnswer place_identity_of(const std::string& path);

}  // namespace streamsim::host
