// The addresses behind a server's name.
#pragma once

#include "base/result.h"
#include "streamsim/remote_place.h"

namespace streamsim::storage {

/// Fills `addresses` with those of the host, as numbers, each once, in the order of the name service; a name
/// among the ones that the URL gave becomes its first address. Blocks for `timeout` at most. Errors:
/// environment, naming the host.
Result<void> resolve(RemotePlace& place);

}  // namespace streamsim::storage
