// Who asks a file server: from a file that only its owner may read, or from the environment. Never from a URL,
// never to a result, a log or a process list.
#pragma once

#include <string>

#include "base/result.h"
#include "streamsim/remote_place.h"
#include "target/target.h"

namespace streamsim::target {

/// For an smb: target; for others there are none. `file` is what --credentials names; empty: the one that
/// STREAMSIM_SMB_CREDENTIALS names, if any. A file has lines `username=`, `password=` and `domain=`, as
/// mount.cifs has them; blank ones and those that begin with '#' do not count. What it does not say comes from
/// STREAMSIM_SMB_USER, STREAMSIM_SMB_PASSWORD and STREAMSIM_SMB_DOMAIN. Nobody: a guest. The user and the
/// domain of a URL come before all of these.
///
/// Errors: bad input, every problem of the file, with its line but without what stands there: it cannot be
/// read, it is another user's, others may read or write it, a line is not one of those. Where there are
/// credentials this process leaves no core dump from then on.
Result<Credentials> find_credentials(const Target& target, const std::string& file);

}  // namespace streamsim::target
