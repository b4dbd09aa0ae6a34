// Lease files: locks for storage whose own locks do not reach other computers (nfs://, smb://, network mounts),
// or which has none. Used by media_lock.h alone.
//
// A lease is a file beside the media, with a name of its own for each holder:
//
//     streamsim-media.exclusive-0123456789abcdef-00000007.lease
//
// whose text says who holds it. Its holder replaces it every kLeaseRenewal by one with the next number. A
// process that wants a lock writes its lease first and looks for others after that, so that of two processes
// that meet at least one sees the other and takes its own away. Ages are differences of the server's time
// stamps: clocks of clients are not compared.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "streamsim/byte_store.h"
#include "streamsim/file_lock.h"

namespace streamsim::media {

inline constexpr Duration kLeaseRenewal = seconds(10);
/// A lease that is older than this is taken over: its holder is gone, or cannot reach the storage.
inline constexpr std::int64_t kLeaseAgeMaxSeconds = 60;

/// A lease that is held and renewed; destroying it removes it, and waits for that for two seconds at most.
class MediaLease {
public:
    virtual ~MediaLease() = default;
    /// See FileLock::change.
    virtual Result<bool> change(LockMode mode) = 0;
    /// The lease was too old and another process has taken it over. Any thread.
    virtual bool lost() const = 0;
};

/// The holder of a lease, from the text of the lease; empty when the text cannot be read.
struct LeaseNote {
    LockMode mode = LockMode::exclusive;
    std::string note;
};

struct LeaseAttempt {
    std::unique_ptr<MediaLease> lease;  // null: refused
    std::vector<LeaseNote> holders;     // refused: who is in the way
    std::vector<LeaseNote> taken_over;  // leases of others that were too old, or whose processes are gone
};

struct LeaseRequest {
    std::string directory;  // an existing one
    std::string name;       // prefix of the files' names
    LockMode mode = LockMode::shared;
    std::string note;
    /// True when the process that wrote this note has ended. May be null.
    std::function<bool(const std::string& note)> is_gone;
    Duration renewal = kLeaseRenewal;
};

/// One attempt. Blocks as the store does; waits for no holder. Errors: environment where the lease cannot be
/// written.
Result<LeaseAttempt> try_lease(const std::shared_ptr<ByteStore>& store, const LeaseRequest& request);

/// True when a file of this name is a lease.
bool is_lease_name(std::string_view name);

}  // namespace streamsim::media
