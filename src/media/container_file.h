// The frame index of one file that holds all frames. Inside media/ only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "streamsim/media.h"

namespace streamsim {

/// REQUIRES: extents is not empty.
std::shared_ptr<const FrameIndex> make_container_index(std::string path,
                                                       FrameRate rate,
                                                       std::vector<Extent> extents);

}  // namespace streamsim
