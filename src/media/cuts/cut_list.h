// Cut lists: CMX3600 EDL and OpenTimelineIO documents, and the clips that they name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "media/cuts/edit_list.h"
#include "streamsim/byte_store.h"
#include "streamsim/cut_list.h"
#include "streamsim/media.h"

namespace streamsim::media {

/// Reads a list; `source` is its file, for messages. A document that begins with '{' is OpenTimelineIO,
/// anything else an EDL. Errors: bad input with every problem, each with its line or JSON pointer.
Result<EditList> parse_cut_list(std::string_view text, const std::string& source);

/// Finds the clips of a list below `target` (a directory, a container clip or a sequence), indexes those that
/// are used, once each, and turns source times into clip frames. `rate`: that it is played at; without one
/// that of the list, and of an EDL that of its clips. An EDL is counted at the rate that its clips share; at
/// `rate` where they state several or none, or where the list has time codes beyond theirs. Errors: environment
/// from the store; bad input with every problem of the list: clips that are not there or found twice, frames
/// that a clip does not have, clips of several rates and no `rate`.
Result<CutList> resolve_cut_list(ByteStore& store,
                                 const std::string& target,
                                 const EditList& list,
                                 std::optional<FrameRate> rate,
                                 const IndexOptions& options = {});

}  // namespace streamsim::media
