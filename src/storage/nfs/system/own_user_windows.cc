#include "storage/nfs/system/own_user.h"

namespace streamsim::storage {

/// Windows has no numbers of users: these are of nobody, as for libnfs and most servers.
OwnUser own_user() {
    constexpr std::uint32_t kNobody = 65534;
    return {kNobody, kNobody, {}};
}

std::uint32_t own_umask() {
    return 022;
}

}  // namespace streamsim::storage
