// The traffic of a meter that was learnt, played in virtual time on a storage that takes the times of the
// trace.
#pragma once

#include "profile/learning/learn.h"
#include "profile/traffic/behaviour.h"

namespace streamsim::run {

/// What the meter does, counted as the trace was: some ten thousand operations of it, or what it does in the
/// document's time.
profile::Behaviour played_behaviour(const profile::LearntMeter& meter, Duration duration);

}  // namespace streamsim::run
