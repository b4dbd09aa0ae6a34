#include "play/recorder.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/memory.h"

namespace streamsim::play {

std::uint64_t Recorder::frame_stride(const PlayPath& path, const PlayerOptions& options) {
    return align_up(path.sources().front()->largest_frame_bytes(),
                    std::max<std::uint64_t>(options.alignment, kPageBytes));
}

std::uint64_t Recorder::memory_bytes(const PlayPath& path,
                                     const PlayerOptions& options,
                                     const RecordOptions& record) {
    return frame_stride(path, options) * record.distinct;
}

Recorder::Recorder(const StreamParts& parts, RecordOptions record, std::span<const std::byte> memory)
    : FrameStream(parts),
      index_(*path_.sources().front()),
      record_(std::move(record)),
      stride_(frame_stride(path_, options_)),
      memory_(memory),
      waiting_(options_.readahead) {
    STREAMSIM_CHECK(record_.distinct > 0, "a recorder has a frame to record");
    STREAMSIM_CHECK(options_.on_miss == OnMiss::drop || options_.on_miss == OnMiss::stall,
                    "a recorder has no picture to hold, and no frame to skip");
    STREAMSIM_CHECK(memory.size() >= stride_ * record_.distinct, "a recorder gets its frames");
    FrameWriteOwner& owner = *this;
    // One more than the buffer holds: the next frame is captured while the one that made room is settled.
    for (std::uint32_t i = 0; i <= options_.readahead; ++i) {
        writes_.push_back(std::make_unique<FrameWrite>(storage_, index_, options_, record_.durable, owner));
        idle_.push_back(writes_.back().get());
    }
    make_.kind = PathOp::Kind::make_directory;
    make_.done = Callback::of<&Recorder::directory_made>(this);
    path_of_container_.resize(index_.path_capacity());
    index_.write_path(0, path_of_container_.data());
    open_.path = path_of_container_.data();
    open_.access = Access::create_new;
    open_.done = Callback::of<&Recorder::container_opened>(this);
    sync_.done = Callback::of<&Recorder::container_synced>(this);
    make_.tag = open_.tag = sync_.tag = tag(0, 0);
}

// ---- preroll ----

void Recorder::preroll() {
    begin_preroll();
    prepare_next();
}

/// Creates the next directory, then the container's file.
void Recorder::prepare_next() {
    if (made_ < record_.directories.size()) {
        make_.path = record_.directories[made_].c_str();
        make_.error = 0;
        making_ = true;
        storage_.perform(make_);
        return;
    }
    if (!index_.file_per_frame()) {
        opening_ = true;
        storage_.open(open_);
        return;
    }
    become_ready();
}

/// A directory that could not be created does not stop the stream: each frame fails at its slot.
void Recorder::directory_made() {
    making_ = false;
    ++made_;
    if (state_ == State::prerolling) return prepare_next();
    check_finished();
}

void Recorder::container_opened() {
    opening_ = false;
    shared_ = {open_.error == 0 ? open_.file : kNoFile, open_.error};
    if (open_.error == 0) ledger_.container_opened(open_.completed_at - open_.submitted_at);
    if (state_ != State::prerolling) return check_finished();
    become_ready();
}

void Recorder::play(Instant play_start, Instant series_zero) {
    begin_play(play_start, series_zero);
    arm();
}

// ---- the clock ----

void Recorder::arm() {
    loop_.cancel(timer_);
    timer_ = 0;
    if (stands_) timer_ = loop_.at(loop_.now() + kStallShown, Callback::of<&Recorder::on_stall_timer>(this));
    if (fired_ == options_.slots || stands_) return;
    timer_ = loop_.at(options_.paced ? due(fired_) : play_start_, Callback::of<&Recorder::on_timer>(this));
}

void Recorder::on_timer() {
    timer_ = 0;
    const std::uint64_t before = fired_;
    if (options_.paced) {
        fire_until(loop_.now() + nanoseconds(1));
        arm();
    }
    start_writes();
    check_finished();
    // The loop has looked for completions since they were due.
    const std::uint64_t overdue = before - std::min(before, decided_);
    if (overdue + shown_overdue() > 0 && !over()) show_overdue(overdue, due(decided_));
}

void Recorder::on_stall_timer() {
    timer_ = 0;
    if (stalls(loop_.now())) show_open_stall();
    arm();
}

void Recorder::on_retry() {
    retry_ = 0;
    start_writes();
    check_finished();
}

/// A slot is due: its frame is captured if a buffer slot is free, else the next completion decides whether one
/// was free when the frame was due.
void Recorder::fire_next() {
    const std::uint64_t slot = fired_++;
    ledger_.scheduled();
    if (decided_ == slot && buffered_ < options_.readahead) {
        capture(due(slot), free_buffers());
    } else if (options_.on_miss == OnMiss::stall) {
        stands_ = true;
        show_state(StreamState::waiting);
    }
    show_displayed(fired_, free_buffers());
}

void Recorder::fire_until(Instant end) {
    while (fired_ < options_.slots && !stands_ && due(fired_) < end) fire_next();
}

/// The next slot's frame comes into the buffer.
void Recorder::capture(Instant at, std::uint32_t free_buffers) {
    const std::uint64_t slot = decided_++;
    if (options_.paced) ledger_.buffer_depth(free_buffers, at);
    ++buffered_;
    FrameWrite& write = *idle_.back();
    idle_.pop_back();
    write.take(tag(slot, path_.named(slot).frame), at);
    waiting_[end_waiting_++ % waiting_.size()] = &write;
}

// ---- writing ----

void Recorder::start_writes() {
    if (state_ != State::playing || retry_ != 0) return;
    start_waiting();
    inflight_.settle(may_start());
}

void Recorder::start_waiting() {
    while (inflight_.any_free() && may_start()) {
        if (!options_.paced && submitting_ && first_waiting_ == end_waiting_ && fired_ < options_.slots) {
            ++fired_;
            ledger_.scheduled();
            capture(loop_.now(), 0);
        }
        if (first_waiting_ == end_waiting_) return;
        if (!start_next() && !options_.paced) {
            retry_ = loop_.at(loop_.now() + kRetryPause, Callback::of<&Recorder::on_retry>(this));
            return;
        }
    }
}

/// False: the frame failed at once.
bool Recorder::start_next() {
    FrameWrite& write = *waiting_[first_waiting_++ % waiting_.size()];
    const std::uint64_t frame = write.tag().clip_frame;
    const std::uint64_t bytes = align_up(index_.extent(frame).bytes, options_.alignment);
    const Instant needed = options_.paced ? due(write.tag().slot + options_.readahead) : Instant::never();
    const Instant now = loop_.now();
    write.start(now, inflight_.take(write.outcome().scheduled, now),
                memory_.subspan(frame % record_.distinct * stride_, bytes), needed, shared_);
    if (!write.ended()) return true;
    write_ended(write);
    return false;
}

void Recorder::frame_write_to_sync(FrameWrite& /*write*/) {
    ++to_sync_;
    sync_container();
}

/// Syncs as soon as no write of the container is in flight. A frame that failed needs no sync, and has ended.
void Recorder::sync_container() {
    if (to_sync_ == 0 || syncing_ || to_sync_ < inflight_.taken()) return;
    syncing_ = true;
    sync_.file = shared_.file;
    sync_.error = 0;
    storage_.sync(sync_);
}

void Recorder::container_synced() {
    syncing_ = false;
    to_sync_ = 0;
    std::vector<FrameWrite*>& order = synced_;
    order.clear();
    for (const auto& write : writes_) {
        if (write->waits_for_sync()) order.push_back(write.get());
    }
    std::sort(order.begin(), order.end(),
              [](const FrameWrite* a, const FrameWrite* b) { return a->tag().slot < b->tag().slot; });
    for (FrameWrite* const write : order) write->synced(sync_);
    check_finished();
}

// ---- outcomes ----

Instant Recorder::overdue_since() const {
    const bool waits = state_ == State::playing && decided_ < fired_;  // for a buffer slot
    return waits ? due(decided_) : Instant::never();
}

void Recorder::frame_write_ended(FrameWrite& write) {
    if (state_ == State::interrupted) {
        release(write);  // its slot is settled already
    } else {
        write_ended(write);
        sync_container();
        start_writes();
    }
    check_finished();
}

/// The frame is complete or has failed.
void Recorder::write_ended(FrameWrite& write) {
    inflight_.give(write);
    FrameOutcome& outcome = write.outcome();
    outcome.deadline = give_buffer(write);
    outcome.kind = write.failed() ? FrameKind::failed : FrameKind::on_time;
    if (write.failed()) outcome.failed_at = loop_.now();
    settle(outcome);
    release(write);
}

/// Frees the buffer slot of the frame. Returns the instant at which that slot is needed.
Instant Recorder::give_buffer(const FrameWrite& write) {
    const Instant freed = write.answered();
    if (!options_.paced) {
        --buffered_;
        return Instant::never();
    }
    // Frames that were due before found the buffer as it was, whenever this loop handles them.
    const std::uint64_t fired = fired_;
    fire_until(freed);
    --buffered_;
    Instant needed = Instant::never();
    if (stands_) {
        needed = end_stall(write);
    } else {
        const std::uint64_t first = decided_;
        while (decided_ < fired_ && due(decided_) < freed)
            settle_unwritten(FrameKind::dropped, inflight_.miss_reason(write, due(decided_)));
        if (decided_ > first) absorb(inflight_.saved(decided_ - first), due(decided_ - 1));
        if (decided_ < fired_) {
            needed = due(decided_);
            capture(needed, 1);
        }
    }
    if (fired_ != fired || needed != Instant::never()) arm();
    show_displayed(fired_, free_buffers());
    if (needed != Instant::never()) return needed;
    needed = due(fired_ + free_buffers() - 1);
    // Behind the last slot no frame is captured: as if the clock ran on.
    return needed >= freed ? needed : due(path_.slots_in(freed - play_start_ - clock_shift_));
}

/// The renderer goes on: its frame has a buffer slot now.
Instant Recorder::end_stall(const FrameWrite& write) {
    stands_ = false;
    show_state(StreamState::playing);
    const Instant was_due = due(decided_);
    const Instant end = std::max(write.answered(), was_due);
    if (end > was_due) {
        const bool client = inflight_.miss_reason(write, was_due) == DropReason::client;
        settle_stall(empty_outcome(decided_), was_due, end, client);
    }
    clock_shift_ = clock_shift_ + (end - was_due);
    absorb(end - was_due, end);
    capture(end, 1);
    return end;
}

/// Slots that were not captured, or a stalled clock, have made up for `by` of the times before `at` in which
/// this loop could not run.
void Recorder::absorb(Duration by, Instant at) {
    if (by <= Duration{}) return;
    inflight_.absorb(by, at);
    for (const auto& write : writes_) {
        if (write->writing()) write->absorb(by, at, loop_);
    }
}

/// A slot whose frame was never captured.
FrameOutcome Recorder::unwritten(std::uint64_t slot, FrameKind kind, DropReason reason) const {
    FrameOutcome outcome = empty_outcome(slot);
    outcome.scheduled = outcome.deadline = due(slot);
    outcome.kind = kind;
    outcome.reason = reason;
    return outcome;
}

/// The next slot is not captured.
void Recorder::settle_unwritten(FrameKind kind, DropReason reason) {
    const FrameOutcome outcome = unwritten(decided_++, kind, reason);
    ledger_.buffer_depth(0, outcome.deadline);
    settle(outcome);
}

void Recorder::release(FrameWrite& write) {
    write.release();
    idle_.push_back(&write);
}

// ---- the end ----

void Recorder::stop_submitting() {
    STREAMSIM_CHECK(!options_.paced, "a paced recorder records all its slots");
    submitting_ = false;
    check_finished();
}

void Recorder::interrupt() {
    if (over()) return;
    if (state_ == State::playing && options_.paced) stop_clock(loop_.now());
    loop_.cancel(timer_);
    loop_.cancel(retry_);
    become_interrupted();
    if (making_) storage_.cancel(make_);
    if (opening_) storage_.cancel(open_);
    if (syncing_) storage_.cancel(sync_);
    for (const auto& write : writes_) {
        if (!write->idle()) cancel_write(*write);
    }
    check_finished();
}

/// Settles all slots that are due.
void Recorder::stop_clock(Instant now) {
    const bool stood = stands_;
    fire_until(now + nanoseconds(1));
    if (stalls(now)) {
        // A wait that begins only here began late because this loop could not run.
        const bool client = !stood || reason_by(now, due(decided_)) == DropReason::client;
        settle_stall(empty_outcome(decided_), due(decided_), now, client);
    }
    while (decided_ < fired_) {
        const bool lost = !stands_ && due(decided_) < now;
        settle_unwritten(lost ? FrameKind::dropped : FrameKind::cancelled,
                         lost ? reason_by(now, due(decided_)) : DropReason::none);
    }
}

void Recorder::copy_overdue(DeadlineLedger& copy) {
    if (state_ != State::playing || !options_.paced) return;
    const Instant now = loop_.now();
    for (std::uint64_t slot = decided_; !stands_ && slot < fired_ && due(slot) < now; ++slot)
        copy.overdue(unwritten(slot, FrameKind::dropped, reason_by(now, due(slot))));
    if (stalls(now)) {
        const Instant since = due(decided_);
        copy.overdue_stall(empty_outcome(decided_), since, now, reason_by(now, since) == DropReason::client);
    }
}

/// The reason that the buffer, which is full at `now`, has had no slot since `deadline`.
DropReason Recorder::reason_by(Instant now, Instant deadline) const {
    bool client = inflight_.any_free() && may_start();  // nobody began to write what waits
    for (const auto& write : writes_)
        client |= write->writing() && write->client_delay_until(now, loop_) >= now - deadline;
    return client ? DropReason::client : DropReason::late;
}

void Recorder::cancel_write(FrameWrite& write) {
    FrameOutcome outcome = write.outcome();
    outcome.kind = FrameKind::cancelled;
    outcome.reason = DropReason::none;
    outcome.error = 0;
    outcome.bytes = 0;
    settle(outcome);
    write.cancel();
    const bool in_sync = write.waits_for_sync() && syncing_;  // the answer releases it
    if (!write.outstanding() && !in_sync) release(write);
}

void Recorder::check_finished() {
    const bool all_fired = fired_ == options_.slots || !submitting_;
    const bool all_settled = all_fired && settled_ == fired_;
    if (state_ != State::interrupted && !(state_ == State::playing && all_settled)) return;
    if (making_ || opening_ || syncing_ || idle_.size() < writes_.size()) return;
    if (shared_.file != kNoFile) storage_.close(shared_.file);
    shared_.file = kNoFile;
    finish();
}

}  // namespace streamsim::play
