// A sequence whose frames differ in size, each known. Inside media/ only.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "media/sequence_index.h"

namespace streamsim {

/// As make_sequence_index, with a size in bytes for each frame instead of facts.frame_bytes. A size of 0: the
/// file is not there; it is expected to have facts.frame_bytes. REQUIRES: sizes.size() == facts.count.
std::shared_ptr<const FrameIndex> make_sized_sequence(SequenceFacts facts, std::vector<std::uint32_t> sizes);

}  // namespace streamsim
