// QuickTime and MP4 by the project's own readers: the walk over the boxes, and the sample tables.
#include <algorithm>

#include "fuzz/fuzz.h"
#include "fuzz/memory_store.h"
#include "media/container/container_structure.h"
#include "media/container/container_tables.h"
#include "media/container/container_times.h"

STREAMSIM_FUZZ(mov) {
    using namespace streamsim;
    using fuzz::require;
    fuzz::MemorySource source(input);
    const auto structure = media::container_structure(source, nullptr);
    require(structure.has_value(), "a walk refuses nothing");
    if (structure->refusal)
        require(structure->refusal->byte < input.size(), "a refusal is about a byte of the file");
    require(structure->header.offset + structure->header.bytes <= input.size(), "the header lies in the file");
    require(structure->cut == !structure->notes.empty(), "a note says what is cut");
    const auto read = media::read_tables(source, *structure, {.audio = true});
    require(read.has_value(), "tables are read or declined");
    if (!*read) return;
    const media::ReadContainer& found = **read;
    require(!found.extents.empty() && found.extents.size() == found.stamps.decode.size(),
            "each frame has a time");
    require(std::is_sorted(found.stamps.decode.begin(), found.stamps.decode.end()), "times rise");
    require(found.sync.empty() || found.sync.size() == found.extents.size(), "each frame has its sync frame");
    for (std::size_t k = 0; k < found.sync.size(); ++k)
        require(found.sync[k] <= k, "decoding begins before a frame");
    for (const Extent& extent : found.extents)
        require(extent.bytes > 0 && extent.bytes <= (std::uint64_t{512} << 20),
                "a frame has the size of frames");
    for (const auto& track : found.audio) {
        for (const media::AudioPiece& piece : track) require(piece.length_ns >= 0, "audio has a length");
    }
    if (const auto timing = media::time_frames(found.stamps)) {
        require(timing->due_ns.empty() || timing->due_ns.size() == found.extents.size() + 1,
                "each frame is due");
        require(std::is_sorted(timing->due_ns.begin(), timing->due_ns.end()), "due times rise");
    }
}
