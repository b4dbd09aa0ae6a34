// The traffic of a learnt meter, played in virtual time on a storage with the times of its trace.
#pragma once

#include "profile/learning/learn.h"
#include "profile/traffic/behaviour.h"

namespace streamsim::run {

/// The behaviour of the meter, counted like that of the trace: over some ten thousand operations, or over the
/// time of the document.
profile::Behaviour played_behaviour(const profile::LearntMeter& meter, Duration duration);

}  // namespace streamsim::run
