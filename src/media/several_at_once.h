// Questions to storage that may be far away: each waits for round trips and not for this computer, so a few are
// asked at once. Inside media/ only.
#pragma once

#include <cstddef>
#include <functional>

namespace streamsim::media {

/// Calls `work(i)` once for each i below `count`, on up to eight threads, this one among them. Returns when all
/// have returned. Throws what one of them has thrown.
void several_at_once(std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace streamsim::media
