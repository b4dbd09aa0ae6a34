// The ledger of one stream. Every slot is scheduled once and settled once; no slot is counted twice, and none
// is lost: scheduled = on_time + late + dropped + failed + cancelled, which close() checks, in release builds
// too.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/check.h"
#include "base/memory.h"
#include "base/time.h"
#include "metrics/digest.h"
#include "metrics/distributions.h"
#include "metrics/time_series.h"
#include "streamsim/outcome.h"
#include "streamsim/run_result.h"

namespace streamsim::play {

struct LedgerOptions {
    std::uint32_t seat = 0;
    std::uint32_t stream = 0;
    std::uint64_t seed = 0;        // keys the digests
    std::uint64_t slots = 0;       // that can be scheduled; 0: unknown (rate `max`)
    std::uint64_t drops_kept = 0;  // entries in the drop table, at most
    std::uint32_t readahead = 1;
    bool hash_times = true;    // false: no timing_digest(), as in real time, where no two are the same
    bool records = false;      // frames are written: preroll waits for none
    bool keep_frames = false;  // keeps every outcome, for one row a frame
};

/// A jump that could not be foreseen, with the latency of its first frame. Instants of the loop's clock.
struct SeekEntry {
    std::uint64_t slot = 0;
    std::uint64_t clip_frame = 0;
    Instant requested;
    Duration latency;
    bool failed = false;
};

/// The sums of a ledger, which a copy takes over as they are.
struct LedgerSums {
    metrics::TimeSeries::Interval preroll_;
    metrics::StreamTimeSeries stream_series_;  // from play_start_
    FrameCounts counts_;
    ReasonCounts reasons_;
    std::uint64_t client_stalls_ = 0;
    Instant play_start_ = Instant::never();
    Instant preroll_began_ = Instant::never();
    Instant series_zero_;
    Instant first_submitted_ = Instant::never();
    Instant last_delivered_;
    Instant last_completed_;
    Instant last_due_;
    std::vector<std::uint64_t> depths_;
    std::uint64_t drops_omitted_ = 0;
    metrics::Digest digest_;
    metrics::Digest timing_digest_;
};

/// One thread. Allocates in the constructor and not while playing (with an unknown number of slots it may
/// grow).
class DeadlineLedger : private LedgerSums {
public:
    DeadlineLedger(const LedgerOptions& options, metrics::TimeSeries& series);

    /// The instant from which deadlines count; drops before play_start + 1 s are start-up drops. The series'
    /// zero is the first play_start of the run.
    void play_started(Instant preroll_began, Instant play_start, Instant series_zero);

    /// The slot was dropped in the first second of play, which does not count against a verdict.
    bool is_startup_drop(const FrameOutcome& outcome) const;

    /// A slot will be settled soon.
    void prefetch() const { prefetch_between(&stream_series_, &fresh_ + 1); }
    /// The second step, when the first has come.
    void prefetch_row() const { streamsim::prefetch(fresh_.data() + fresh_.size(), sizeof(FrameOutcome)); }
    /// A slot entered the window.
    void scheduled() { ++counts_.scheduled; }
    /// Enters the outcome of a slot. REQUIRES: not settled before.
    void settle(const FrameOutcome& outcome);
    /// The play clock stopped for this frame; `client`: because this client was not running.
    void stalled(const FrameOutcome& frame, Instant from, Instant to, bool client);
    /// A jump that could not be foreseen was requested at `requested`; its frame came, or failed, at `ended`.
    void sought(const FrameOutcome& outcome, Instant requested, Instant ended);
    /// Complete frames ahead of the one on display, at a slot's deadline.
    void buffer_depth(std::uint32_t frames, Instant at);
    /// The frame was waited for, in preroll or after a seek: its margin says nothing about play.
    bool waited_for(const FrameOutcome& outcome) const {
        return outcome.sought || (outcome.slot < options_.readahead && !options_.records);
    }
    /// A container was opened; its open counts in no frame.
    void container_opened(Duration took) { times_.open.add(took.ns); }

    /// All slots are settled; CHECKs the invariant.
    void close();

    /// Both enter into a copy what would be missed if play ended now, until it is brought up to date again.
    /// REQUIRES: the frame was not delivered.
    void overdue(FrameOutcome outcome);
    void overdue_stall(const FrameOutcome& frame, Instant from, Instant to, bool client);

    /// An empty ledger for the same stream, which catch_up() can fill.
    std::unique_ptr<DeadlineLedger> empty_copy(metrics::TimeSeries& series) const;
    /// Brings `copy` up to date, with the settled slots alone and without frames(). The time that this takes
    /// grows with the slots that were settled since the last call. Afterwards `copy` can be closed, and brought
    /// up to date again. REQUIRES: `copy` comes from empty_copy(); this ledger is not closed, or `copy` has not
    /// been brought up to date before.
    void catch_up(DeadlineLedger& copy);

    const LedgerOptions& options() const { return options_; }
    const FrameCounts& counts() const { return counts_; }
    const ReasonCounts& reasons() const { return reasons_; }
    /// The stalls among counts().stalls that this client caused.
    std::uint64_t client_stalls() const { return client_stalls_; }
    Instant play_start() const { return play_start_; }
    Instant preroll_began() const { return preroll_began_; }
    /// Without any read: never, and the next two Instant{0}.
    Instant first_submitted() const { return first_submitted_; }
    Instant last_delivered() const { return last_delivered_; }
    Instant last_completed() const { return last_completed_; }
    /// Or the end of a stall behind the last deadline.
    Instant last_due() const { return last_due_; }
    /// All settled slots are in it. REQUIRES: closed, or a copy that was brought up to date.
    const metrics::Distributions& times() const {
        check_all_taken_in();
        return times_;
    }
    /// The number of slots that found n complete frames ahead, by n.
    const std::vector<std::uint64_t>& depths() const { return depths_; }

    /// Fills the counts, delays and distributions of a stream's result.
    void summarise(StreamResult& into) const;
    const metrics::StreamTimeSeries& series() const { return stream_series_; }
    /// Slots that were not on time, completed at came(); in slot order after close().
    const std::vector<FrameOutcome>& drops() const { return drops_; }
    std::uint64_t drops_omitted() const { return drops_omitted_; }
    /// The frames for which the play clock stopped, from `deadline` to `completed`; at most
    /// LedgerOptions::drops_kept.
    const std::vector<FrameOutcome>& stalls() const { return stalls_; }
    /// Whole seconds of the loop's clock in which the play clock was stopped, in order; at most
    /// LedgerOptions::drops_kept.
    const std::vector<std::int64_t>& stalled_seconds() const { return stalled_seconds_; }
    /// At most LedgerOptions::drops_kept.
    const std::vector<SeekEntry>& seeks() const { return seeks_; }
    const std::vector<FrameOutcome>& frames() const { return frames_; }
    /// Both as times().
    const metrics::Digest& digest() const {
        check_all_taken_in();
        return digest_;
    }
    const metrics::Digest& timing_digest() const {
        check_all_taken_in();
        return timing_digest_;
    }
    const metrics::TimeSeries::Interval& preroll_interval() const { return preroll_; }

private:
    std::uint64_t settled() const {
        return counts_.on_time + counts_.late + counts_.dropped + counts_.failed + counts_.cancelled;
    }
    void count(const FrameOutcome& outcome);
    void note_drop(const FrameOutcome& outcome);
    void note_times(const FrameOutcome& outcome);
    metrics::TimeSeries::Interval& interval_at(Instant at);
    void note_margin(const FrameOutcome& outcome, Duration margin);
    void take_in();
    void take_back_ahead();
    void add_times(const FrameOutcome& outcome);
    void hash_fresh();
    void check_all_taken_in() const {
        STREAMSIM_CHECK(fresh_.empty(), "the distributions and digests have every settled slot");
    }

    LedgerOptions options_;
    metrics::TimeSeries& series_;
    const std::uint64_t hash_of_stream_;  // that of each frame begins with it
    /// The last outcomes, which are not in times_ and the digests yet. Those lie far from everything else that
    /// a frame touches, and hashes wait for each other: eight at once cost half.
    std::vector<FrameOutcome> fresh_;
    bool closed_ = false;
    bool ahead_ = false;  // of a copy: it has more than was settled
    metrics::Distributions times_;
    std::vector<bool> dropped_;  // by slot
    std::vector<FrameOutcome> drops_;
    std::vector<FrameOutcome> stalls_;
    std::vector<std::int64_t> stalled_seconds_;
    std::vector<SeekEntry> seeks_;
    std::vector<FrameOutcome> frames_;
    std::vector<std::uint64_t> ahead_drops_;  // of a copy: the slots of the rows in drops_ that it is ahead by
    std::size_t settled_stalls_ = 0;          // rows
    std::size_t settled_stalled_seconds_ = 0;
};

}  // namespace streamsim::play
