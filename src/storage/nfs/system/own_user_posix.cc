#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "storage/nfs/system/own_user.h"

namespace streamsim::storage {

OwnUser own_user() {
    std::array<gid_t, 256> groups{};
    const int count = std::max(getgroups(static_cast<int>(groups.size()), groups.data()), 0);
    return {geteuid(), getegid(), {groups.begin(), groups.begin() + count}};
}

std::uint32_t own_umask() {
    static const mode_t mask = [] {
        const mode_t was = umask(0);
        umask(was);
        return was;
    }();
    return mask;
}

}  // namespace streamsim::storage
