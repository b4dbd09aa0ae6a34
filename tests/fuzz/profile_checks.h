// The properties of traffic that was read from a trace or a capture, and of the workload that is learnt from
// it.
#pragma once

#include "fuzz/fuzz.h"
#include "profile/traffic/traffic.h"

namespace streamsim::fuzz {

/// Also selects, learns and writes.
void check_traffic(const profile::Traffic& traffic);

}  // namespace streamsim::fuzz
