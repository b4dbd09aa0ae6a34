// A mounted share: its mount options, and hints for playing from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "streamsim/run_result.h"

namespace streamsim::host {

/// The media that are played from the mount, as far as they are known.
struct MountUse {
    std::uint64_t frame_bytes = 0;            // of the largest frames; 0: not known
    std::optional<std::uint64_t> bits_per_s;  // of the receiving interface
    bool direct = false;                      // reads bypass this computer's page cache
};

/// In "rw,vers=4.2,hard": the text behind "vers="; "" for "hard"; nullopt: the option is not set.
std::optional<std::string_view> mount_option(const MountFacts& mount, std::string_view name);

/// Fills in the server and the protocol, for NFS (nfs, nfs4), SMB (cifs, smb3; smbfs) and AFP (afpfs). Does
/// nothing for a mount of another type.
void name_share(MountFacts& mount);

/// name_share(), and the facts from the options of Linux.
void describe_share(MountFacts& mount);

/// The option that asks for more connections to the server: "nconnect=4 to 8"; empty: a mount of another type.
std::string_view option_of_connections(const MountFacts& mount);

/// Fills in the hints: better mount options for playing. REQUIRES: describe_share().
void hint_at(MountFacts& mount, const MountUse& use);

}  // namespace streamsim::host
