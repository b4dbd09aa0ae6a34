// Resolves the name of a server.
#pragma once

#include "base/result.h"
#include "streamsim/remote_place.h"

namespace streamsim::storage {

/// Fills `addresses` with the host's numeric addresses, each once, in the order of the name service; each name
/// that the URL gave becomes its first address. Blocks for `timeout` at most. Errors: environment, naming the
/// host.
Result<void> resolve(RemotePlace& place);

}  // namespace streamsim::storage
