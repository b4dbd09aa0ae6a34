// Locks on local files, for the local byte store.
#pragma once

#include <string>

#include "base/result.h"
#include "streamsim/file_lock.h"

namespace streamsim::storage {

/// As ByteStore::try_lock.
Result<LockAttempt> try_lock_local(const std::string& path, LockMode mode, const std::string& note);

}  // namespace streamsim::storage
