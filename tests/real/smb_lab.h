// The server of the SMB tests, and what it calls its files.
#pragma once

#include <string>

#include "real/lab.h"
#include "streamsim/remote_place.h"

namespace streamsim::tests {

Lab& smb_lab();
RemotePlace smb_place(std::uint32_t connections);
Credentials smb_user();
/// A path in the directory that the server exports, as the server has it; the user may go there.
std::string shared(const std::string& path);

}  // namespace streamsim::tests
