// How a file is opened by open(2) and by io_uring. Linux only.
#pragma once

#include <fcntl.h>

#include "streamsim/storage.h"

namespace streamsim::storage {

constexpr mode_t kNewFileMode = 0666;       // without what the umask takes away
constexpr mode_t kNewDirectoryMode = 0777;  // the same

inline int open_flags(Access access, bool direct) {
    int flags = O_CLOEXEC | (direct ? O_DIRECT : 0);
    switch (access) {
        case Access::read: return flags | O_RDONLY;
        case Access::write: return flags | O_RDWR;
        case Access::create: return flags | O_RDWR | O_CREAT;
        case Access::create_new: return flags | O_RDWR | O_CREAT | O_EXCL;
    }
    return flags;
}

}  // namespace streamsim::storage
