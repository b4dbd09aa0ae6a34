// The URLs of file servers that streamsim speaks to itself.
#pragma once

#include <string>

#include "base/result.h"
#include "target/target.h"

namespace streamsim::target {

/// "nfs://host[:port]/export/dir[?OPTIONS]" or "smb://[domain;][user@]host[:port]/share/dir[?OPTIONS]"; an IPv6
/// host is written in [brackets], and %XX in a path is one byte. OPTIONS, joined by '&':
///
///     connections=N     1 to 64, to each node (nfs 1, smb 4)
///     addresses=A,B     the nodes; default: the addresses of the host's name
///     rsize=SIZE        bytes that one request reads, at most: 1MiB, or a number
///     timeout=TIME      for an answer of the server (10s)
///     version=3|4, nfsport=N, mountport=N, uid=N, gid=N    nfs only
///     port=N                                               smb only
///
/// Resolves no name. Errors: bad input, each problem once; a password is a problem, and is not repeated.
/// REQUIRES: is_remote_url(text).
Result<Target> parse_remote_target(const std::string& text);

bool is_remote_url(const std::string& text);

}  // namespace streamsim::target
