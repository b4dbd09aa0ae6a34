// This process as the owner of a lock on a media set.
#pragma once

#include <string>
#include <vector>

#include "media/write/media_lock.h"

namespace streamsim::run {

/// This process, which was started with `command` and asks for a lock now.
media::LockOwner this_lock_owner(const std::vector<std::string>& command);

/// Whether a process of this computer's is gone. False for those of others, and where it cannot be known.
bool lock_owner_is_gone(const media::LockOwner& owner);

}  // namespace streamsim::run
