// From the lines of an EDL to pieces on the record timeline, once the rates are known. Inside media/ only.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "media/cuts/edit_list.h"

namespace streamsim::media {

struct EditTimeline {
    std::vector<EditPiece> pieces;  // as played: sorted by `at`, never more than two at one frame
    std::uint64_t frames = 0;
    std::vector<std::string> notes;
};

/// `media_rates` are those of EditList::media; of a source without one nothing is checked. The first frame of
/// the timeline is the earliest record-in. Errors: bad input with every line whose time codes do not exist at
/// the rate, run backwards, do not fit each other or lie over another event.
Result<EditTimeline> lay_out_edl(const EditList& list,
                                 FrameRate rate,
                                 std::span<const std::optional<FrameRate>> media_rates);

/// Bad input: of all events of an EDL none has a picture and a length.
Error nothing_shown(const EditList& list);

}  // namespace streamsim::media
