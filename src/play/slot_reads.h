// SlotReads: plans the bytes that a slot's frames need.
//
// Independent frames are read alone. If decoding a frame needs others (a long group of pictures) the reader
// keeps the same group as a decoder: the next frame of the group is read alone, a frame of the group is not
// read again, and a jump reads from the group's first frame on. Each pass begins without any. If several frames
// are shown at once twice as many groups are kept, so that both sides of a transition have theirs.
//
// Audio, where the index has it, is read along: the chunks that begin with a frame are read with it; after a
// jump also the chunks that reach into the frame, which began with the last frame before it that has any (one
// of each track, as a rule).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/memory.h"
#include "play/play_path.h"
#include "streamsim/media.h"

namespace streamsim::play {

/// Bytes of one frame, or of the audio beside it, in the file of that frame.
struct SlotExtent {
    std::uint32_t source = 0;
    std::uint64_t frame = 0;
    Extent extent;
};

/// The most that a slot of the path can need. The path keeps the answer.
const SlotNeeds& slot_needs(const PlayPath& path);

/// One thread; slots in rising order. Allocates in the constructor.
class SlotReads {
public:
    explicit SlotReads(const PlayPath& path);

    /// Replaces `into` by the extents to read for the slot, by source and offset; returns path.named(slot). A
    /// slot that is passed over is not planned: the frames that later ones need are read with these.
    ShownFrame plan(std::uint64_t slot, std::vector<SlotExtent>& into) { return plan(slot, into, false); }
    /// As plan(), but only the extents that depend on no other slot, as images do: a slot that is planned ahead
    /// may still be passed over.
    ShownFrame plan_ahead(std::uint64_t slot, std::vector<SlotExtent>& into) { return plan(slot, into, true); }
    /// A slot will be planned soon.
    void prefetch() const { streamsim::prefetch(plain_, kIndexBytes); }
    /// No extents depend on other slots.
    bool independent() const { return independent_; }

private:
    static constexpr std::size_t kIndexBytes = 128;  // of the index of a container

    struct Group {  // in the decoder
        std::uint32_t source = UINT32_MAX;
        std::uint64_t sync = 0;
        std::uint64_t end = 0;             // frames from `sync` to here were read
        std::uint64_t shown = 0;           // the last one
        std::uint64_t piece = 0;           // of the path, that it belonged to
        std::uint64_t audio = UINT64_MAX;  // the frame with which the last chunk read began
        std::uint64_t used = 0;            // the number of the last call
    };

    ShownFrame plan(std::uint64_t slot, std::vector<SlotExtent>& into, bool ahead);
    void add(const ShownFrame& shown, std::vector<SlotExtent>& into);
    void add_audio(const ShownFrame& shown,
                   bool same_source,
                   Group& group,
                   std::vector<SlotExtent>& into) const;
    Group& group_for(const ShownFrame& shown);

    const bool independent_;  // no frame needs another one, or audio
    /// The only source of a path that reads it from front to back, frames in independent extents: what most
    /// streams do, without a look at the path. Null: another path.
    const FrameIndex* const plain_;
    const std::uint64_t plain_frames_;
    const PlayPath& path_;
    std::vector<ShownFrame> shown_;
    std::vector<Group> groups_;
    std::uint64_t pass_ = 0;   // of the path, that they belong to
    std::uint64_t piece_ = 0;  // of the path, that the slot belongs to
    std::uint64_t calls_ = 0;
};

}  // namespace streamsim::play
