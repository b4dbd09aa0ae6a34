#include "play/stream_base.h"

#include "base/check.h"

namespace streamsim::play {

StreamBase::StreamBase(EventLoop& loop,
                       Storage& storage,
                       const PlayPath& path,
                       const PlayerOptions& options,
                       DeadlineLedger& ledger,
                       StreamProgress& progress,
                       Callback changed)
    : loop_(loop),
      storage_(storage),
      path_(path),
      options_(options),
      ledger_(ledger),
      progress_(progress),
      inflight_(loop, options.inflight_slots()),
      changed_(changed) {
    STREAMSIM_CHECK(options.slots > 0 && options.readahead > 0 && options.inflight > 0,
                    "a stream has slots, and memory for its frames");
}

void StreamBase::begin_preroll() {
    STREAMSIM_CHECK(state_ == State::idle, "a stream prerolls once");
    state_ = State::prerolling;
    progress_.state(StreamState::prerolling);
    preroll_began_ = loop_.now();
}

void StreamBase::become_ready() {
    state_ = State::ready;
    loop_.defer(changed_);
}

void StreamBase::begin_play(Instant play_start, Instant series_zero) {
    STREAMSIM_CHECK(state_ == State::ready, "play begins when preroll is done");
    state_ = State::playing;
    play_start_ = play_start;
    ledger_.play_started(preroll_began_, play_start, series_zero);
    progress_.play_started(play_start, series_zero);
}

void StreamBase::become_interrupted() {
    state_ = State::interrupted;
    progress_.state(StreamState::removed);
}

void StreamBase::finish() {
    loop_.cancel(timer_);
    loop_.cancel(retry_);
    if (state_ != State::interrupted) progress_.state(StreamState::ended);
    state_ = State::finished;
    loop_.defer(changed_);
}

FrameOutcome StreamBase::empty_outcome(std::uint64_t slot) const {
    FrameOutcome outcome;
    outcome.slot = slot;
    const ShownFrame named = path_.named(slot);
    outcome.clip_frame = named.frame;
    outcome.source = named.source;
    return outcome;
}

void StreamBase::settle(const FrameOutcome& outcome) {
    ++settled_;
    ledger_.settle(outcome);
    progress_.settled(outcome, ledger_);
}

void StreamBase::settle_stall(const FrameOutcome& frame, Instant from, Instant to, bool client) {
    ledger_.stalled(frame, from, to, client);
    progress_.stalled(frame.slot, from, client, ledger_);
}

}  // namespace streamsim::play
