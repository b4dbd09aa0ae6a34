// Lease files: locks for storage whose own locks do not reach other computers (nfs://, smb://, network mounts),
// or which has none, and on local disks for those that use them over a network. Used by media_lock.cc alone.
//
// A lease is a file beside the media, with a name of its own for each holder:
//
//     streamsim-media.exclusive-0123456789abcdef-00000007.lease
//
// whose text says who holds it; it is empty where the storage was full. Its holder replaces it every
// kLeaseRenewal by one with the next number. A process that wants a lock writes its lease first and looks for
// others after that, so that of two processes that meet at least one sees the other and takes its own away. A
// process that has removed a lease as too old looks again, and a holder whose lease another one has removed
// looks for others too: the lease may have been renewed at that moment. Ages are differences of the server's
// time stamps: clocks of clients are not compared.
//
// Beside a lock of the kernel the mode is "localshared" or "localexclusive", which a full disk can hold, too.
// Who has that lock takes such leases that conflict with it for abandoned at any age: their holders would have
// the lock. A holder who can make no file there has no lease until there is room for one, so that clean can
// make it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "media/write/media_lock.h"
#include "streamsim/byte_store.h"
#include "streamsim/file_lock.h"

namespace streamsim::media {

/// The notes are the texts of leases; empty where a text cannot be read.
struct LeaseAttempt {
    /// Held and renewed; destroying it removes it, and waits for that for two seconds at most. Null: refused.
    std::unique_ptr<FileLock> lease;
    std::vector<std::string> holders;     // refused: notes of those in the way
    std::vector<std::string> taken_over;  // notes of leases that were too old, or whose processes are gone
};

/// One attempt. Blocks as the store does; waits for no holder. `local`: beside a lock of the kernel. Errors:
/// environment where the lease cannot be written. REQUIRES: the directory of the set exists.
Result<LeaseAttempt> try_lease(const std::shared_ptr<ByteStore>& store,
                               const MediaLockRequest& request,
                               bool local);

/// True when a file of this name is a lease.
bool is_lease_name(std::string_view name);

}  // namespace streamsim::media
