// The server of the NFS tests and its paths.
#pragma once

#include <cstdint>
#include <string>

#include "streamsim/remote_place.h"

namespace streamsim::tests {

RemotePlace nfs_place(std::uint32_t version, std::uint32_t connections);
std::uint16_t nfs_port();
std::uint16_t nfs_mount_port();
/// The server's path of a path in the directory that it exports.
std::string exported(const std::string& path);

void kill_server();
/// Starts the server, and returns when it serves.
void start_server();

}  // namespace streamsim::tests
