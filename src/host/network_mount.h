// A mounted share: what its mount options say to somebody who plays from it.
#pragma once

#include <cstdint>
#include <optional>

#include "streamsim/run_result.h"

namespace streamsim::host {

/// What is played from the mount, as far as it is known.
struct MountUse {
    std::uint64_t frame_bytes = 0;            // of the largest frames; 0: not known
    std::optional<std::uint64_t> bits_per_s;  // of the interface that the bytes come in by
    bool direct = false;                      // it is read past this computer's page cache
};

/// Fills in the server, the protocol and what goes by the options, of NFS (nfs, nfs4) and SMB (cifs, smb3).
/// Does nothing with a mount of another type.
void describe_share(MountFacts& mount);

/// Fills in the hints: what would be mounted otherwise to play from it. REQUIRES: describe_share().
void hint_at(MountFacts& mount, const MountUse& use);

}  // namespace streamsim::host
