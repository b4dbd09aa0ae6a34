#include "sim/cluster.h"

namespace streamsim {

class ClusterCore {};

Cluster::~Cluster() = default;

}  // namespace streamsim
