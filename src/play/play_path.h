// PlayPath: what a stream shows, slot by slot. It is the operator's part of playing (forwards, backwards,
// scrubbing, from cut to cut) and knows nothing of storage. The player asks it which frames a slot needs, when
// the slot is due, and whether anybody could have known of it before.
//
// Orders, for a clip of n frames, slot i:
//   forward    frame i mod n
//   reverse    frame n - 1 - i mod n
//   ping-pong  0 ... n-1, n-2 ... 1, and again: the ends are shown once
//   shuttle:N  frame i x N mod n, in real time; N < 0: backwards from the last frame
//   random     any frame, each slot anew; the player knows them ahead, as a list that was shuffled
//   scrub      jumps, and after each the clip is played on from there until the next
//   cuts       what a cut list says; see cut_list.h
//
// Seeks. Nobody knows of a jump before the hand makes it: its first frame is asked for at the instant at which
// its slot is due, never earlier, and the clock waits for it. A path says of such slots that they are sought.
//
// The hand (scrub). From jump to jump it takes 0.2 to 1.6 s, most often 0.9; four jumps in five go to within 2
// s of where the picture is, the others anywhere. The cutter of live angles stays 1 to 6 s on each. These are
// assumptions: there is no measurement of it to point at.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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

    /// "forward", "shuttle:8", ...: as typed.
    std::string text() const;
    /// Errors: bad input that lists what there is.
    static Result<PlayOrder> parse(std::string_view text);
};

/// A frame of one of a path's sources.
struct ShownFrame {
    std::uint32_t source = 0;
    std::uint64_t frame = 0;

    friend bool operator==(const ShownFrame&, const ShownFrame&) = default;
};

/// Any slot at any time, but one thread at a time: a path may remember where its last answer was.
class PlayPath {
public:
    using Sources = std::vector<std::shared_ptr<const FrameIndex>>;

    virtual ~PlayPath() = default;
    PlayPath(const PlayPath&) = delete;
    PlayPath& operator=(const PlayPath&) = delete;

    const Sources& sources() const { return sources_; }
    FrameRate rate() const { return rate_; }

    /// Replaces `into` by what the slot shows, the picture on top first; nothing: black. At most shown_max()
    /// frames, each of another source.
    virtual void shown(std::uint64_t slot, std::vector<ShownFrame>& into) const = 0;
    virtual std::size_t shown_max() const { return 1; }
    /// When the slot is due, from play_start.
    virtual Duration due(std::uint64_t slot) const { return rate_.due(slot); }
    /// Slots that are due before `length` has passed.
    virtual std::uint64_t slots_in(Duration length) const { return rate_.slots_in(length); }
    /// The slot is a jump that nobody knew of before. Never slot 0.
    virtual bool sought(std::uint64_t /*slot*/) const { return false; }
    /// Slots of one pass.
    virtual std::uint64_t pass_slots() const = 0;
    /// Its one source is read from front to back.
    virtual bool front_to_back() const { return false; }

    /// The frame by which a slot is named: the one on top; of a black slot frame 0 of source 0.
    ShownFrame named(std::uint64_t slot) const;

protected:
    PlayPath(Sources sources, FrameRate rate) : sources_(std::move(sources)), rate_(rate) {}

private:
    Sources sources_;
    FrameRate rate_;
    mutable std::vector<ShownFrame> scratch_;
};

/// One clip, or several that lie on each other and are all read. The first one's frames decide how long a pass
/// is; a shorter one below it begins again. `rate`: nothing is the first clip's own, with its own time stamps
/// where it has a variable rate and is played forward. REQUIRES: order.kind != cuts; not empty.
std::shared_ptr<const PlayPath> make_path(PlayPath::Sources layers,
                                          PlayOrder order,
                                          std::optional<FrameRate> rate,
                                          std::uint64_t seed);

/// Angles of one scene, of which only the one that is shown is read: a cut between them is a seek.
/// REQUIRES: as make_path.
std::shared_ptr<const PlayPath> make_angle_path(PlayPath::Sources angles,
                                                PlayOrder order,
                                                std::optional<FrameRate> rate,
                                                std::uint64_t seed);

/// What a cut list shows, over and over.
std::shared_ptr<const PlayPath> make_cut_path(const CutList& list, std::optional<FrameRate> rate);

}  // namespace streamsim::play
