// A lock on a file that other processes see, and that ends with the process that holds it, however it ends.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace streamsim {

enum class LockMode {
    shared,     // any number of holders
    exclusive,  // one holder, and no shared one beside it
};

/// A lock that is held; destroying it releases the lock. One thread at a time.
class FileLock {
public:
    virtual ~FileLock() = default;
    /// Changes the mode without a gap in which nobody holds the lock. False: another holder is in the way, and
    /// the mode is as it was. Never waits. Errors: environment.
    virtual Result<bool> change(LockMode mode) = 0;
};

/// The longest note of a holder, in bytes.
inline constexpr std::size_t kLockNoteBytesMax = 1000;

/// What came of one attempt to lock a file.
struct LockAttempt {
    enum class Outcome { held, refused, unsupported };
    Outcome outcome = Outcome::unsupported;
    std::unique_ptr<FileLock> lock;       // held
    std::vector<std::string> notes = {};  // refused: of the holders that could leave one
};

}  // namespace streamsim
