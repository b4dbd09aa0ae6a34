// The server of the NFS tests, and what it calls its files.
#pragma once

#include <cstdint>
#include <string>

#include "streamsim/remote_place.h"

namespace streamsim::tests {

RemotePlace nfs_place(std::uint32_t version, std::uint32_t connections);
/// A path in the directory that the server exports, as the server has it.
std::string exported(const std::string& path);

void kill_server();
/// Returns when it serves.
void start_server();

}  // namespace streamsim::tests
