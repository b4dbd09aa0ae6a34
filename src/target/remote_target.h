// The URLs of shares that streamsim speaks to itself.
#pragma once

#include <string>

#include "base/result.h"
#include "target/target.h"

namespace streamsim::target {

/// "nfs://host[:port]/export/dir[?OPTIONS]" or "smb://[domain;][user@]host[:port]/share/dir[?OPTIONS]"; an IPv6
/// host stands in [brackets], %XX in a path is that byte. OPTIONS, joined by '&':
///
///     connections=N     1 to 64, to each node (nfs 1, smb 4)
///     addresses=A,B     the nodes, instead of those of the host's name
///     rsize=SIZE        the most that one request reads: 1MiB, or plain bytes
///     timeout=TIME      of a server that does not answer (10s)
///     version=3|4, nfsport=N, mountport=N, uid=N, gid=N    of nfs
///     port=N                                               of smb
///
/// Nothing is looked up. Errors: bad input, each problem once; a password is one, and is not repeated.
/// REQUIRES: is_remote_url(text).
Result<Target> parse_remote_target(const std::string& text);

bool is_remote_url(const std::string& text);

}  // namespace streamsim::target
