// Credentials for a file server, from a file that only its owner may read, or from the environment. They never
// come from a URL, and never go to a result, a log or a process list.
#pragma once

#include <string>

#include "base/result.h"
#include "streamsim/remote_place.h"
#include "target/target.h"

namespace streamsim::target {

/// The credentials for an smb: target; other targets have none. `file` is the file of --credentials; empty: the
/// file of STREAMSIM_SMB_CREDENTIALS, if there is one. A file has lines `username=`, `password=` and `domain=`,
/// as mount.cifs has them; blank lines and comments ('#') do not count. Missing values come from
/// STREAMSIM_SMB_USER, STREAMSIM_SMB_PASSWORD and STREAMSIM_SMB_DOMAIN. No user: a guest. The user and the
/// domain of a URL come before all of these.
///
/// Errors: bad input, every problem of the file, with the number of its line but without its text: the file
/// cannot be read, is another user's, others may read or write it, or a line has another form. From the first
/// credentials on this process leaves no core dump.
Result<Credentials> find_credentials(const Target& target, const std::string& file);

}  // namespace streamsim::target
