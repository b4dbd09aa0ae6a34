// The statistics of all parts of a cluster.
#pragma once

#include <vector>

#include "sim/cluster/file_coordinators.h"
#include "sim/cluster/parts.h"
#include "streamsim/part_stats.h"

namespace streamsim::sim {

/// Over [from, to), in a fixed order: seats, then nodes with their drives, then files. A part that only writes
/// use is listed when a write has used it.
std::vector<PartStats> cluster_stats(const ClusterParts& parts,
                                     const FileCoordinators& coordinators,
                                     Instant from,
                                     Instant to);

}  // namespace streamsim::sim
