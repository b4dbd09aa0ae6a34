// This process: the file of its program, and the process as the owner of a lock on a media set.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "media/write/media_lock.h"

namespace streamsim::run {

/// The path of the running program, with symbolic links resolved where the system does that; empty: not known.
std::filesystem::path program_path();

/// This process, started with `command`, as the owner of a lock from now on.
media::LockOwner this_lock_owner(const std::vector<std::string>& command);

/// True: the owner was a process of this computer and has ended. False for processes of other computers, and
/// where that is not known, as for those that /proc hides while their number is in use.
bool lock_owner_is_gone(const media::LockOwner& owner);

}  // namespace streamsim::run
