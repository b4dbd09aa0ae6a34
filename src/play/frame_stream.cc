#include "play/frame_stream.h"

#include <algorithm>

#include "base/check.h"
#include "base/memory.h"

namespace streamsim::play {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr auto kOrder = std::memory_order_relaxed;

}  // namespace

PlayerOptions fitted(const PlayPath& path, PlayerOptions options) {
    options.io_size = align_up(options.io_size, options.alignment);
    options.io_depth = std::max<std::uint32_t>(options.io_depth, 1);
    const bool streams =
        options.io_size > 0 && path.front_to_back() && !path.sources().front()->file_per_frame();
    if (options.pattern == AccessPattern::streaming && !streams) options.pattern = AccessPattern::on_demand;
    return options;
}

FrameStream::FrameStream(const StreamParts& parts)
    : loop_(parts.loop),
      storage_(parts.storage),
      path_(parts.path),
      options_(fitted(parts.path, parts.options)),
      ledger_(parts.ledger),
      inflight_(parts.loop, parts.options.inflight_slots()),
      progress_(parts.progress),
      changed_(parts.changed) {
    STREAMSIM_CHECK(options_.slots > 0 && options_.readahead > 0 && options_.inflight > 0,
                    "a stream has slots, and memory for its frames");
}

void FrameStream::begin_preroll() {
    STREAMSIM_CHECK(state_ == State::idle, "a stream prerolls once");
    state_ = State::prerolling;
    show_state(StreamState::prerolling);
    preroll_began_ = loop_.now();
}

void FrameStream::become_ready() {
    state_ = State::ready;
    loop_.defer(changed_);
}

void FrameStream::begin_play(Instant play_start, Instant series_zero) {
    STREAMSIM_CHECK(state_ == State::ready, "play begins when preroll is done");
    state_ = State::playing;
    play_start_ = play_start;
    series_zero_ = series_zero;
    ledger_.play_started(preroll_began_, play_start, series_zero);
    progress_.play_start_ns.store((play_start - series_zero).ns, kOrder);
    show_state(StreamState::playing);
}

void FrameStream::become_interrupted() {
    state_ = State::interrupted;
    show_state(StreamState::removed);
}

void FrameStream::finish() {
    loop_.cancel(timer_);
    loop_.cancel(retry_);
    overdue_ = 0;
    show_counts();
    progress_.stalls.store(ledger_.counts().stalls, kOrder);
    if (state_ != State::interrupted) show_state(StreamState::ended);
    state_ = State::finished;
    loop_.defer(changed_);
}

FrameOutcome FrameStream::empty_outcome(std::uint64_t slot) const {
    FrameOutcome outcome;
    outcome.slot = slot;
    const ShownFrame named = path_.named(slot);
    outcome.clip_frame = named.frame;
    outcome.source = named.source;
    return outcome;
}

void FrameStream::settle(const FrameOutcome& outcome) {
    ++settled_;
    ledger_.settle(outcome);
    show_settled(outcome);
}

void FrameStream::settle_stall(const FrameOutcome& frame, Instant from, Instant to, bool client) {
    ledger_.stalled(frame, from, to, client);
    progress_.stalls.store(ledger_.counts().stalls, kOrder);
    const DropReason reason = client ? DropReason::client : DropReason::late;
    progress_.misses.add(
        {(from - series_zero_).ns, frame.slot, FrameKind::dropped, reason, true, frame.clip_frame});
}

void FrameStream::show_displayed(std::uint64_t slots, std::uint32_t buffered) {
    progress_.due.store(slots, kOrder);
    progress_.buffered.store(buffered, kOrder);
}

void FrameStream::show_overdue(std::uint64_t slots, Instant since) {
    overdue_ = slots;
    show_counts();
    if (slots == 0) return;
    const Instant now = loop_.now();
    show_margin(now, since - now);
}

void FrameStream::show_counts() {
    const FrameCounts& counts = ledger_.counts();
    progress_.bytes.store(counts.bytes_read + counts.bytes_written, kOrder);
    progress_.on_time.store(counts.on_time, kOrder);
    progress_.bad.store(counts.dropped + counts.late + counts.failed + overdue_, kOrder);
}

void FrameStream::show_settled(const FrameOutcome& outcome) {
    const bool missed = outcome.kind != FrameKind::on_time && outcome.kind != FrameKind::cancelled;
    if (missed && overdue_ > 0) --overdue_;
    show_counts();
    if (outcome.kind == FrameKind::cancelled) return;
    const Instant came = outcome.came();
    if (!ledger_.waited_for(outcome) && outcome.deadline != Instant::never() && came != Instant::never())
        show_margin(outcome.deadline, outcome.deadline - came);
    if (!missed) return;
    const std::int64_t at_ns = outcome.deadline == Instant::never() ? 0 : (outcome.deadline - series_zero_).ns;
    progress_.misses.add({at_ns, outcome.slot, outcome.kind, outcome.reason, false, outcome.clip_frame});
}

/// The least margin of the last two seconds.
void FrameStream::show_margin(Instant deadline, Duration margin) {
    const std::int64_t second = deadline.ns / kSecond;
    if (second > second_) {
        margin_before_ = second == second_ + 1 ? margin_now_ : INT64_MAX;
        margin_now_ = INT64_MAX;
        second_ = second;
    }
    margin_now_ = std::min(margin_now_, margin.ns);
    margin_min_ = std::min(margin_min_, margin_now_);
    progress_.margin_min_ns.store(margin_min_, kOrder);
    progress_.margin_lately_ns.store(std::min(margin_now_, margin_before_), kOrder);
}

}  // namespace streamsim::play
