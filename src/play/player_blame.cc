// Whose a missed frame is: see the head of player.h.
#include "play/player.h"

namespace streamsim::play {

void Player::pass_over(Instant now) {
    if (clock_.stands()) return;
    const std::uint64_t first = next_;
    while (next_ < entered_ && due(next_) < now) {
        const std::uint64_t slot = next_++;
        if (slot < ahead_end_) abandon(slot);
        const bool could_have_read = in_flight_ < places_ && place_.since - place_.late <= due(slot);
        book_unread(slot, FrameKind::dropped, could_have_read ? DropReason::client : DropReason::late);
    }
    ahead_end_ = std::max(ahead_end_, next_);
    if (next_ > first) absorb(inflight_time_.saved(next_ - first, places_), due(next_ - 1));
}

/// Who is to blame that this complete frame missed `deadline`: see the head of player.h.
DropReason Player::blame(const FrameRead& read, Instant deadline) const {
    if (read.not_before() <= deadline || read.delivered() <= deadline) return DropReason::client;
    if (decoder_behind_ >= read.outcome().scheduled) return DropReason::client;  // it had no buffer in time
    return read.delivered() - held_up(read) <= deadline ? DropReason::client : DropReason::late;
}

/// Play has made up for `by` of the times before `at` in which this loop could not run.
void Player::absorb(Duration by, Instant at) {
    if (by <= Duration{}) return;
    place_.absorb(by, at, loop_);
    for (const auto& read : reads_) {
        if (read->reading()) read->absorb(by, at, loop_);
    }
}

/// All later deadlines have moved, by what was waited for until `at`.
void Player::clock_moved(Instant at) {
    absorb(clock_.held_up() - clock_seen_, at);
    clock_seen_ = clock_.held_up();
}

}  // namespace streamsim::play
