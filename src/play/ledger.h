// The books of one stream. Every slot is announced once and settled once; nothing is counted twice and nothing
// is lost: scheduled = on_time + late + dropped + failed + cancelled, checked when the books are closed, in
// release builds too.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "metrics/histogram.h"
#include "metrics/time_series.h"
#include "streamsim/outcome.h"
#include "streamsim/run_result.h"

namespace streamsim::play {

/// On time means that the last byte was there at the deadline or before. Pure.
constexpr bool judge_on_time(Instant deadline, Instant completed) {
    return completed <= deadline;
}

/// 128 bits that add up: the order in which outcomes are settled does not change it, and digests of streams,
/// loops and seats merge by addition.
struct Digest {
    std::uint64_t low = 0;
    std::uint64_t high = 0;

    void add(std::uint64_t hash);
    void merge(const Digest& other);
    std::string hex() const;
    /// What hex() gave; nullopt: it is none.
    static std::optional<Digest> from_hex(std::string_view hex);
};

struct LedgerOptions {
    std::uint32_t seat = 0;
    std::uint32_t stream = 0;
    std::uint64_t seed = 0;        // keys the digests
    std::uint64_t slots = 0;       // that can be scheduled; 0: not known (rate `max`)
    std::uint64_t drops_kept = 0;  // at most so many entries in the drop table
    std::uint32_t readahead = 1;
    bool records = false;      // frames are written: no deadline was waited for in preroll
    bool keep_frames = false;  // every outcome, for one row a frame
};

/// One slot that was not on time, or for which play stood still. Instants of the loop's clock.
struct DropEntry {
    std::uint64_t slot = 0;
    std::uint64_t clip_frame = 0;
    std::uint32_t source = 0;
    Instant deadline;
    Instant completed;
    Instant submitted = Instant::never();  // never: it was passed over
    Instant opened = Instant::never();     // its file
    Instant delivered = Instant::never();
    Duration open_time;  // 0: no open was needed
    int error = 0;
    FrameKind kind = FrameKind::dropped;
    DropReason reason = DropReason::late;
};

/// A jump that nobody knew of, and how long its first frame took. Instants of the loop's clock.
struct SeekEntry {
    std::uint64_t slot = 0;
    std::uint64_t clip_frame = 0;
    Instant requested;
    Duration latency;
    bool failed = false;
};

/// How long things took, over the frames of one stream or of many.
struct Distributions {
    /// Of the frames that were scheduled while playing. Prerolled frames are kept apart: play begins when they
    /// are complete, so that their margins say nothing about the storage.
    metrics::SignedHistogram margin;
    metrics::SignedHistogram preroll_margin;
    metrics::Histogram service;
    metrics::Histogram response;
    metrics::Histogram open;
    metrics::Histogram seek;  // from the request to the first frame of a jump
    metrics::Histogram sync;  // fsyncs of recordings, as each frame waited for its own

    void merge(const Distributions& other);
    /// As Histogram::catch_up.
    void catch_up(const Distributions& other);
    /// The margins that are shown: those while playing, or the prerolled ones where there are no others.
    const metrics::SignedHistogram& shown_margin() const {
        return margin.count() > 0 ? margin : preroll_margin;
    }

    std::optional<MarginSummary> margin_summary() const;
    static std::optional<LatencySummary> summary(const metrics::Histogram& histogram);
};

/// One thread. Allocates when it is made and not while playing (with an unknown number of slots it may grow).
class DeadlineLedger {
public:
    DeadlineLedger(const LedgerOptions& options, metrics::TimeSeries& series);

    /// The instant from which deadlines count; drops before play_start + 1 s are start-up drops. The series'
    /// zero is the first play_start of the run.
    void play_started(Instant preroll_began, Instant play_start, Instant series_zero);

    /// A slot entered the window.
    void scheduled() { ++counts_.scheduled; }
    /// What became of it. REQUIRES: not settled before.
    void settle(const FrameOutcome& outcome);
    /// The play clock stood still for this frame; `client`: because this client was not running.
    void stalled(const FrameOutcome& frame, Instant from, Instant to, bool client);
    /// A jump that nobody knew of: asked for at `requested`, its frame was there, or had failed, at `ended`.
    void sought(const FrameOutcome& outcome, Instant requested, Instant ended);
    /// Complete frames ahead of the one on display, at a slot's deadline.
    void buffer_depth(std::uint32_t frames, Instant at);
    /// The open of a container, which no frame pays for.
    void container_opened(Duration took) { times_.open.add(took.ns); }

    /// Nothing more will come; CHECKs the invariant.
    void close();

    /// Empty books for the same stream, which may become a copy of these.
    std::unique_ptr<DeadlineLedger> empty_copy(metrics::TimeSeries& series) const;
    /// Brings `copy` up to now: what is settled, and only that is scheduled. Takes the time that what came
    /// since the last one takes, and that of the histograms. Not in it: frames(). Afterwards `copy` can be
    /// closed, and brought up to date again. REQUIRES: it comes from empty_copy(); these books are not closed,
    /// or it has not been brought up to date before.
    void catch_up(DeadlineLedger& copy) const;

    const LedgerOptions& options() const { return options_; }
    const FrameCounts& counts() const { return counts_; }
    const ReasonCounts& reasons() const { return reasons_; }
    /// Of counts().stalls, those that this client caused.
    std::uint64_t client_stalls() const { return client_stalls_; }
    Instant play_start() const { return play_start_; }
    Instant preroll_began() const { return preroll_began_; }
    /// Never, and Instant{0} when nothing was read.
    Instant first_submitted() const { return first_submitted_; }
    Instant last_completed() const { return last_completed_; }
    Instant last_due() const { return last_due_; }
    const Distributions& times() const { return times_; }
    /// How many slots found so many complete frames ahead, by that number.
    const std::vector<std::uint64_t>& depths() const { return depths_; }

    /// Fills what the books know of a stream's result: counts, delays, distributions.
    void summarise(StreamResult& into) const;
    const metrics::StreamTimeSeries& series() const { return stream_series_; }
    /// In slot order after close().
    const std::vector<DropEntry>& drops() const { return drops_; }
    std::uint64_t drops_omitted() const { return drops_omitted_; }
    /// The frames that play stood still for, at most LedgerOptions::drops_kept of them: from `deadline` to
    /// `completed`.
    const std::vector<DropEntry>& stalls() const { return stalls_; }
    /// Whole seconds of the loop's clock in which play stood still, in order; at most LedgerOptions::drops_kept
    /// of them.
    const std::vector<std::int64_t>& stalled_seconds() const { return stalled_seconds_; }
    /// At most LedgerOptions::drops_kept of them.
    const std::vector<SeekEntry>& seeks() const { return seeks_; }
    const std::vector<FrameOutcome>& frames() const { return frames_; }
    const Digest& digest() const { return digest_; }
    const Digest& timing_digest() const { return timing_digest_; }
    const metrics::TimeSeries::Interval& preroll_interval() const { return preroll_; }

private:
    std::uint64_t settled() const;
    void count(const FrameOutcome& outcome);
    static DropEntry entry_of(const FrameOutcome& outcome);
    void note_drop(const FrameOutcome& outcome);
    void note_times(const FrameOutcome& outcome);
    void hash(const FrameOutcome& outcome);
    metrics::TimeSeries::Interval& interval_at(Instant at);
    void note_margin(const FrameOutcome& outcome, Duration margin);

    LedgerOptions options_;
    metrics::TimeSeries& series_;
    metrics::TimeSeries::Interval preroll_;
    metrics::StreamTimeSeries stream_series_;  // from play_start_
    FrameCounts counts_;
    ReasonCounts reasons_;
    std::uint64_t client_stalls_ = 0;
    Instant play_start_ = Instant::never();
    Instant preroll_began_ = Instant::never();
    Instant series_zero_;
    Instant first_submitted_ = Instant::never();
    Instant last_completed_;
    Instant last_due_;
    Distributions times_;
    std::vector<std::uint64_t> depths_;
    std::vector<bool> dropped_;  // by slot
    std::vector<DropEntry> drops_;
    std::uint64_t drops_omitted_ = 0;
    std::vector<DropEntry> stalls_;
    std::vector<std::int64_t> stalled_seconds_;
    std::vector<SeekEntry> seeks_;
    std::vector<FrameOutcome> frames_;
    Digest digest_;
    Digest timing_digest_;
    bool closed_ = false;
};

}  // namespace streamsim::play
