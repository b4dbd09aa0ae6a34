#include "play/player.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace streamsim::play {
namespace {

constexpr Duration kTick = nanoseconds(1);
/// Opens that may outlive their frames' deadlines (a metadata server that hangs) without delaying other frames.
constexpr std::uint32_t kSlowOpens = 32;

/// The in-flight slots and the window; without deadlines no frame waits to be shown.
std::uint32_t buffers_of(const PlayerOptions& options) {
    return options.inflight_slots() + (options.paced ? options.readahead : 0);
}

}  // namespace

std::uint64_t Player::memory_bytes(const PlayPath& path, const PlayerOptions& options) {
    return frame_buffer_bytes(slot_needs(path), fitted(path, options)) * buffers_of(options);
}

Player::Player(const StreamParts& parts, std::span<std::byte> memory)
    : FrameStream(parts),
      clock_(options_.clock != nullptr ? *options_.clock : own_clock_),
      seeks_(path_.seeks()),
      opens_files_(slot_needs(path_).files > 0),
      steady_(path_.steady()),
      rate_(path_.rate()),
      pass_end_(path_.pass_slots()),
      slots_(options_.readahead),
      containers_(path_.sources().size()),
      slot_reads_(path_),
      own_clock_(loop_),
      times_(inflight_.count()) {
    const SlotNeeds& needs = slot_needs(path_);
    const std::uint64_t frame_bytes = frame_buffer_bytes(needs, options_);
    const std::uint32_t buffers = buffers_of(options_);
    STREAMSIM_CHECK(memory.size() >= frame_bytes * buffers, "a player gets the memory that it needs");
    for (std::uint32_t i = 0; i < buffers; ++i)
        buffers_.push_back(memory.subspan(i * frame_bytes, frame_bytes));
    FrameReadOwner& owner = *this;
    const std::uint32_t reads = options_.readahead + inflight_.count() + (opens_files_ ? kSlowOpens : 0);
    for (std::uint32_t i = 0; i < reads; ++i) {
        reads_.push_back(std::make_unique<FrameRead>(storage_, path_, needs, options_, owner));
        idle_.push_back(reads_.back().get());
    }
    shown_.reserve(path_.shown_max());
    prepare_containers();
    if (options_.clock != nullptr) clock_.add_member(Callback::of<&Player::clock_goes_on>(this));
}

void Player::prepare_containers() {
    for (std::size_t i = 0; i < containers_.size(); ++i) {
        const FrameIndex& source = *path_.sources()[i];
        if (source.file_per_frame()) continue;
        SourceFile& file = containers_[i];
        file.path.resize(source.path_capacity());
        source.write_path(0, file.path.data());
        file.op.path = file.path.data();
        file.op.tag = tag(0, 0);
        file.owner = this;
        file.op.done = Callback::of<&SourceFile::finished>(&file);
    }
}

// ---- preroll ----

void Player::preroll() {
    begin_preroll();
    open_sources(0);
    if (options_.paced) enter_until(options_.readahead);
    advance();
}

/// Opens the containers of the slot that are not open yet; they stay open.
void Player::open_sources(std::uint64_t slot) {
    path_.shown(slot, shown_);
    for (const ShownFrame& shown : shown_) {
        SourceFile& file = containers_[shown.source];
        if (!file.is_container() || file.wanted) continue;
        file.wanted = file.opening = true;
        ++opening_;
        storage_.open(file.op);
    }
    all_wanted_ = std::all_of(containers_.begin(), containers_.end(),
                              [](const SourceFile& file) { return !file.is_container() || file.wanted; });
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
    become_ready();
}

void Player::play(Instant play_start, Instant series_zero) {
    begin_play(play_start, series_zero);
    if (options_.paced) {
        arm();
    } else {
        timer_ = loop_.at(play_start, Callback::of<&Player::advance>(this));
    }
    advance();
}

// ---- the window ----

/// Ends every event: starts all reads that can start, and lets the clock go on if its frame has come.
void Player::advance() {
    if (over()) return check_finished();
    start_reads();
    while (waiting_ && window(display_) != nullptr && window(display_)->settled()) {
        end_wait(*window(display_));
        run_clock();
        start_reads();
    }
    check_ready();
    check_finished();
}

Instant Player::scheduled_at(std::uint64_t slot) const {
    if (!options_.paced) return loop_.now();
    const Slot& its = slots_[slot];
    return its.entered == slot ? its.at : entry_time(slot);  // a slot that is long past has lost its entry
}

Instant Player::entry_time(std::uint64_t slot) const {
    const Instant zero = play_start_ + clock_.shift();
    Instant at = preroll_began_;
    if (slot >= options_.readahead) at = zero + path_due(slot - options_.readahead);
    if (seek_ <= slot) at = std::max(at, zero + path_due(seek_));  // not foreseen
    return at;
}

void Player::enter_until(std::uint64_t end) {
    end = std::min(end, options_.slots);
    for (; entered_ < end; ++entered_) {
        if (options_.paced && entered_ != seek_ && is_sought(entered_)) return;
        if (options_.paced) ledger_.scheduled();
        if (!all_wanted_) open_sources(entered_);
        slots_[entered_].at = entry_time(entered_);
        slots_[entered_].entered = entered_;
    }
}

void Player::start_reads() {
    const bool playing = state_ == State::playing;
    if (!playing && (state_ != State::prerolling || !options_.paced)) return;
    if (!options_.paced && loop_.now() < play_start_) return;
    bool blocked = false;
    while (next_ < entered_ || !options_.paced) {
        const Instant now = loop_.now();
        if (!options_.paced && submitting_) enter_until(next_ + options_.readahead);
        if (playing && options_.paced && options_.drops_late_frames()) skip_overdue(now);
        if (!inflight_.any_free() || next_ >= entered_ || !submitting_) break;
        const std::uint64_t slot = next_to_read(now);
        if (!sources_open(slot)) {
            blocked = true;
            break;
        }
        if (!can_start(slot)) {
            const bool held = buffers_.empty();  // by a decoder or verifier, and not by opens that hang
            if (held) decoder_behind_ = now;
            blocked = !held;
            break;
        }
        if (slot > next_) pass_over_until(slot);
        if (!start_next(now) && !options_.paced) {
            if (retry_ == 0) retry_ = loop_.at(now + kRetryPause, Callback::of<&Player::retry>(this));
            break;
        }
    }
    inflight_.settle(!blocked);
    if (opens_files_) open_ahead();
}

void Player::retry() {
    retry_ = 0;
    advance();
}

void Player::release(FrameRead& read) {
    if (!read.buffer().empty()) buffers_.push_back(read.buffer());
    read.release();
    idle_.push_back(&read);
}

/// False: the frame failed at once.
bool Player::start_next(Instant now) {
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
    if (!options_.paced) ledger_.scheduled();
    if (options_.paced && !past(slot)) window(slot) = read;
    if (slot >= pass_end_) {  // each pass reads everything anew
        tail_.forget();
        pass_end_ = (slot / path_.pass_slots() + 1) * path_.pass_slots();
    }
    if (state_ == State::playing) read->outcome().deadline = deadline_of(slot);
    const std::span<std::byte> buffer = buffers_.back();
    buffers_.pop_back();
    read->start(now, inflight_.take(read->outcome().scheduled, now), buffer, slot_reads_, containers_, tail_);
    if (!read->ended()) return true;
    read_ended(*read);
    return false;
}

void Player::take(FrameRead& read, std::uint64_t slot) {
    read.take(tag(slot, 0), scheduled_at(slot), slot_reads_);
    read.outcome().sought = options_.paced && is_sought(slot);
}

/// The unread slot whose read starts now, if it can. REQUIRES: one has entered the window.
std::uint64_t Player::next_to_read(Instant now) {
    const bool skips = options_.on_miss == OnMiss::skip && state_ == State::playing && options_.paced;
    if (!skips || clock_.stopped()) return next_;
    const Instant in_time = now + times_.expected();
    std::uint64_t slot = next_;
    while (due(slot) < in_time && slot + 1 < entered_) ++slot;
    return slot;
}

void Player::skip_overdue(Instant now) {
    // A clock that stands is at the deadline of the slot it waits for: those before that slot are overdue.
    const bool stopped = clock_.stopped();
    std::uint64_t end = next_;
    while (end < entered_ && (stopped ? past(end) : due(end) < now)) ++end;
    if (end > next_) pass_over_until(end);
}

/// Settles the unread slots before `end` as missed.
void Player::pass_over_until(std::uint64_t end) {
    const std::uint64_t first = next_;
    while (next_ < end) {
        const std::uint64_t slot = next_++;
        if (slot < ahead_end_) abandon(slot);
        settle_unread(slot, missed_kind(), unread_reason(slot));
    }
    ahead_end_ = std::max(ahead_end_, next_);
    if (next_ > first) absorb(inflight_.saved(next_ - first), last_start(next_ - 1));
}

/// The reason that this slot was not read in time.
DropReason Player::unread_reason(std::uint64_t slot) {
    return inflight_.may_have_been_free(last_start(slot)) ? DropReason::client : DropReason::late;
}

/// The last moment at which the slot would have been read, had an in-flight slot been free.
Instant Player::last_start(std::uint64_t slot) {
    const bool newest = slot + 1 >= entered_;
    if (options_.on_miss != OnMiss::skip || newest) return due(slot);
    // While the clock stood, frames were read in order: up to then this one was not the next.
    Instant newest_until = scheduled_at(slot + 1);
    if (newest_until == went_on_) newest_until = newest_until - kTick;
    return std::min(due(slot), std::max(due(slot) - times_.expected(), newest_until));
}

void Player::open_ahead() {
    if (options_.pattern != AccessPattern::filename_prefetch || !submitting_) return;
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
        // A frame that is unread at the last deadline is judged just after it.
        timer_ = loop_.at(due(options_.slots - 1) + kTick, Callback::of<&Player::advance>(this));
    }
}

void Player::on_timer() {
    timer_ = 0;
    ledger_.prefetch();
    slot_reads_.prefetch();
    if (const FrameRead* const read = display_ < next_ ? window(display_) : nullptr) read->prefetch();
    const std::uint64_t before = display_;
    run_clock();
    advance();
    show_overdue_below(before);
}

/// Shows overdue slots before `end`, which were past when the loop looked for completions last: those that had
/// come in time are judged.
void Player::show_overdue_below(std::uint64_t end) {
    if (over() || (settled_ >= end && shown_overdue() == 0)) return;
    std::uint64_t slots = end - std::min(end, next_);
    Instant since = slots > 0 ? due(next_) : Instant::never();
    for (const auto& read : reads_) {
        const bool open = read->reading() || read->ended();
        const Instant deadline = read->outcome().deadline;
        if (!open || read->tag().slot >= end || came_in_time(*read, deadline)) continue;
        ++slots;
        since = std::min(since, deadline);
    }
    show_overdue(slots, since);
}

/// The frame itself starts the clock again; meanwhile the stall is shown.
void Player::arm_stall() {
    loop_.cancel(timer_);
    timer_ = loop_.at(loop_.now() + kStallShown, Callback::of<&Player::on_stall_timer>(this));
}

void Player::on_stall_timer() {
    timer_ = 0;
    if (!waiting_ || display_ == seek_) return;
    if (stalls(loop_.now())) show_open_stall();
    arm_stall();
}

void Player::run_clock() {
    if (clock_.stopped()) {
        // For another stream: a jump at the instant at which it stopped is requested together with that one's.
        const bool jumps = display_ < options_.slots && display_ != seek_ && is_sought(display_);
        if (jumps && due(display_) <= clock_.stopped_at()) display_next();
        return;
    }
    const Instant now = loop_.now();
    while (display_ < options_.slots && due(display_) <= now) {
        if (!display_next()) return arm_stall();
    }
    arm();
}

/// Puts the next slot's frame on display. False: the clock has to stand still for the frame.
bool Player::display_next() {
    const std::uint64_t slot = display_;
    const bool sought = slot != seek_ && is_sought(slot);
    if (sought) {
        seek_ = slot;
        enter_until(slot + options_.readahead);
    }
    FrameRead* read = slot < next_ ? window(slot) : nullptr;
    const bool came = read != nullptr && read->settled();
    // A frame that came too late while this loop could not run: the clock stops for it up to when it came.
    const bool came_late = came && !read->failed() && read->outcome().completed > due(slot);
    if ((!came || came_late) && (sought || options_.on_miss == OnMiss::stall)) {
        waiting_ = true;
        // The frame came in time, and is not known to be right: what this delays is not the storage's.
        if (read != nullptr && read->verifying()) decoder_behind_ = due(slot);
        show_state(StreamState::waiting);
        clock_.hold(due(slot));
        return false;
    }
    if (read != nullptr) {
        read->outcome().deadline = due(slot);  // which a clock that waits later does not move
        window(slot) = nullptr;
    }
    ++display_;
    if (came) {
        read->prefetch_plans();
        ledger_.prefetch_row();
        if (!read->failed()) --buffered_;
        judge(*read);
    }
    // Towards the end the window holds fewer frames, whatever the storage does.
    const bool draining = display_ + options_.readahead > options_.slots && options_.slots > options_.readahead;
    if (!draining) ledger_.buffer_depth(buffered_, due(slot));
    show_displayed(display_, buffered_);
    enter_until(display_ + options_.readahead);
    return true;
}

/// The frame that the clock was stopped for has ended (complete or failed).
void Player::end_wait(const FrameRead& read) {
    waiting_ = false;
    show_state(StreamState::playing);
    const Instant was_due = due(display_);
    const Instant end = std::max(read.failed() ? loop_.now() : read.outcome().completed, was_due);
    STREAMSIM_CHECK(end != Instant::never(), "the frame that the clock stands for is decoded");
    if (display_ == seek_) {
        ledger_.sought(read.outcome(), was_due, end);
    } else if (end > was_due) {
        const bool client = !read.failed() && miss_reason(read, was_due) == DropReason::client;
        settle_stall(read.outcome(), was_due, end, client);
    }
    clock_.go_on(end - was_due);
    went_on_ = end;
    absorb_shift(end);
}

/// All later deadlines have moved by the clock's new shift: play has made up for as much until `at`.
void Player::absorb_shift(Instant at) {
    absorb(clock_.shift() - shift_seen_, at);
    shift_seen_ = clock_.shift();
}

/// Play has made up for `by` of the times before `at` in which this loop could not run.
void Player::absorb(Duration by, Instant at) {
    if (by <= Duration{}) return;
    inflight_.absorb(by, at);
    for (const auto& read : reads_) {
        if (read->reading()) read->absorb(by, at, loop_);
    }
}

/// A shared clock goes on after the wait of one of its streams.
void Player::clock_goes_on() {
    went_on_ = loop_.now();
    absorb_shift(went_on_);
    if (state_ != State::playing || !options_.paced || waiting_) return;
    run_clock();
    advance();
}

// ---- outcomes ----

Instant Player::overdue_since() const {
    if (state_ != State::playing || !options_.paced) return Instant::never();
    Instant first = past(next_) ? due(next_) : Instant::never();  // of the slots without a read
    for (const auto& read : reads_) {
        const bool open = read->reading() || read->ended();
        if (open && past(read->tag().slot)) first = std::min(first, read->outcome().deadline);
    }
    return first;
}

void Player::frame_read_ended(FrameRead& read) {
    if (state_ == State::interrupted) {
        release(read);  // its slot is settled already
    } else {
        read_ended(read);
    }
    advance();
}

void Player::frame_verified(FrameRead& read) {
    if (state_ == State::interrupted) {
        release(read);  // its slot is settled already
    } else {
        decode_or_settle(read);
    }
    advance();
}

void Player::frame_decoded(FrameRead& read) {
    if (state_ == State::interrupted) {
        release(read);  // its slot is settled already
    } else {
        read_settled(read);
    }
    advance();
}

/// The read's in-flight slot is free.
void Player::read_ended(FrameRead& read) {
    inflight_.give(read);
    if (options_.verifier != nullptr && !read.failed()) {
        read.verify(*options_.verifier);
    } else {
        decode_or_settle(read);
    }
}

void Player::decode_or_settle(FrameRead& read) {
    if (options_.decoder != nullptr && !read.failed()) {
        // A player that drops does not decode frames that it can no longer show.
        const bool skips = options_.drops_late_frames() && state_ == State::playing && options_.paced;
        const Instant first_due = play_start_ + path_due(read.tag().slot);
        read.decode(*options_.decoder, skips ? first_due : Instant::never(), clock_.later_ns());
    } else {
        read_settled(read);
    }
}

/// The frame is complete or has failed. It is judged now if its slot is past, else when it goes on display.
void Player::read_settled(FrameRead& read) {
    if (state_ == State::prerolling) ++prerolled_;
    if (!read.failed() && options_.on_miss == OnMiss::skip) times_.add(read.outcome());
    if (!options_.paced || past(read.tag().slot)) {
        judge(read);
    } else if (!read.failed()) {
        ++buffered_;
        show_displayed(display_, buffered_);
    }
}

/// REQUIRES: the read is settled.
void Player::judge(FrameRead& read) {
    FrameOutcome& outcome = read.outcome();
    if (!past(outcome.slot)) outcome.deadline = deadline_of(outcome.slot);
    if (read.failed()) {
        outcome.kind = FrameKind::failed;
        outcome.failed_at = loop_.now();
    } else if (outcome.completed <= outcome.deadline) {
        outcome.kind = FrameKind::on_time;
    } else {
        outcome.kind = missed_kind();
        outcome.reason = miss_reason(read, outcome.deadline);
    }
    settle(outcome);
    release(read);
}

/// The reason that this complete frame missed `deadline`. A decoder that had taken all buffers is the client's.
DropReason Player::miss_reason(const FrameRead& read, Instant deadline) const {
    if (decoder_behind_ >= read.outcome().scheduled) return DropReason::client;
    return inflight_.miss_reason(read, deadline);
}

FrameOutcome Player::unread(std::uint64_t slot, FrameKind kind, DropReason reason) const {
    FrameOutcome outcome = empty_outcome(slot);
    outcome.kind = kind;
    outcome.reason = reason;
    if (ledger_.play_start() != Instant::never()) {
        outcome.scheduled = scheduled_at(slot);
        outcome.deadline = deadline_of(slot);
    }
    return outcome;
}

}  // namespace streamsim::play
