// Calls that each wait for a server's round trip and hardly for this computer, on a few threads.
#pragma once

#include <cstddef>
#include <functional>

namespace streamsim {

/// Calls `work(i)` once for each i below `count`, on up to eight threads, the calling one among them. Returns
/// when every call has returned. Throws the first exception that a call has thrown.
void parallel_for(std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace streamsim
