// How much of some clips this computer keeps in its page cache.
#pragma once

#include <optional>
#include <vector>

#include "streamsim/media.h"

namespace streamsim::run {

/// By a sample of their files, from 0 to 1; nullopt: it cannot be said.
std::optional<double> cached_share(const std::vector<const Clip*>& clips);

}  // namespace streamsim::run
