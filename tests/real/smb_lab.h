// The server of the SMB tests and its paths.
#pragma once

#include <cstdint>
#include <string>

#include "real/lab.h"
#include "streamsim/remote_place.h"

namespace streamsim::tests {

Lab& smb_lab();
RemotePlace smb_place(std::uint32_t connections);
std::uint16_t smb_port();
Credentials smb_user();
/// The server's path of a path in the directory that it exports; the user gets access.
std::string shared(const std::string& path);

}  // namespace streamsim::tests
