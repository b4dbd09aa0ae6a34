// How much of the time that missed frames took is the way to their server and back. Inside judge/ only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "judge/evidence.h"
#include "judge/host_window.h"

namespace streamsim::judge {

/// One round trip is at least two fifths of a frame's time (`most`), as TCP often needs two; at least a fourth
/// (`part`); less (`some`); or the server is not far away (`little`). It is also `most` where
/// - a round trip takes longer than a frame may take: no storage could have sent one before its deadline; or
/// - frames that were re-read alone took no more than the round trips of a server that needs no time itself,
///   that was longer than a period, and in play they took as long as one behind the other.
enum class DistanceShare { little, some, part, most };

/// `frames`: indices into evidence.missed. REQUIRES: `path` is of evidence.system.
DistanceShare distance_share(const Evidence& evidence,
                             const NetworkPathFacts& path,
                             std::span<const std::size_t> frames);

/// The median time of the frames that were re-read alone; 0: none was.
std::int64_t read_alone_ns(const Evidence& evidence);

/// The median; 0: there are no values.
std::int64_t median_ns(std::vector<std::int64_t> values);

}  // namespace streamsim::judge
