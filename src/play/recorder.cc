#include "play/recorder.h"

#include <algorithm>
#include <cerrno>

#include "base/check.h"

namespace streamsim::play {
namespace {

constexpr std::uint64_t kPage = 4096;
/// Rate `max`: how long to wait after a frame that failed at once.
constexpr Duration kAfterFailure = milliseconds(1);

std::uint64_t align_up(std::uint64_t value, std::uint64_t to) {
    return (value + to - 1) / to * to;
}

WriteSettings write_settings(const PlayerOptions& options, const RecordOptions& record) {
    return {.io_size = align_up(options.io_size, options.alignment),
            .io_depth = std::max<std::uint32_t>(options.io_depth, 1),
            .alignment = options.alignment,
            .durable = record.durable};
}

}  // namespace

std::uint64_t Recorder::frame_stride(const PlayPath& path, const PlayerOptions& options) {
    return align_up(path.sources().front()->largest_frame_bytes(),
                    std::max<std::uint64_t>(options.alignment, kPage));
}

std::uint64_t Recorder::memory_bytes(const PlayPath& path,
                                     const PlayerOptions& options,
                                     const RecordOptions& record) {
    return frame_stride(path, options) * record.distinct;
}

Recorder::Recorder(EventLoop& loop,
                   Storage& storage,
                   const PlayPath& path,
                   const PlayerOptions& options,
                   RecordOptions record,
                   DeadlineLedger& ledger,
                   std::span<const std::byte> memory,
                   StreamProgress& progress,
                   Callback changed)
    : loop_(loop),
      storage_(storage),
      path_(path),
      index_(*path.sources().front()),
      options_(options),
      record_(std::move(record)),
      stride_(frame_stride(path, options)),
      ledger_(ledger),
      memory_(memory),
      progress_(progress),
      changed_(changed),
      places_(std::min(options.inflight, options.readahead)),
      settings_(write_settings(options, record_)),
      waiting_(options.readahead) {
    STREAMSIM_CHECK(options.slots > 0 && options.readahead > 0 && options.inflight > 0 && record_.distinct > 0,
                    "a recorder has something to record and room to hold it");
    STREAMSIM_CHECK(options.on_miss != OnMiss::hold, "a recorder has nothing to hold");
    STREAMSIM_CHECK(memory.size() >= stride_ * record_.distinct, "a recorder is given its frames");
    FrameWriteOwner& owner = *this;
    // One more than the buffer holds: the next frame is captured while the one that made room is booked.
    for (std::uint32_t i = 0; i <= options.readahead; ++i)
        writes_.push_back(std::make_unique<FrameWrite>(storage, index_, settings_, owner));
    for (const auto& write : writes_) idle_.push_back(write.get());
    make_.kind = PathOp::Kind::make_directory;
    make_.done = Callback::of<&Recorder::directory_made>(this);
    path_of_container_.resize(index_.path_capacity());
    index_.write_path(0, path_of_container_.data());
    open_.path = path_of_container_.data();
    open_.access = Access::create_new;
    open_.done = Callback::of<&Recorder::container_opened>(this);
    sync_.done = Callback::of<&Recorder::container_synced>(this);
    make_.tag = open_.tag = sync_.tag = {options.seat, options.stream, 0, 0};
}

Recorder::~Recorder() = default;

// ---- preroll ----

void Recorder::preroll() {
    STREAMSIM_CHECK(state_ == State::idle, "a recorder prerolls once");
    state_ = State::prerolling;
    progress_.state(StreamState::prerolling);
    preroll_began_ = loop_.now();
    make_next();
}

/// The next directory, then the container's file.
void Recorder::make_next() {
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
    state_ = State::ready;
    loop_.defer(changed_);
}

/// One that could not be made is no reason to stop: each frame says so at its slot.
void Recorder::directory_made() {
    making_ = false;
    ++made_;
    if (state_ == State::prerolling) return make_next();
    check_finished();
}

void Recorder::container_opened() {
    opening_ = false;
    shared_ = {open_.error == 0 ? open_.file : kNoFile, open_.error};
    if (open_.error == 0) ledger_.container_opened(open_.completed_at - open_.submitted_at);
    if (state_ != State::prerolling) return check_finished();
    state_ = State::ready;
    loop_.defer(changed_);
}

void Recorder::play(Instant play_start, Instant series_zero) {
    STREAMSIM_CHECK(state_ == State::ready, "play begins when preroll is done");
    state_ = State::playing;
    play_start_ = play_start;
    ledger_.play_started(preroll_began_, play_start, series_zero);
    progress_.play_started(play_start, series_zero);
    arm();
}

// ---- the clock ----

void Recorder::arm() {
    loop_.cancel(timer_);
    timer_ = 0;
    if (fired_ == options_.slots || stands_) return;
    timer_ = loop_.at(options_.paced ? due(fired_) : play_start_, Callback::of<&Recorder::on_timer>(this));
}

void Recorder::on_timer() {
    timer_ = 0;
    if (options_.paced) {
        const Instant now = loop_.now();
        while (fired_ < options_.slots && !stands_ && due(fired_) <= now) fire_next();
        arm();
    }
    pump();
    check_finished();
}

void Recorder::on_retry() {
    retry_ = 0;
    pump();
    check_finished();
}

/// A slot is due: its frame is captured if there is a place for it, else it waits for what the next completion
/// says about the instant at which it was due.
void Recorder::fire_next() {
    const std::uint64_t slot = fired_++;
    ledger_.scheduled();
    if (decided_ == slot && buffered_ < options_.readahead) {
        capture(due(slot), options_.readahead - buffered_);
    } else if (options_.on_miss == OnMiss::stall) {
        stands_ = true;
        progress_.state(StreamState::waiting);
    }
    progress_.displayed(fired_, options_.readahead - buffered_);
}

/// The next slot's frame comes into the buffer.
void Recorder::capture(Instant at, std::uint32_t free_places) {
    const std::uint64_t slot = decided_++;
    if (options_.paced) ledger_.buffer_depth(free_places, at);
    ++buffered_;
    FrameWrite& write = *idle_.back();
    idle_.pop_back();
    write.take({options_.seat, options_.stream, slot, path_.named(slot).frame}, at);
    waiting_[end_waiting_++ % waiting_.size()] = &write;
}

// ---- writing ----

void Recorder::pump() {
    if (state_ != State::playing || retry_ != 0) return;
    start_waiting();
    place_.left(in_flight_ < places_ && may_start(), loop_.now());
}

void Recorder::start_waiting() {
    while (in_flight_ < places_ && may_start()) {
        if (!options_.paced && submitting_ && first_waiting_ == end_waiting_ && fired_ < options_.slots) {
            ++fired_;
            ledger_.scheduled();
            capture(loop_.now(), 0);
        }
        if (first_waiting_ == end_waiting_) return;
        if (!start_next() && !options_.paced) {
            // Frames that fail at once must not keep the loop from its other work.
            retry_ = loop_.at(loop_.now() + kAfterFailure, Callback::of<&Recorder::on_retry>(this));
            return;
        }
    }
}

bool Recorder::may_start() const {
    return to_sync_ == 0 && !syncing_;
}

/// False: the frame failed at once.
bool Recorder::start_next() {
    FrameWrite& write = *waiting_[first_waiting_++ % waiting_.size()];
    ++in_flight_;
    const std::uint64_t frame = write.tag().clip_frame;
    const std::uint64_t bytes = align_up(index_.extent(frame).bytes, options_.alignment);
    const Instant needed = options_.paced ? due(write.tag().slot + options_.readahead) : Instant::never();
    write.start(loop_.now(), place_, memory_.subspan(frame % record_.distinct * stride_, bytes), needed,
                shared_);
    if (!write.ended()) return true;
    ended(write);
    return false;
}

void Recorder::frame_write_to_sync(FrameWrite& /*write*/) {
    ++to_sync_;
    sync_container();
}

/// As soon as no write of the container is under way. A frame that failed has nothing to sync, and has left.
void Recorder::sync_container() {
    if (to_sync_ == 0 || syncing_ || to_sync_ < in_flight_) return;
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

// ---- what became of the frames ----

void Recorder::frame_write_ended(FrameWrite& write) {
    if (state_ == State::interrupted) {
        release(write);  // it is booked already
    } else {
        ended(write);
        sync_container();
        pump();
    }
    check_finished();
}

/// The frame is complete or has failed.
void Recorder::ended(FrameWrite& write) {
    --in_flight_;
    place_.freed(write.failed() ? loop_.now() : write.not_before(), held_up(write));
    if (!write.failed()) inflight_time_.note(write.outcome().submitted, write.freed(), loop_);
    FrameOutcome& outcome = write.outcome();
    outcome.deadline = give_place(write, write.freed());
    outcome.kind = write.failed() ? FrameKind::failed : FrameKind::on_time;
    settle(outcome);
    release(write);
}

/// Its place in the buffer is free since `freed`. The instant at which that is needed.
Instant Recorder::give_place(const FrameWrite& write, Instant freed) {
    if (!options_.paced) {
        --buffered_;
        return Instant::never();
    }
    // What was due before found the buffer as it was, whenever this loop came to look.
    const std::uint64_t fired = fired_;
    while (fired_ < options_.slots && !stands_ && due(fired_) < freed) fire_next();
    --buffered_;
    Instant needed = Instant::never();
    if (stands_) {
        needed = end_stall(write, freed);
    } else {
        const std::uint64_t first = decided_;
        while (decided_ < fired_ && due(decided_) < freed)
            book_unwritten(FrameKind::dropped, blame(write, freed, due(decided_)));
        if (decided_ > first) absorb(inflight_time_.saved(decided_ - first, places_), due(decided_ - 1));
        if (decided_ < fired_) {
            needed = due(decided_);
            capture(needed, 1);
        }
    }
    if (fired_ != fired || needed != Instant::never()) arm();
    progress_.displayed(fired_, options_.readahead - buffered_);
    if (needed != Instant::never()) return needed;
    needed = due(fired_ + options_.readahead - buffered_ - 1);
    // Behind the last slot nothing is captured any more: as if the clock ran on.
    return needed >= freed ? needed : due(path_.slots_in(freed - play_start_ - held_up_));
}

/// The renderer goes on: its frame has a place, from now on.
Instant Recorder::end_stall(const FrameWrite& write, Instant freed) {
    stands_ = false;
    progress_.state(StreamState::playing);
    const Instant was_due = due(decided_);
    const Instant end = std::max(freed, was_due);
    if (end > was_due) {
        FrameOutcome outcome;
        outcome.slot = decided_;
        outcome.clip_frame = path_.named(decided_).frame;
        const bool client = blame(write, freed, was_due) == DropReason::client;
        ledger_.stalled(outcome, was_due, end, client);
        progress_.stalled(decided_, was_due, client, ledger_);
    }
    held_up_ = held_up_ + (end - was_due);
    absorb(end - was_due, end);
    capture(end, 1);
    return end;
}

/// Slots that were not captured, or a stalled clock, have made up for `by` of the times before `at` in which
/// this loop could not run.
void Recorder::absorb(Duration by, Instant at) {
    if (by <= Duration{}) return;
    place_.absorb(by, at, loop_);
    for (const auto& write : writes_) {
        if (write->writing()) write->absorb(by, at, loop_);
    }
}

/// Who is to blame that `write` made room after `needed` only: see the head of recorder.h.
DropReason Recorder::blame(const FrameWrite& write, Instant freed, Instant needed) const {
    if (write.not_before() <= needed) return DropReason::client;
    return freed - held_up(write) <= needed ? DropReason::client : DropReason::late;
}

/// The next slot, whose frame was never captured.
void Recorder::book_unwritten(FrameKind kind, DropReason reason) {
    FrameOutcome outcome;
    outcome.slot = decided_++;
    outcome.clip_frame = path_.named(outcome.slot).frame;
    outcome.scheduled = outcome.deadline = due(outcome.slot);
    outcome.kind = kind;
    outcome.reason = reason;
    ledger_.buffer_depth(0, outcome.deadline);
    settle(outcome);
}

void Recorder::settle(const FrameOutcome& outcome) {
    ++settled_;
    ledger_.settle(outcome);
    progress_.settled(outcome, ledger_);
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
    if (state_ == State::interrupted || state_ == State::finished) return;
    const Instant now = loop_.now();
    if (state_ == State::playing && options_.paced) {
        while (fired_ < options_.slots && !stands_ && due(fired_) <= now) fire_next();
        if (stands_) {
            FrameOutcome outcome;
            outcome.slot = decided_;
            outcome.clip_frame = path_.named(decided_).frame;
            if (now > due(decided_)) ledger_.stalled(outcome, due(decided_), now, false);
        }
        while (decided_ < fired_) {
            const bool lost = !stands_ && due(decided_) < now;
            book_unwritten(lost ? FrameKind::dropped : FrameKind::cancelled,
                           lost ? DropReason::late : DropReason::none);
        }
    }
    loop_.cancel(timer_);
    loop_.cancel(retry_);
    state_ = State::interrupted;
    progress_.state(StreamState::removed);
    if (making_) storage_.cancel(make_);
    if (opening_) storage_.cancel(open_);
    if (syncing_) storage_.cancel(sync_);
    for (const auto& write : writes_) {
        if (write->idle()) continue;
        FrameOutcome outcome = write->outcome();
        outcome.kind = FrameKind::cancelled;
        outcome.reason = DropReason::none;
        outcome.error = 0;
        outcome.bytes = 0;
        settle(outcome);
        write->cancel();
        const bool in_sync = write->waits_for_sync() && syncing_;  // the answer lets go of it
        if (!write->outstanding() && !in_sync) release(*write);
    }
    check_finished();
}

void Recorder::check_finished() {
    const bool all_fired = fired_ == options_.slots || !submitting_;
    const bool all_settled = all_fired && settled_ == fired_;
    if (state_ != State::interrupted && !(state_ == State::playing && all_settled)) return;
    if (making_ || opening_ || syncing_ || idle_.size() < writes_.size()) return;
    loop_.cancel(timer_);
    loop_.cancel(retry_);
    if (shared_.file != kNoFile) storage_.close(shared_.file);
    shared_.file = kNoFile;
    if (state_ != State::interrupted) progress_.state(StreamState::ended);
    state_ = State::finished;
    loop_.defer(changed_);
}

}  // namespace streamsim::play
