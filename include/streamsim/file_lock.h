// A lock on a file that other processes see. The lock ends with the process that holds it, even when that is
// killed.
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

/// A held lock; destroying the object releases it. One thread at a time.
class FileLock {
public:
    virtual ~FileLock() = default;
    /// Changes the mode without releasing the lock. False: another holder prevents the change, and the mode is
    /// unchanged; also after lost(), for the mode that it has, too. Never waits. Errors: environment.
    virtual Result<bool> change(LockMode mode) = 0;
    /// Another process has taken the lock over, as a lease was not renewed in time. Any thread.
    virtual bool lost() const { return false; }
};

/// The longest note of a holder, in bytes.
inline constexpr std::size_t kLockNoteBytesMax = 1000;

/// The result of one attempt to lock a file.
struct LockAttempt {
    enum class Outcome { held, refused, unsupported };
    Outcome outcome = Outcome::unsupported;
    std::unique_ptr<FileLock> lock;       // held
    std::vector<std::string> notes = {};  // refused: the notes of the holders that left one
};

}  // namespace streamsim
