#include "play/ledger.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "base/check.h"
#include "base/prng.h"

namespace streamsim::play {
namespace {

constexpr Duration kStartup = seconds(1);
constexpr std::size_t kFresh = 8;

inline std::uint64_t chain(std::uint64_t hash, std::uint64_t value) {
    return mix64(hash ^ mix64(value));
}

/// Frames in the buffer at the given rank of all samples, 1 being the emptiest.
std::uint64_t depth_at_rank(const std::vector<std::uint64_t>& depths, std::uint64_t rank) {
    std::uint64_t seen = 0;
    for (std::size_t depth = 0; depth < depths.size(); ++depth) {
        seen += depths[depth];
        if (seen >= rank) return depth;
    }
    return depths.size() - 1;
}

}  // namespace

DeadlineLedger::DeadlineLedger(const LedgerOptions& options, metrics::TimeSeries& series)
    : options_(options),
      series_(series),
      hash_of_stream_(chain(mix64(options.seed), (std::uint64_t{options.seat} << 32) | options.stream)),
      dropped_(options.slots) {
    depths_.resize(options.readahead + 1);
    drops_.reserve(options.drops_kept);
    fresh_.reserve(kFresh);
    if (options.keep_frames) frames_.reserve(options.slots);
}

void DeadlineLedger::play_started(Instant preroll_began, Instant play_start, Instant series_zero) {
    preroll_began_ = preroll_began;
    series_zero_ = series_zero;
    play_start_ = play_start;
}

bool DeadlineLedger::is_startup_drop(const FrameOutcome& outcome) const {
    return outcome.kind == FrameKind::dropped && outcome.deadline < play_start_ + kStartup;
}

void DeadlineLedger::settle(const FrameOutcome& outcome) {
    STREAMSIM_CHECK(!closed_, "no slot is settled after the ledger is closed");
    count(outcome);
    note_times(outcome);
    fresh_.push_back(outcome);
    // Each stream at another slot: streams that began together would all have the work at once.
    if ((settled() + options_.stream) % kFresh == 0) take_in();
    if (outcome.kind != FrameKind::on_time && outcome.kind != FrameKind::cancelled) note_drop(outcome);
    if (options_.keep_frames) frames_.push_back(outcome);
}

void DeadlineLedger::count(const FrameOutcome& outcome) {
    bool startup = false;
    switch (outcome.kind) {
        case FrameKind::on_time: ++counts_.on_time; break;
        case FrameKind::late: ++counts_.late; break;
        case FrameKind::dropped:
            ++counts_.dropped;
            startup = is_startup_drop(outcome);
            if (startup) ++counts_.startup_drops;
            if (outcome.slot < dropped_.size()) dropped_[outcome.slot] = true;
            break;
        case FrameKind::failed: ++counts_.failed; break;
        case FrameKind::cancelled: ++counts_.cancelled; break;
    }
    (options_.records ? counts_.bytes_written : counts_.bytes_read) += outcome.bytes;
    if (startup) return;
    switch (outcome.reason) {
        case DropReason::none: break;
        case DropReason::late: ++reasons_.late; break;
        case DropReason::client: ++reasons_.client; break;
        case DropReason::error: ++reasons_.error; break;
        case DropReason::short_read: ++reasons_.short_read; break;
        case DropReason::missing: ++reasons_.missing; break;
        case DropReason::corrupt: ++reasons_.corrupt; break;
    }
}

void DeadlineLedger::take_in() {
    for (const FrameOutcome& outcome : fresh_) add_times(outcome);
    hash_fresh();
    fresh_.clear();
}

void DeadlineLedger::add_times(const FrameOutcome& outcome) {
    if (outcome.opened != Instant::never()) times_.open.add(outcome.open_time.ns);
    if (outcome.delivered == Instant::never() || outcome.kind == FrameKind::cancelled) return;
    times_.service.add((outcome.delivered - outcome.submitted).ns);
    times_.response.add((outcome.delivered - outcome.scheduled).ns);
    if (outcome.sync_time > Duration{}) times_.sync.add(outcome.sync_time.ns);
    const Instant came = outcome.came();
    if (outcome.deadline == Instant::never() || came == Instant::never()) return;
    (waited_for(outcome) ? times_.preroll_margin : times_.margin).add((outcome.deadline - came).ns);
}

/// Field by field: the hashes of one frame wait for each other, those of several frames do not.
void DeadlineLedger::hash_fresh() {
    std::array<std::uint64_t, kFresh> hashes;
    const auto chain_each = [&](const auto& field) {
        for (std::size_t i = 0; i < fresh_.size(); ++i)
            hashes[i] = chain(hashes[i], static_cast<std::uint64_t>(field(fresh_[i])));
    };
    hashes.fill(hash_of_stream_);
    chain_each([](const FrameOutcome& each) { return each.slot; });
    chain_each([](const FrameOutcome& each) {
        return (static_cast<unsigned>(each.kind) << 8) | static_cast<unsigned>(each.reason);
    });
    chain_each([](const FrameOutcome& each) { return each.bytes; });
    for (std::size_t i = 0; i < fresh_.size(); ++i) digest_.add(hashes[i]);
    if (!options_.hash_times) return;
    chain_each([](const FrameOutcome& each) { return each.scheduled.ns; });
    chain_each([](const FrameOutcome& each) { return each.submitted.ns; });
    chain_each([](const FrameOutcome& each) { return each.deadline.ns; });
    chain_each([](const FrameOutcome& each) { return each.completed.ns; });
    for (std::size_t i = 0; i < fresh_.size(); ++i) timing_digest_.add(hashes[i]);
}

void DeadlineLedger::note_times(const FrameOutcome& outcome) {
    const bool has_deadline = outcome.deadline != Instant::never();
    if (has_deadline && outcome.kind != FrameKind::cancelled) last_due_ = std::max(last_due_, outcome.deadline);
    if (outcome.submitted != Instant::never()) first_submitted_ = std::min(first_submitted_, outcome.submitted);
    if (outcome.delivered != Instant::never() && outcome.kind != FrameKind::cancelled) {
        const std::int64_t service_ns = (outcome.delivered - outcome.submitted).ns;
        const Instant came = outcome.came();
        if (has_deadline && came != Instant::never()) {
            note_margin(outcome, outcome.deadline - came);
        }
        last_delivered_ = std::max(last_delivered_, outcome.delivered);
        last_completed_ = std::max(last_completed_, came != Instant::never() ? came : outcome.delivered);
        metrics::TimeSeries::Interval& interval = interval_at(outcome.delivered);
        interval.bytes += outcome.bytes;
        interval.service_ns_max = std::max(interval.service_ns_max, service_ns);
        interval.service.add(service_ns);
        if (play_start_ != Instant::never()) ++series_.deliveries.at(outcome.delivered - series_zero_).frames;
    }
    if (outcome.kind == FrameKind::cancelled) return;
    if (outcome.kind != FrameKind::on_time && has_deadline && play_start_ != Instant::never())
        ++stream_series_.at(outcome.deadline - play_start_).frames_missed;
    const Instant due = outcome.due();
    metrics::TimeSeries::Interval& slot = interval_at(due != Instant::never() ? due : outcome.completed);
    switch (outcome.kind) {
        case FrameKind::on_time: ++slot.frames_on_time; break;
        case FrameKind::dropped: ++slot.frames_dropped; break;
        case FrameKind::late: ++slot.frames_late; break;
        case FrameKind::failed: ++slot.frames_failed; break;
        case FrameKind::cancelled: break;
    }
}

void DeadlineLedger::note_margin(const FrameOutcome& outcome, Duration margin) {
    if (waited_for(outcome)) return;
    metrics::StreamInterval& own = stream_series_.at(outcome.deadline - play_start_);
    own.margin_ns_min = std::min(own.margin_ns_min, margin.ns);
    metrics::TimeSeries::Interval& all = interval_at(outcome.deadline);
    all.margin_ns_min = std::min(all.margin_ns_min, margin.ns);
}

metrics::TimeSeries::Interval& DeadlineLedger::interval_at(Instant at) {
    if (play_start_ == Instant::never() || at < play_start_) return preroll_;
    return series_.at(at - series_zero_);
}

void DeadlineLedger::note_drop(const FrameOutcome& outcome) {
    if (drops_.size() >= options_.drops_kept) {
        ++drops_omitted_;
        return;
    }
    drops_.push_back(outcome);
    drops_.back().completed = outcome.came();
}

void DeadlineLedger::stalled(const FrameOutcome& frame, Instant from, Instant to, bool client) {
    ++counts_.stalls;
    counts_.stall_ns += (to - from).ns;
    if (client) ++client_stalls_;
    // Play lasts as long; where the frame comes it is due then.
    last_due_ = std::max(last_due_, to);
    (void)interval_at(to - nanoseconds(1));
    if (stalls_.size() < options_.drops_kept) {
        FrameOutcome entry = frame;
        entry.deadline = from;
        entry.completed = to;
        entry.reason = client ? DropReason::client : DropReason::late;
        stalls_.push_back(entry);
    }
    constexpr std::int64_t kSecondNs = 1'000'000'000;
    std::int64_t second = from.ns / kSecondNs;
    if (!stalled_seconds_.empty()) second = std::max(second, stalled_seconds_.back() + 1);
    for (; second * kSecondNs < to.ns && stalled_seconds_.size() < options_.drops_kept; ++second)
        stalled_seconds_.push_back(second);
}

void DeadlineLedger::sought(const FrameOutcome& outcome, Instant requested, Instant ended) {
    const bool failed = outcome.reason != DropReason::none;
    ++counts_.seeks;
    if (!failed) times_.seek.add((ended - requested).ns);
    if (seeks_.size() >= options_.drops_kept) return;
    seeks_.push_back({outcome.slot, outcome.clip_frame, requested, ended - requested, failed});
}

void DeadlineLedger::buffer_depth(std::uint32_t frames, Instant at) {
    ++depths_[std::min<std::size_t>(frames, depths_.size() - 1)];
    metrics::TimeSeries::Interval& interval = interval_at(at);
    interval.buffer_frames_min = std::min<std::uint64_t>(interval.buffer_frames_min, frames);
    if (play_start_ == Instant::never()) return;
    metrics::StreamInterval& own = stream_series_.at(at - play_start_);
    own.buffer_frames_min = std::min(own.buffer_frames_min, frames);
}

std::unique_ptr<DeadlineLedger> DeadlineLedger::empty_copy(metrics::TimeSeries& series) const {
    LedgerOptions options = options_;
    options.drops_kept = 0;
    options.keep_frames = false;
    auto copy = std::make_unique<DeadlineLedger>(options, series);
    copy->options_.drops_kept = options_.drops_kept;  // without reserved memory
    return copy;
}

void DeadlineLedger::catch_up(DeadlineLedger& copy) {
    take_in();
    const auto append_new = [](const auto& from, auto& to) {
        to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(to.size()), from.end());
    };
    if (copy.ahead_ || copy.counts_.dropped != counts_.dropped) copy.dropped_ = dropped_;
    if (std::exchange(copy.ahead_, false)) copy.take_back_ahead();
    static_cast<LedgerSums&>(copy) = static_cast<const LedgerSums&>(*this);
    copy.counts_.scheduled = settled();
    copy.times_.catch_up(times_);
    append_new(drops_, copy.drops_);
    append_new(stalls_, copy.stalls_);
    append_new(stalled_seconds_, copy.stalled_seconds_);
    append_new(seeks_, copy.seeks_);
    copy.settled_stalls_ = copy.stalls_.size();
    copy.settled_stalled_seconds_ = copy.stalled_seconds_.size();
    copy.closed_ = false;
}

/// Leaves only the rows of settled slots, in any order, without a look at each of them.
void DeadlineLedger::take_back_ahead() {
    fresh_.clear();  // not empty where the copy was not closed
    std::ranges::sort(ahead_drops_, std::ranges::greater{});
    auto last = drops_.end();
    auto found = last;
    for (const std::uint64_t slot : ahead_drops_) {
        --last;
        if (!closed_) continue;  // they are the last rows; after close() all are in slot order
        found = std::lower_bound(drops_.begin(), found, slot,
                                 [](const FrameOutcome& row, std::uint64_t at) { return row.slot < at; });
        std::iter_swap(found, last);
    }
    drops_.erase(last, drops_.end());
    ahead_drops_.clear();
    stalls_.resize(settled_stalls_);
    stalled_seconds_.resize(settled_stalled_seconds_);
}

void DeadlineLedger::overdue(FrameOutcome outcome) {
    ahead_ = true;
    outcome.opened = Instant::never();  // times() keep what was settled
    scheduled();
    const std::size_t rows = drops_.size();
    settle(outcome);
    if (drops_.size() > rows) ahead_drops_.push_back(outcome.slot);
}

void DeadlineLedger::overdue_stall(const FrameOutcome& frame, Instant from, Instant to, bool client) {
    ahead_ = true;
    stalled(frame, from, to, client);
}

void DeadlineLedger::close() {
    STREAMSIM_CHECK(counts_.scheduled == settled(), "every scheduled slot is settled exactly once");
    take_in();
    closed_ = true;
    std::sort(drops_.begin(), drops_.end(), [](const auto& a, const auto& b) { return a.slot < b.slot; });
    std::sort(frames_.begin(), frames_.end(), [](const auto& a, const auto& b) { return a.slot < b.slot; });
}

void DeadlineLedger::summarise(StreamResult& into) const {
    into.seat = options_.seat;
    into.stream = options_.stream;
    into.counts = counts_;
    if (play_start_ != Instant::never()) {
        into.start_delay_ns = (play_start_ - preroll_began_).ns;
        into.last_due_ns = std::max<std::int64_t>((last_due_ - play_start_).ns, 0);
    }
    std::uint64_t run = 0;
    for (const bool dropped : dropped_) {
        run = dropped ? run + 1 : 0;
        into.longest_drop_run = std::max(into.longest_drop_run, run);
    }
    into.margin_ns = times_.margin_summary();
    into.service_ns = metrics::latency_summary(times_.service);
    into.response_ns = metrics::latency_summary(times_.response);
    into.open_ns = metrics::latency_summary(times_.open);
    into.seek_ns = metrics::latency_summary(times_.seek);
    into.sync_ns = metrics::latency_summary(times_.sync);
    std::uint64_t samples = 0;
    for (const std::uint64_t depth : depths_) samples += depth;
    if (samples > 0) {
        into.buffer_frames =
            BufferSummary{depth_at_rank(depths_, 1), depth_at_rank(depths_, (samples + 99) / 100),
                          depth_at_rank(depths_, (samples + 1) / 2)};
    }
}

}  // namespace streamsim::play
