// Media of a run of several parts.
#pragma once

#include <vector>

#include "base/result.h"
#include "run/plan/media_plan.h"
#include "run/plan/play_part.h"
#include "streamsim/byte_store.h"

namespace streamsim::run {

/// The media that have to be written before these parts can be played. Blocks. Errors: as missing_media of one
/// request.
Result<std::vector<media::PreparePlan>> missing_media(ByteStore& store, const std::vector<PlayPart>& parts);

/// The parts with their media. Streams with a clip of their own get one that no other stream has, in any part;
/// streams of one format that share a clip share it over all parts. Blocks. Errors: as find_media of one
/// request.
Result<std::vector<PlayPart>> find_media(ByteStore* store,
                                         std::vector<PlayPart> parts,
                                         IndexProgress* progress);

}  // namespace streamsim::run
