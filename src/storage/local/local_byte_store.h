// The blocking side of local files: indexing and `prepare`.
#pragma once

#include <memory>

#include "streamsim/byte_store.h"

namespace streamsim::storage {

/// Paths are as for open(2), relative ones from the working directory. Reads and writes go through the page
/// cache; a sink starts the write-back early, so that its close() waits for the last megabytes and not for the
/// whole file, and leaves nothing in the cache. Thread-safe as ByteStore says.
std::unique_ptr<ByteStore> make_local_byte_store();

}  // namespace streamsim::storage
