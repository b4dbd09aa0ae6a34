// The names of file servers, and of their files: nfs://host/export/dir/clip.mov, as a user types them and as
// every message and result shows them. Servers have paths from their root.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "streamsim/byte_store.h"
#include "streamsim/remote_place.h"

namespace streamsim::storage {

/// Fills `addresses` with the host's numeric addresses of one family, each once, in the order of the name
/// service; each name that the URL gave becomes its first address. Blocks for `timeout` at most. Errors:
/// environment, naming the host.
Result<void> resolve(RemotePlace& place);

/// Those of the first one's family: a node with an IPv4 and an IPv6 address is one node.
std::vector<std::string> of_one_family(std::vector<std::string> addresses);

/// "/export/clip.mov" of "nfs://host/export/clip.mov"; a name without a scheme is returned as it is.
const char* path_on_server(const char* name);

/// Takes whole names, and passes paths on the server to `inner`.
std::unique_ptr<ByteStore> by_whole_names(std::unique_ptr<ByteStore> inner);

}  // namespace streamsim::storage
