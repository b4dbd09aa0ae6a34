// PlayPath: the frames that a stream shows, slot by slot. It is the operator's part of playing (forwards,
// backwards, scrubbing, from cut to cut), without storage. For each slot it gives the player the frames, the
// due time, and whether the slot could be foreseen.
//
// Orders, for a clip of n frames, slot i:
//   forward    frame i mod n
//   reverse    frame n - 1 - i mod n
//   ping-pong  0 ... n-1, n-2 ... 1, and again: the ends are shown once
//   shuttle:N  frame i x N mod n, in real time; N < 0: backwards from the last frame
//   random     any frame, drawn for each slot; the player knows them ahead, like a shuffled list
//   scrub      jumps; after each one the clip plays on from there until the next
//   cuts       the events of a cut list; see cut_list.h
//
// Seeks. A jump cannot be foreseen: its first frame is requested at the instant at which its slot is due, never
// earlier, and the clock waits for it. Such slots are `sought`.
//
// The operator (scrub) makes a jump every 0.2 to 1.6 s, most often 0.9; four jumps in five go to within 2 s of
// the present picture, the others anywhere. The operator of live angles stays 1 to 6 s on each. These are
// assumptions: there is no measurement of either.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "streamsim/cut_list.h"
#include "streamsim/media.h"

namespace streamsim::play {

struct PlayOrder {
    enum class Kind { forward, reverse, ping_pong, shuttle, scrub, random, cuts };
    Kind kind = Kind::forward;
    std::int64_t step = 1;  // shuttle; not 0

    /// As typed: "forward", "shuttle:8".
    std::string text() const;
    /// Errors: bad input that lists all orders.
    static Result<PlayOrder> parse(std::string_view text);
};

/// A frame of one of a path's sources.
struct ShownFrame {
    std::uint32_t source = 0;
    std::uint64_t frame = 0;

    friend bool operator==(const ShownFrame&, const ShownFrame&) = default;
};

/// The most that a slot can need; every frame is examined where frames depend on others or have audio.
struct SlotNeeds {
    std::size_t extents = 0;
    std::size_t files = 0;    // of sequences, opened for the slot alone
    std::uint64_t bytes = 0;  // of the extents of one frame from each source that is shown, its group left out
    std::uint64_t whole_bytes = 0;  // the same with its group
    bool groups = false;            // frames of some source depend on others
};

/// Any slot at any time, but one thread at a time: a path may cache its last answer. Other threads may ask for
/// what does not depend on the slot, and for repeats_within().
class PlayPath {
public:
    using Sources = std::vector<std::shared_ptr<const FrameIndex>>;

    virtual ~PlayPath() = default;
    PlayPath(const PlayPath&) = delete;
    PlayPath& operator=(const PlayPath&) = delete;

    const Sources& sources() const { return sources_; }
    FrameRate rate() const { return rate_; }

    /// Replaces `into` by the frames of the slot, the picture on top first; empty: black. At most shown_max()
    /// frames, each of another source.
    virtual void shown(std::uint64_t slot, std::vector<ShownFrame>& into) const = 0;
    virtual std::size_t shown_max() const { return 1; }
    /// The due time of the slot, from play_start.
    virtual Duration due(std::uint64_t slot) const { return rate_.due(slot); }
    /// due() is that of rate(); a path with a due() of its own says when it is not.
    virtual bool steady() const { return true; }
    /// The number of slots that are due before `length`.
    virtual std::uint64_t slots_in(Duration length) const { return rate_.slots_in(length); }
    /// Some slots may be sought.
    virtual bool seeks() const { return true; }
    /// The slot is a jump that could not be foreseen. Never slot 0.
    virtual bool sought(std::uint64_t /*slot*/) const { return false; }
    /// The number of slots of one pass.
    virtual std::uint64_t pass_slots() const = 0;
    /// Rises where the slots go on elsewhere in the sources: with each pass, and at the edges of a cut list's
    /// events.
    virtual std::uint64_t piece(std::uint64_t slot) const { return slot / pass_slots(); }
    /// Some frame of a source is shown twice within the first `slots` slots. Any thread. A path whose shown()
    /// caches anything has a version of its own.
    virtual bool repeats_within(std::uint64_t slots) const;
    /// The path has one source, which is read from front to back: slot i shows frame i mod count().
    virtual bool front_to_back() const { return false; }

    /// The frame that names a slot: the one on top; frame 0 of source 0 for a black slot.
    ShownFrame named(std::uint64_t slot) const;

protected:
    PlayPath(Sources sources, FrameRate rate) : sources_(std::move(sources)), rate_(rate) {}

    using Show = std::function<void(std::uint64_t slot, std::vector<ShownFrame>& into)>;
    /// repeats_within(), where `show` stands for shown().
    bool repeats(std::uint64_t slots, const Show& show) const;

private:
    Sources sources_;
    FrameRate rate_;
    mutable std::vector<ShownFrame> scratch_;
    mutable std::optional<SlotNeeds> needs_;
    friend const SlotNeeds& slot_needs(const PlayPath& path);
};

/// One clip, or several layers that are all read. The first layer has the length of a pass; a shorter one below
/// it begins again. Without `rate` the first clip's own counts, with its own time stamps where its rate is
/// variable and it plays forward. REQUIRES: order.kind != cuts; not empty.
std::shared_ptr<const PlayPath> make_path(PlayPath::Sources layers,
                                          PlayOrder order,
                                          std::optional<FrameRate> rate,
                                          std::uint64_t seed);

/// Angles of one scene; only the one on display is read: a cut between them is a seek.
/// REQUIRES: as make_path.
std::shared_ptr<const PlayPath> make_angle_path(PlayPath::Sources angles,
                                                PlayOrder order,
                                                std::optional<FrameRate> rate,
                                                std::uint64_t seed);

/// The events of a cut list, over and over.
std::shared_ptr<const PlayPath> make_cut_path(const CutList& list, std::optional<FrameRate> rate);

}  // namespace streamsim::play
