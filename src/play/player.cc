#include "play/player.h"

#include <algorithm>
#include <cerrno>

#include "base/check.h"

namespace streamsim::play {
namespace {

constexpr Duration kTick = nanoseconds(1);
/// Rate `max`: how long to wait after a frame that failed at once.
constexpr Duration kAfterFailure = milliseconds(1);
/// Opens that may outlive their frames' deadlines (a metadata server that hangs) without holding up other
/// frames.
constexpr std::uint32_t kSlowOpens = 32;

bool any_sequence(const PlayPath& path) {
    return std::any_of(path.sources().begin(), path.sources().end(),
                       [](const auto& source) { return source->file_per_frame(); });
}

ReadSettings read_settings(const PlayPath& path, const PlayerOptions& options) {
    ReadSettings settings;
    settings.io_size = options.io_size;
    if (settings.io_size > 0) {
        settings.io_size = (options.io_size + options.alignment - 1) / options.alignment * options.alignment;
    }
    settings.io_depth = std::max<std::uint32_t>(options.io_depth, 1);
    settings.alignment = options.alignment;
    settings.streaming = options.pattern == AccessPattern::streaming && settings.io_size > 0 &&
                         path.front_to_back() && !any_sequence(path);
    return settings;
}

std::uint32_t places_of(const PlayerOptions& options) {
    return std::min(options.inflight, options.readahead);
}

/// The window and the places; without deadlines nothing waits to be shown.
std::uint32_t buffers_of(const PlayerOptions& options) {
    return places_of(options) + (options.paced ? options.readahead : 0);
}

}  // namespace

std::uint64_t Player::memory_bytes(const PlayPath& path, const PlayerOptions& options) {
    return frame_buffer_bytes(slot_needs(path), read_settings(path, options)) * buffers_of(options);
}

Player::Player(EventLoop& loop,
               Storage& storage,
               const PlayPath& path,
               const PlayerOptions& options,
               DeadlineLedger& ledger,
               std::span<std::byte> memory,
               StreamProgress& progress,
               Callback changed)
    : loop_(loop),
      storage_(storage),
      path_(path),
      options_(options),
      needs_(slot_needs(path)),
      read_settings_(read_settings(path, options)),
      ledger_(ledger),
      progress_(progress),
      changed_(changed),
      places_(places_of(options)),
      own_clock_(loop),
      clock_(options.clock != nullptr ? *options.clock : own_clock_),
      slot_reads_(path),
      ahead_(options.readahead),
      window_(options.readahead),
      containers_(path.sources().size()),
      entries_(options.readahead) {
    STREAMSIM_CHECK(options.slots > 0 && options.readahead > 0 && options.inflight > 0,
                    "a player has something to play and room to play it");
    const std::uint64_t frame_bytes = frame_buffer_bytes(needs_, read_settings_);
    const std::uint32_t buffers = buffers_of(options);
    STREAMSIM_CHECK(memory.size() >= frame_bytes * buffers, "a player is given the memory it asked for");
    for (std::uint32_t i = 0; i < buffers; ++i)
        buffers_.push_back(memory.subspan(i * frame_bytes, frame_bytes));
    FrameReadOwner& owner = *this;
    const std::uint32_t reads = options.readahead + places_ + (any_sequence(path) ? kSlowOpens : 0);
    for (std::uint32_t i = 0; i < reads; ++i) {
        reads_.push_back(std::make_unique<FrameRead>(storage, path, needs_, read_settings_, owner));
    }
    for (const auto& read : reads_) idle_.push_back(read.get());
    shown_.reserve(path.shown_max());
    for (std::size_t i = 0; i < containers_.size(); ++i) {
        const FrameIndex& source = *path.sources()[i];
        if (source.file_per_frame()) continue;
        SourceFile& file = containers_[i];
        file.path.resize(source.path_capacity());
        source.write_path(0, file.path.data());
        file.op.path = file.path.data();
        file.op.tag = {options.seat, options.stream, 0, 0};
        file.owner = &owner;
        file.op.done = Callback::of<&SourceFile::finished>(&file);
    }
    if (options.clock != nullptr) clock_.add_member(Callback::of<&Player::clock_goes_on>(this));
}

Player::~Player() = default;

// ---- preroll ----

void Player::preroll() {
    STREAMSIM_CHECK(state_ == State::idle, "a player prerolls once");
    state_ = State::prerolling;
    progress_.state(StreamState::prerolling);
    preroll_began_ = loop_.now();
    want_sources(0);
    if (options_.paced) enter_until(options_.readahead);
    advance();
}

/// Opens the containers that the slot reads from, if nothing did before; they stay open.
void Player::want_sources(std::uint64_t slot) {
    if (all_wanted_) return;
    path_.shown(slot, shown_);
    for (const ShownFrame& shown : shown_) {
        SourceFile& file = containers_[shown.source];
        if (file.path.empty() || file.wanted) continue;
        file.wanted = file.opening = true;
        ++opening_;
        storage_.open(file.op);
    }
    all_wanted_ = std::all_of(containers_.begin(), containers_.end(),
                              [](const SourceFile& file) { return file.path.empty() || file.wanted; });
}

bool Player::sources_open(std::uint64_t slot) {
    if (opening_ == 0) return true;
    path_.shown(slot, shown_);
    return std::none_of(shown_.begin(), shown_.end(),
                        [this](const ShownFrame& shown) { return containers_[shown.source].opening; });
}

void Player::container_opened(SourceFile& file) {
    file.opening = false;
    --opening_;
    if (file.op.error == 0) ledger_.container_opened(file.op.completed_at - file.op.submitted_at);
    advance();
}

void Player::check_ready() {
    if (state_ != State::prerolling || opening_ > 0) return;
    if (options_.paced && prerolled_ < entered_) return;
    state_ = State::ready;
    loop_.defer(changed_);
}

void Player::play(Instant play_start, Instant series_zero) {
    STREAMSIM_CHECK(state_ == State::ready, "play begins when preroll is done");
    state_ = State::playing;
    play_start_ = play_start;
    ledger_.play_started(preroll_began_, play_start, series_zero);
    progress_.play_started(play_start, series_zero);
    if (options_.paced) {
        arm();
    } else {
        timer_ = loop_.at(play_start, Callback::of<&Player::advance>(this));
    }
    advance();
}

// ---- the window ----

/// What every event ends with: reads that can start do, the clock goes on if what it stood for has come.
void Player::advance() {
    if (state_ == State::interrupted || state_ == State::finished) {
        check_finished();
        return;
    }
    pump();
    while (waiting_ && window(display_) != nullptr && window(display_)->settled()) {
        end_wait(*window(display_));
        run_clock();
        pump();
    }
    check_ready();
    check_finished();
}

Instant Player::deadline_of(std::uint64_t slot) const {
    return options_.paced ? due(slot) : Instant::never();
}

Instant Player::scheduled_at(std::uint64_t slot) const {
    if (!options_.paced) return loop_.now();
    const Entry& entry = entries_[slot % entries_.size()];
    return entry.slot == slot ? entry.at : entry_time(slot);  // a slot that is long past has lost its entry
}

Instant Player::entry_time(std::uint64_t slot) const {
    const Instant zero = play_start_ + clock_.held_up();
    Instant at = preroll_began_;
    if (slot >= options_.readahead) at = zero + path_.due(slot - options_.readahead);
    if (seek_ <= slot) at = std::max(at, zero + path_.due(seek_));  // nobody knew of it before
    return at;
}

void Player::enter_until(std::uint64_t end) {
    end = std::min(end, options_.slots);
    for (; entered_ < end; ++entered_) {
        if (options_.paced && entered_ != seek_ && path_.sought(entered_)) return;
        if (options_.paced) ledger_.scheduled();
        want_sources(entered_);
        entries_[entered_ % entries_.size()] = {entered_, entry_time(entered_)};
    }
}

void Player::pump() {
    const bool playing = state_ == State::playing;
    if (!playing && (state_ != State::prerolling || !options_.paced)) return;
    if (!options_.paced && loop_.now() < play_start_) return;
    bool blocked = false;
    for (;;) {
        if (!options_.paced && submitting_) enter_until(next_ + options_.readahead);
        if (playing && options_.paced && options_.on_miss == OnMiss::drop) pass_over(loop_.now());
        if (in_flight_ >= places_ || next_ >= entered_ || !submitting_) break;
        if (!sources_open(next_)) {
            blocked = true;
            break;
        }
        if (!can_start()) {
            if (options_.decoder != nullptr) decoder_behind_ = loop_.now();
            blocked = options_.decoder == nullptr;
            break;
        }
        if (!start_next() && !options_.paced) {
            // Frames that fail at once must not keep the loop from its other work.
            if (retry_ == 0) retry_ = loop_.at(loop_.now() + kAfterFailure, Callback::of<&Player::retry>(this));
            break;
        }
    }
    place_.left(in_flight_ < places_ && !blocked, loop_.now());
    open_ahead();
}

void Player::retry() {
    retry_ = 0;
    advance();
}

/// There is a buffer for each place and for each frame of the window; only a decoder that does not keep up, or
/// opens that hang, can hold more.
bool Player::can_start() {
    return !buffers_.empty() && (next_ < ahead_end_ || !idle_.empty());
}

void Player::release(FrameRead& read) {
    if (!read.buffer().empty()) buffers_.push_back(read.buffer());
    read.release();
    idle_.push_back(&read);
}

/// False: the frame failed at once.
bool Player::start_next() {
    const std::uint64_t slot = next_++;
    FrameRead* read = nullptr;
    if (slot < ahead_end_) {
        read = ahead(slot);
        ahead(slot) = nullptr;
    } else {
        ahead_end_ = next_;
        read = &idle_read();
        take(*read, slot);
    }
    ++in_flight_;
    if (!options_.paced) ledger_.scheduled();
    if (options_.paced && !past(slot)) window(slot) = read;
    if (read->tag().clip_frame == 0) tail_ = StreamTail{};  // each pass reads everything anew
    if (state_ == State::playing) read->outcome().deadline = deadline_of(slot);
    const std::span<std::byte> buffer = buffers_.back();
    buffers_.pop_back();
    read->start(loop_.now(), place_, buffer, containers_, tail_);
    if (!read->ended()) return true;
    ended(*read);
    return false;
}

void Player::take(FrameRead& read, std::uint64_t slot) {
    const ShownFrame named = path_.named(slot);
    read.take({options_.seat, options_.stream, slot, named.frame}, scheduled_at(slot), slot_reads_);
    read.outcome().source = named.source;
    read.outcome().sought = options_.paced && path_.sought(slot);
}

void Player::open_ahead() {
    if (options_.pattern != AccessPattern::filename_prefetch || needs_.files == 0 || !submitting_) return;
    const std::uint64_t end = std::min(entered_, next_ + options_.readahead);
    for (; ahead_end_ < end; ++ahead_end_) {
        if (idle_.empty()) return;
        FrameRead& read = idle_read();
        const std::uint64_t slot = ahead_end_;
        take(read, slot);
        read.open_ahead();
        ahead(slot) = &read;
    }
}

/// Passes over a slot whose files were opened ahead.
void Player::abandon(std::uint64_t slot) {
    FrameRead& read = *ahead(slot);
    ahead(slot) = nullptr;
    read.abandon();
    if (read.idle()) idle_.push_back(&read);
}

// ---- the clock ----

void Player::arm() {
    loop_.cancel(timer_);
    timer_ = 0;
    if (display_ < options_.slots) {
        timer_ = loop_.at(due(display_), Callback::of<&Player::on_timer>(this));
    } else if (settled_ < options_.slots) {
        // What is still unread at the last deadline is judged just after it.
        timer_ = loop_.at(due(options_.slots - 1) + kTick, Callback::of<&Player::advance>(this));
    }
}

void Player::on_timer() {
    timer_ = 0;
    run_clock();
    advance();
}

void Player::run_clock() {
    if (clock_.stands()) return;
    const Instant now = loop_.now();
    while (display_ < options_.slots && due(display_) <= now) {
        if (!display_next()) return;  // no timer: the frame itself starts the clock again
    }
    arm();
}

/// Puts the next slot's frame on display. False: the clock has to stand still for it.
bool Player::display_next() {
    const std::uint64_t slot = display_;
    const bool sought = slot != seek_ && path_.sought(slot);
    if (sought) {
        seek_ = slot;
        enter_until(slot + options_.readahead);
    }
    FrameRead* read = slot < next_ ? window(slot) : nullptr;
    const bool there = read != nullptr && read->settled();
    if (!there && (sought || options_.on_miss == OnMiss::stall)) {
        waiting_ = true;
        progress_.state(StreamState::waiting);
        clock_.hold();
        return false;
    }
    ++display_;
    if (read != nullptr) window(slot) = nullptr;
    if (there) {
        if (!read->failed()) --buffered_;
        book(*read);
    }
    // Towards the end there are fewer frames left than the window holds: that is no sign of anything.
    const bool draining = display_ + options_.readahead > options_.slots && options_.slots > options_.readahead;
    if (!draining) ledger_.buffer_depth(buffered_, due(slot));
    progress_.displayed(display_, buffered_);
    enter_until(display_ + options_.readahead);
    return true;
}

/// The frame that the clock stands still for has ended (complete or failed).
void Player::end_wait(const FrameRead& read) {
    waiting_ = false;
    progress_.state(StreamState::playing);
    const Instant was_due = due(display_);
    const Instant end = std::max(read.failed() ? loop_.now() : read.outcome().completed, was_due);
    STREAMSIM_CHECK(end != Instant::never(), "what the clock stands for is decoded");
    if (display_ == seek_) {
        ledger_.sought(read.outcome(), was_due, end);
    } else if (end > was_due) {
        const bool client = !read.failed() && blame(read, was_due) == DropReason::client;
        ledger_.stalled(read.outcome(), was_due, end, client);
        progress_.stalled(display_, was_due, client, ledger_);
    }
    clock_.go_on(end - was_due);
    clock_moved(end);
}

/// A shared clock goes on after somebody's wait.
void Player::clock_goes_on() {
    clock_moved(loop_.now());
    if (state_ != State::playing || !options_.paced || waiting_) return;
    run_clock();
    advance();
}

// ---- what became of the frames ----

void Player::frame_read_ended(FrameRead& read) {
    if (state_ == State::interrupted) {
        release(read);  // it is booked already
    } else {
        ended(read);
    }
    advance();
}

void Player::frame_decoded(FrameRead& read) {
    if (state_ == State::interrupted) {
        release(read);  // it is booked already
    } else {
        settled(read);
    }
    advance();
}

/// A read has ended: its place is free.
void Player::ended(FrameRead& read) {
    --in_flight_;
    place_.freed(read.failed() ? loop_.now() : read.not_before(), held_up(read));
    if (!read.failed()) inflight_time_.note(read.outcome().submitted, read.delivered(), loop_);
    if (options_.decoder != nullptr && !read.failed()) {
        // A player that drops does not decode what it can no longer show.
        const bool skips = options_.on_miss == OnMiss::drop && state_ == State::playing && options_.paced;
        const Instant first_due = play_start_ + path_.due(read.tag().slot);
        read.decode(*options_.decoder, skips ? first_due : Instant::never(), clock_.later_ns());
    } else {
        settled(read);
    }
}

/// The frame is complete or has failed. It is booked now if its slot is past, else when it goes on display.
void Player::settled(FrameRead& read) {
    if (state_ == State::prerolling) ++prerolled_;
    if (!options_.paced || past(read.tag().slot)) {
        book(read);
    } else if (!read.failed()) {
        ++buffered_;
        progress_.displayed(display_, buffered_);
    }
}

/// REQUIRES: the read is settled.
void Player::book(FrameRead& read) {
    FrameOutcome& outcome = read.outcome();
    outcome.deadline = deadline_of(outcome.slot);
    if (read.failed()) {
        outcome.kind = FrameKind::failed;
    } else if (judge_on_time(outcome.deadline, outcome.completed)) {
        outcome.kind = FrameKind::on_time;
    } else {
        outcome.kind = options_.on_miss == OnMiss::hold ? FrameKind::late : FrameKind::dropped;
        outcome.reason = blame(read, outcome.deadline);
    }
    settle(outcome);
    release(read);
}

FrameOutcome Player::unread(std::uint64_t slot) const {
    FrameOutcome outcome;
    outcome.slot = slot;
    const ShownFrame named = path_.named(slot);
    outcome.clip_frame = named.frame;
    outcome.source = named.source;
    return outcome;
}

void Player::book_unread(std::uint64_t slot, FrameKind kind, DropReason reason) {
    FrameOutcome outcome = unread(slot);
    outcome.kind = kind;
    outcome.reason = reason;
    if (ledger_.play_start() != Instant::never()) {
        outcome.scheduled = scheduled_at(slot);
        outcome.deadline = deadline_of(slot);
    }
    settle(outcome);
}

void Player::settle(const FrameOutcome& outcome) {
    ++settled_;
    ledger_.settle(outcome);
    progress_.settled(outcome, ledger_);
}

// ---- the end ----

void Player::stop_submitting() {
    STREAMSIM_CHECK(!options_.paced, "a paced player plays all its slots");
    submitting_ = false;
    abandon_ahead(false);
    advance();
}

void Player::interrupt() {
    if (state_ == State::interrupted || state_ == State::finished) return;
    const bool played = state_ == State::playing;
    if (played && options_.paced) {
        const Instant now = loop_.now();
        if (waiting_) {
            if (display_ != seek_) ledger_.stalled(unread(display_), due(display_), now, false);
        } else if (!clock_.stands()) {
            while (display_ < options_.slots && due(display_) <= now && display_next()) {
            }
        }
        if (waiting_) clock_.go_on(now - due(display_));
        waiting_ = false;
        if (options_.on_miss == OnMiss::drop) pass_over(now);
    }
    loop_.cancel(timer_);
    cancel_window(played);
    state_ = State::interrupted;
    progress_.state(StreamState::removed);
    check_finished();
}

/// Lets go of the frames that were opened ahead of their reads.
void Player::abandon_ahead(bool cancelled) {
    for (; next_ < ahead_end_; ++next_) {
        abandon(next_);
        if (cancelled && options_.paced) book_unread(next_, FrameKind::cancelled, DropReason::none);
    }
}

/// Books everything that is not settled: reads that have ended or are under way, and slots without a read.
void Player::cancel_window(bool played) {
    abandon_ahead(true);
    if (options_.paced) {
        for (; next_ < entered_; ++next_) book_unread(next_, FrameKind::cancelled, DropReason::none);
    }
    for (const auto& read : reads_) {
        if (read->settled() && played) {
            book(*read);
        } else if (read->settled()) {
            cancel_read(*read, played);
            release(*read);
        } else if (read->reading() || read->ended()) {
            cancel_read(*read, played);
            read->cancel();
        } else if (!read->idle()) {
            read->cancel();  // an open that was abandoned
        }
    }
}

void Player::cancel_read(FrameRead& read, bool played) {
    FrameOutcome outcome = read.outcome();
    outcome.deadline = played ? deadline_of(outcome.slot) : Instant::never();
    outcome.delivered = outcome.completed = Instant::never();
    outcome.bytes = 0;
    outcome.error = 0;
    const bool missed = options_.on_miss == OnMiss::drop && outcome.deadline < loop_.now();
    outcome.kind = missed ? FrameKind::dropped : FrameKind::cancelled;
    if (missed) {
        const Instant now = loop_.now();
        const bool client = read.held_up().until(now, loop_) >= now - outcome.deadline;
        outcome.reason = client ? DropReason::client : DropReason::late;
    }
    settle(outcome);
}

void Player::check_finished() {
    const bool all_settled = settled_ == options_.slots || !submitting_;
    if (state_ != State::interrupted && !(state_ == State::playing && all_settled)) return;
    if (opening_ > 0) return;
    for (const auto& read : reads_) {
        if (!read->idle()) return;
    }
    loop_.cancel(timer_);
    loop_.cancel(retry_);
    for (SourceFile& file : containers_) {
        if (file.op.file != kNoFile) storage_.close(file.op.file);
        file.op.file = kNoFile;
    }
    if (state_ != State::interrupted) progress_.state(StreamState::ended);
    state_ = State::finished;
    loop_.defer(changed_);
}

}  // namespace streamsim::play
