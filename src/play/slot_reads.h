// From the frames that a slot shows to the bytes that have to be read for it.
//
// Frames that stand alone are read alone. Where a frame needs others to be decoded (a long group of pictures)
// the reader keeps what a decoder keeps: the group that it is in. The next frame of it is read alone, a frame
// that is there already is not read again, and a jump reads from the group's first frame on. Where
// several frames are shown at once twice as many groups are kept, so that both sides of a transition have
// theirs.
//
// Audio, where the index has it, is read along: the chunks that begin with a frame are read with it; after a
// jump also those that began with the last frame before it that has any (one of each track, as a rule), which
// reach into it.
#pragma once

#include <cstdint>
#include <vector>

#include "play/play_path.h"
#include "streamsim/media.h"

namespace streamsim::play {

/// Bytes of one frame, or of the audio beside it, in the file of that frame.
struct SlotExtent {
    std::uint32_t source = 0;
    std::uint64_t frame = 0;
    Extent extent;
};

/// What a slot can need at most; found by looking at every frame where frames do not stand alone or have audio.
struct SlotNeeds {
    std::size_t extents = 0;
    std::size_t files = 0;    // of sequences, opened for the slot alone
    std::uint64_t bytes = 0;  // of the extents of one frame from each source that is shown, its group left out
    bool groups = false;      // frames of some source do not stand alone
};
SlotNeeds slot_needs(const PlayPath& path);

/// One thread; slots in rising order. Allocates when it is made.
class SlotReads {
public:
    explicit SlotReads(const PlayPath& path);

    /// Replaces `into` by what has to be read for the slot, by source and offset; empty: nothing. A slot that
    /// is passed over is not asked for: what it would have read for later ones is read with them.
    void plan(std::uint64_t slot, std::vector<SlotExtent>& into);

private:
    struct Group {  // that a decoder holds
        std::uint32_t source = UINT32_MAX;
        std::uint64_t sync = 0;
        std::uint64_t end = 0;             // frames below are there, from `sync` on
        std::uint64_t shown = 0;           // the last one
        std::uint64_t audio = UINT64_MAX;  // the frame with which the last chunk that is there began
        std::uint64_t used = 0;            // in which call
    };

    void add(const ShownFrame& shown, std::vector<SlotExtent>& into);
    void add_audio(const ShownFrame& shown,
                   bool same_source,
                   Group& group,
                   std::vector<SlotExtent>& into) const;
    Group& group_for(const ShownFrame& shown);

    const PlayPath& path_;
    std::vector<ShownFrame> shown_;
    std::vector<Group> groups_;
    std::uint64_t calls_ = 0;
};

}  // namespace streamsim::play
