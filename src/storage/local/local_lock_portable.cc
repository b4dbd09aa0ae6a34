// Systems other than Linux have no locks that belong to an open file: lease files take their place.
#include "storage/local/local_lock.h"

namespace streamsim::storage {

Result<LockAttempt> try_lock_local(const std::string& /*path*/,
                                   LockMode /*mode*/,
                                   const std::string& /*note*/) {
    return LockAttempt{};
}

}  // namespace streamsim::storage
