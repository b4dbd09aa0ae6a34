// Calls that do not depend on each other, on a few threads.
#pragma once

#include <cstddef>
#include <functional>

namespace streamsim {

/// For calls that wait for a server's round trip, and hardly for this computer.
inline constexpr std::size_t kWaitingThreads = 8;
/// For calls that compute: as many as there are processors.
std::size_t computing_threads();

/// Calls `work(i)` once for each i below `count`, on up to so many threads, the calling one among them. Returns
/// when every call has returned. Throws the first exception that a call has thrown.
void parallel_for(std::size_t count,
                  const std::function<void(std::size_t)>& work,
                  std::size_t threads = kWaitingThreads);

}  // namespace streamsim
