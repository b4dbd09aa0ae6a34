// Credentials for a file server, from a file that only its owner may read, or from the environment. They never
// come from a URL, and never go to a result, a log or a process list.
#pragma once

#include <string>

#include "base/result.h"
#include "streamsim/remote_place.h"
#include "target/target.h"

namespace streamsim::target {

/// The credentials for an smb: target; other targets have none. `file` is the file of --credentials; empty: the
/// file of STREAMSIM_SMB_CREDENTIALS, if there is one. Missing values come from STREAMSIM_SMB_USER,
/// STREAMSIM_SMB_PASSWORD and STREAMSIM_SMB_DOMAIN. The user and the domain of a URL come before all of these.
/// Errors: as read_secret; bad input for lines of another form, by their numbers but without their text. From
/// the first credentials on this process leaves no core dump.
Result<Credentials> find_credentials(const Target& target, const std::string& file);

/// The text of a file, 64 KiB at most. Checks owner and rights of the open file, not of its name. Errors: bad
/// input, with the file's name: it cannot be read, is no file, is too large, is another user's, or others may
/// read or write it.
Result<std::string> read_secret(const std::string& name);

}  // namespace streamsim::target
