// The end of a player: at its last slot, or when it is interrupted.
#include "base/check.h"
#include "play/player.h"

namespace streamsim::play {

void Player::stop_submitting() {
    STREAMSIM_CHECK(!options_.paced, "a paced player plays all its slots");
    submitting_ = false;
    abandon_ahead(false);
    advance();
}

void Player::interrupt() {
    if (over()) return;
    const bool played = state_ == State::playing;
    const Instant now = loop_.now();  // one instant judges all: in real time each reading is a later one
    if (played && options_.paced) stop_clock(now);
    loop_.cancel(timer_);
    cancel_window(played, now);
    become_interrupted();
    check_finished();
}

/// Displays all slots that are due; unread ones are missed, under hold too, since nothing reads them any more.
void Player::stop_clock(Instant now) {
    const bool waited = waiting_;
    while (!clock_.stopped() && display_ < options_.slots && due(display_) <= now && display_next()) {
    }
    // Before the clock goes on: what it waited for moves no deadline of the slots before.
    if (options_.on_miss != OnMiss::stall) skip_overdue(now);
    if (waiting_) {
        const Instant since = due(display_);
        // A wait that begins only here began late because this loop could not run.
        if (stalls(now)) settle_stall(empty_outcome(display_), since, now, !waited || stalls_by_client(now));
        clock_.go_on(now - since);
    }
    waiting_ = false;
    others_wait_ = clock_.stopped_for(now);
}

/// The clock stands for a frame that is overdue, and not only for its check or for a jump.
bool Player::stalls(Instant now) const {
    if (!waiting_ || display_ == seek_ || due(display_) >= now) return false;
    const FrameRead* const read = slots_[display_].read;
    return read == nullptr || !came_in_time(*read, due(display_));
}

/// REQUIRES: stalls().
bool Player::stalls_by_client(Instant now) const {
    const FrameRead* const read = slots_[display_].read;
    return read != nullptr && reason_by(now, *read, due(display_)) == DropReason::client;
}

void Player::copy_overdue(DeadlineLedger& copy) {
    if (state_ != State::playing || !options_.paced) return;
    const Instant now = loop_.now();
    for (std::uint64_t slot = next_; past(slot) && due(slot) < now; ++slot)
        copy.overdue(unread(slot, missed_kind(), unread_reason(slot)));
    for (const auto& read : reads_) {
        if (!(read->reading() || read->ended()) || !past(read->tag().slot)) continue;
        const FrameOutcome outcome = open_outcome(*read, true, now);
        if (outcome.kind != FrameKind::cancelled) copy.overdue(outcome);
    }
    if (stalls(now)) copy.overdue_stall(empty_outcome(display_), due(display_), now, stalls_by_client(now));
}

/// Releases the frames that were opened ahead of their reads.
void Player::abandon_ahead(bool cancelled) {
    for (; next_ < ahead_end_; ++next_) {
        abandon(next_);
        if (cancelled && options_.paced) settle_unread(next_, FrameKind::cancelled, DropReason::none);
    }
}

/// Settles all open slots: those whose reads have ended or are in flight, and those without a read.
void Player::cancel_window(bool played, Instant now) {
    abandon_ahead(true);
    for (SourceFile& file : containers_) {
        if (file.opening) storage_.cancel(file.op);
    }
    if (options_.paced) {
        for (; next_ < entered_; ++next_) settle_unread(next_, FrameKind::cancelled, DropReason::none);
    }
    for (const auto& read : reads_) {
        if (read->settled() && played) {
            judge(*read);
        } else if (read->settled()) {
            settle(open_outcome(*read, played, now));
            release(*read);
        } else if (read->reading() || read->ended()) {
            settle(open_outcome(*read, played, now));
            read->cancel();
        } else if (!read->idle()) {
            read->cancel();  // an open that was abandoned
        }
    }
}

/// The frame came by `deadline`, and all that is left to do is its check.
bool Player::came_in_time(const FrameRead& read, Instant deadline) const {
    return read.ended() && options_.decoder == nullptr && read.answered() <= deadline;
}

/// The reason that this frame, which is not complete at `now`, has missed `deadline`.
DropReason Player::reason_by(Instant now, const FrameRead& read, Instant deadline) const {
    if (read.ended()) return miss_reason(read, deadline);
    const bool no_buffer = decoder_behind_ >= read.outcome().scheduled;
    const bool client = no_buffer || read.client_delay_until(now, loop_) >= now - deadline;
    return client ? DropReason::client : DropReason::late;
}

/// The outcome of a slot whose frame does not come any more.
FrameOutcome Player::open_outcome(const FrameRead& read, bool played, Instant now) const {
    FrameOutcome outcome = read.outcome();
    if (!past(outcome.slot)) outcome.deadline = played ? deadline_of(outcome.slot) : Instant::never();
    outcome.delivered = outcome.completed = Instant::never();
    outcome.bytes = 0;
    outcome.reason = DropReason::none;
    outcome.error = 0;
    const ShownFrame named = path_.named(outcome.slot);  // and not the layer that failed
    outcome.clip_frame = named.frame;
    outcome.source = named.source;
    const bool overdue = options_.on_miss != OnMiss::stall && outcome.deadline < now;
    const bool missed = overdue && !came_in_time(read, outcome.deadline);
    outcome.kind = missed ? missed_kind() : FrameKind::cancelled;
    if (missed) outcome.reason = reason_by(now, read, outcome.deadline);
    return outcome;
}

void Player::check_finished() {
    const bool all_settled = settled_ == options_.slots || !submitting_;
    if (state_ != State::interrupted && !(state_ == State::playing && all_settled)) return;
    if (opening_ > 0) return;
    for (const auto& read : reads_) {
        if (!read->idle()) return;
    }
    for (SourceFile& file : containers_) {
        if (file.op.file != kNoFile) storage_.close(file.op.file);
        file.op.file = kNoFile;
    }
    finish();
}

}  // namespace streamsim::play
