// The structure of a container file, read at its top level only: enough for one line of text and for facts that
// libavformat does not report. Inside media/ only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "streamsim/byte_store.h"
#include "streamsim/media.h"

namespace streamsim::media {

struct ContainerRefusal {
    std::uint64_t byte = 0;  // byte offset of the field
    std::string why;
};

struct ContainerStructure {
    std::string line;         // "MOV: ftyp 20 B, wide 8 B, mdat 812.3 MB at byte 36, moov 71.0 kB last"; or ""
    bool fragmented = false;  // QuickTime, MP4: there are moof atoms
    /// QuickTime, MP4: the body of the only moov atom in a file of nothing else but ftyp, which begins it,
    /// media and free space; 0 bytes: the file is of another kind.
    Extent header;
    bool edit_list = false;  // the first video track has one
    int width = 0;           // QuickTime, MP4: as the first video track is shown, in pixels; 0: not said
    int height = 0;
    bool cut = false;                // media of it end behind the end of the file
    std::vector<std::string> notes;  // which that is
    /// QuickTime, MP4: the first video track's frames are in another file, or its tracks claim more samples
    /// than can be there: libavformat would make an entry for each.
    std::optional<ContainerRefusal> refusal;
};

/// Walks over the top level of QuickTime and MP4 files and the clusters of Matroska; of MXF the
/// footer is looked for; of others only the kind is named. Reads headers only. Every step goes forward in the
/// file and there is a limit to their number, so no size in a file, however absurd, makes it slow or large.
/// Errors: environment from the source; interrupted after `cancel`; never bad input: what is damaged is for the
/// reader of frames to refuse.
Result<ContainerStructure> container_structure(ByteSource& source, const IndexProgress* progress);

}  // namespace streamsim::media
