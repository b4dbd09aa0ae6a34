// The result of one stream: counts, distributions, drops and seeks, as plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "streamsim/fields.h"
#include "streamsim/outcome.h"
#include "streamsim/summaries.h"
#include "streamsim/verdict.h"

namespace streamsim {

struct FrameCounts {
    std::uint64_t scheduled = 0;
    std::uint64_t on_time = 0;
    std::uint64_t late = 0;
    std::uint64_t dropped = 0;  // start-up drops included
    std::uint64_t failed = 0;
    std::uint64_t cancelled = 0;
    std::uint64_t startup_drops = 0;
    std::uint64_t stalls = 0;
    std::int64_t stall_ns = 0;
    std::uint64_t bytes_read = 0;     // bytes of complete frames, every read of every pass
    std::uint64_t seeks = 0;          // unannounced jumps (--order scrub, --multicam active)
    std::uint64_t passes = 0;         // complete or begun runs through the clip
    std::uint64_t bytes_written = 0;  // by recorders, bytes of complete frames

    FrameCounts& operator+=(const FrameCounts& more) {
        scheduled += more.scheduled;
        on_time += more.on_time;
        late += more.late;
        dropped += more.dropped;
        failed += more.failed;
        cancelled += more.cancelled;
        startup_drops += more.startup_drops;
        stalls += more.stalls;
        stall_ns += more.stall_ns;
        bytes_read += more.bytes_read;
        seeks += more.seeks;
        passes += more.passes;
        bytes_written += more.bytes_written;
        return *this;
    }
};
/// Passes and seeks are named by the struct that has the counts: documents have them further down.
void fields(ConstOr<FrameCounts> auto& counts, auto& visit) {
    visit("frames_scheduled", counts.scheduled);
    visit("frames_on_time", counts.on_time);
    visit("frames_late", counts.late);
    visit("frames_dropped", counts.dropped);
    visit("frames_failed", counts.failed);
    visit("frames_cancelled", counts.cancelled);
    visit("startup_drops", counts.startup_drops);
    visit("stalls", counts.stalls);
    visit("stall_ns", counts.stall_ns);
    visit("bytes_read", counts.bytes_read);
    visit("bytes_written", counts.bytes_written, kAdded);
}

/// Reasons of the slots that were dropped, late or failed. Drops in the first second are left out, since they
/// do not count against the verdict: the sum is late + failed + dropped - startup_drops.
struct ReasonCounts {
    std::uint64_t late = 0;
    std::uint64_t client = 0;
    std::uint64_t error = 0;
    std::uint64_t short_read = 0;
    std::uint64_t missing = 0;
    std::uint64_t corrupt = 0;

    ReasonCounts& operator+=(const ReasonCounts& more) {
        late += more.late;
        client += more.client;
        error += more.error;
        short_read += more.short_read;
        missing += more.missing;
        corrupt += more.corrupt;
        return *this;
    }
};
void fields(ConstOr<ReasonCounts> auto& reasons, auto& visit) {
    visit("late", reasons.late);
    visit("client", reasons.client);
    visit("error", reasons.error);
    visit("short", reasons.short_read);
    visit("missing", reasons.missing);
    visit("corrupt", reasons.corrupt, only_if(reasons.corrupt > 0));
}

/// A stream over time, in equal intervals from its play_start: at most some hundred of them, which are longer
/// in longer runs.
struct StreamSeries {
    struct Point {
        std::optional<std::int64_t> margin_min_ns;  // over the frames that were due then; nullopt: none was
        std::optional<std::uint32_t> buffer_min;    // complete frames ahead of the one on display
        std::uint32_t missed = 0;                   // dropped, late or failed
    };
    std::int64_t interval_ns = 0;
    std::vector<Point> points;
};
void fields(ConstOr<StreamSeries::Point> auto& point, auto& visit) {
    visit("margin_ns_min", point.margin_min_ns);
    visit("buffer_frames_min", point.buffer_min);
    visit("frames_missed", point.missed);
}
void fields(ConstOr<StreamSeries> auto& series, auto& visit) {
    visit("interval_ns", series.interval_ns);
    visit.columns(series.points);
}

/// Counts of a histogram's buckets that are not empty, ascending: exact to merge.
struct HistogramCounts {
    struct Bucket {
        std::int64_t value = 0;  // its middle, as Histogram::each gives it; negative for missed margins
        std::uint64_t times = 0;
    };
    std::int64_t min = 0, max = 0;  // exact
    std::vector<Bucket> buckets;

    bool empty() const { return buckets.empty(); }
};
void fields(ConstOr<HistogramCounts::Bucket> auto& bucket, auto& visit) {
    visit("values", bucket.value);
    visit("times", bucket.times);
}
void fields(ConstOr<HistogramCounts> auto& histogram, auto& visit) {
    visit("min", histogram.min);
    visit("max", histogram.max);
    visit.columns(histogram.buckets);
}

/// The distributions behind the summaries of a stream, in documents that are to be merged.
struct StreamHistograms {
    HistogramCounts margin_ns, preroll_margin_ns, service_ns, response_ns, open_ns, seek_ns, sync_ns,
        buffer_frames;
};
void fields(ConstOr<StreamHistograms> auto& histograms, auto& visit) {
    visit("margin_ns", histograms.margin_ns);
    visit("preroll_margin_ns", histograms.preroll_margin_ns);
    visit("service_ns", histograms.service_ns);
    visit("response_ns", histograms.response_ns);
    visit("open_ns", histograms.open_ns);
    visit("seek_ns", histograms.seek_ns);
    visit("sync_ns", histograms.sync_ns, kAdded);
    visit("buffer_frames", histograms.buffer_frames);
}

struct StreamResult {
    std::uint32_t seat = 0;
    std::uint32_t stream = 0;  // within the seat
    std::string format;
    std::string clip;
    FrameRate rate;
    bool paced = true;     // false: --fps max
    bool records = false;  // it writes its frames
    bool durable = false;  // and they are on stable storage when they are complete
    std::string pattern;
    FrameCounts counts;
    std::int64_t play_start_ns = 0;  // from the beginning of the run; where all begin together 0
    std::int64_t start_delay_ns = 0;
    /// Deadline of the last slot that was due, or the end of a stall behind it, from play_start.
    std::int64_t last_due_ns = 0;
    std::uint64_t longest_drop_run = 0;
    double required_bytes_per_s = 0;
    std::optional<MarginSummary> margin_ns;
    std::optional<LatencySummary> service_ns;
    std::optional<LatencySummary> response_ns;
    std::optional<LatencySummary> open_ns;
    std::optional<LatencySummary> seek_ns;  // from the request of a jump to its first frame
    std::optional<LatencySummary> sync_ns;  // of a durable recorder: the fsync alone
    std::optional<BufferSummary> buffer_frames;
    StreamSeries series;
    std::optional<StreamHistograms> histograms;  // where the document is to be merged
};
void fields(ConstOr<StreamResult> auto& stream, auto& visit) {
    visit("seat", stream.seat);
    visit("stream", stream.stream);
    visit("format", stream.format);
    visit("clip", stream.clip);
    visit("rate", stream.rate);
    fields(stream.counts, visit);
    visit("passes", stream.counts.passes);
    visit("paced", stream.paced);
    visit("pattern", stream.pattern);
    visit("required_bytes_per_s", whole(stream.required_bytes_per_s));
    visit("play_start_ns", stream.play_start_ns);
    visit("start_delay_ns", stream.start_delay_ns);
    visit("last_due_ns", stream.last_due_ns);
    visit("longest_drop_run", stream.longest_drop_run);
    visit("margin_ns", stream.margin_ns);
    visit("service_ns", stream.service_ns);
    visit("response_ns", stream.response_ns);
    visit("open_ns", stream.open_ns);
    visit("seeks", stream.counts.seeks);
    visit("seek_ns", stream.seek_ns);
    visit("records", stream.records, kAdded);
    visit("durable", stream.durable, kAdded);
    visit("sync_ns", stream.sync_ns, kAdded);
    visit("buffer_frames", stream.buffer_frames);
    visit("series", stream.series, kAdded);
    visit("histograms", stream.histograms, only_if(stream.histograms.has_value()));
}

/// An unannounced jump. Times count from the stream's play_start.
struct SeekRecord {
    std::uint32_t seat = 0;
    std::uint32_t stream = 0;
    std::uint64_t frame = 0;  // the slot
    std::uint64_t clip_frame = 0;
    std::int64_t requested_ns = 0;
    std::int64_t latency_ns = 0;  // to its first frame, or to the failure of that
    bool failed = false;
};
void fields(ConstOr<SeekRecord> auto& seek, auto& visit) {
    visit("seat", seek.seat);
    visit("stream", seek.stream);
    visit("frame", seek.frame);
    visit("clip_frame", seek.clip_frame);
    visit("requested_ns", seek.requested_ns);
    visit("latency_ns", seek.latency_ns);
    visit("failed", seek.failed);
}

/// A slot that was not on time. Times count from the stream's play_start.
struct DropRecord {
    std::uint32_t seat = 0;
    std::uint32_t stream = 0;
    std::uint64_t frame = 0;  // the slot, counted on over passes
    std::uint64_t clip_frame = 0;
    std::string file;
    std::int64_t due_ns = 0;
    std::optional<std::int64_t> completed_ns;
    FrameKind kind = FrameKind::dropped;
    DropReason reason = DropReason::late;
    int error = 0;
    std::optional<std::uint64_t> corrupt_at;  // of a corrupt frame: offset in `file` of the first wrong byte
    std::string timecode;                     // of clip_frame
    Cause cause = Cause::unknown;
};
void fields(ConstOr<DropRecord> auto& drop, auto& visit) {
    visit("seat", drop.seat);
    visit("stream", drop.stream);
    visit("frame", drop.frame);
    visit("clip_frame", drop.clip_frame);
    visit("file", drop.file);
    visit("due_ns", drop.due_ns);
    visit("completed_ns", drop.completed_ns);
    visit("kind", among(drop.kind, {FrameKind::dropped, FrameKind::late, FrameKind::failed}));
    visit("reason", among(drop.reason, {DropReason::late, DropReason::client, DropReason::error,
                                        DropReason::short_read, DropReason::missing, DropReason::corrupt}));
    visit("errno", drop.error);
    visit("offset", drop.corrupt_at, only_if(drop.corrupt_at.has_value()));
    visit("timecode", drop.timecode);
    visit("cause", drop.cause, kAdded);
}

/// One slot, for --csv. Times count from the stream's play_start and may be negative (preroll).
struct FrameRow {
    std::uint32_t seat = 0;
    std::uint32_t stream = 0;
    FrameOutcome outcome;  // its instants are from play_start too
    std::string file;
};

/// All streams over time.
struct TimelineEntry {
    std::int64_t t_ns = 0;  // from the first play_start
    std::int64_t interval_ns = 0;
    std::uint64_t bytes = 0;
    std::uint64_t frames_on_time = 0;
    std::uint64_t frames_dropped = 0;
    std::uint64_t frames_late = 0;
    std::uint64_t frames_failed = 0;
    std::int64_t service_ns_max = 0;
    std::optional<std::uint64_t> buffer_frames_min;
    std::optional<std::int64_t> margin_ns_min;  // over the frames that were due then
    /// Service times of the frames that were delivered then, within 1/16; over several computers those of the
    /// slowest.
    std::optional<std::int64_t> service_ns_p50, service_ns_p99;

    /// Adds what happened in another interval; t_ns and interval_ns stay.
    TimelineEntry& operator+=(const TimelineEntry& more);
};
/// Neighbours of an interval of less than a second joined until each has a second or more, but for the last
/// one.
std::vector<TimelineEntry> in_seconds(const std::vector<TimelineEntry>& timeline);

void fields(ConstOr<TimelineEntry> auto& entry, auto& visit) {
    visit("t_ns", entry.t_ns);
    visit("interval_ns", entry.interval_ns);
    visit("bytes", entry.bytes);
    visit("frames_on_time", entry.frames_on_time);
    visit("frames_dropped", entry.frames_dropped);
    visit("frames_late", entry.frames_late, kAdded);
    visit("frames_failed", entry.frames_failed, kAdded);
    visit("service_ns_p50", entry.service_ns_p50, kAdded);
    visit("service_ns_p99", entry.service_ns_p99, kAdded);
    visit("service_ns_max", entry.service_ns_max);
    visit("buffer_frames_min", entry.buffer_frames_min);
    visit("margin_ns_min", entry.margin_ns_min, kAdded);
}

/// Frames whose margin, or service time, was in [from_ns, to_ns).
struct MarginBin {
    std::int64_t from_ns = 0, to_ns = 0;
    std::uint64_t frames = 0;
};
void fields(ConstOr<MarginBin> auto& bin, auto& visit) {
    visit("from_ns", bin.from_ns);
    visit("to_ns", bin.to_ns);
    visit("frames", bin.frames);
}

/// A time between two deliveries in which some stream played and none was given a byte, as long as several
/// frames.
struct ThroughputGap {
    std::int64_t from_ns = 0, to_ns = 0;  // from the first play_start
};
void fields(ConstOr<ThroughputGap> auto& gap, auto& visit) {
    visit("from_ns", gap.from_ns);
    visit("to_ns", gap.to_ns);
}

/// From t_ns on, the streams that play need so many bytes a second together.
struct RequiredRate {
    std::int64_t t_ns = 0;  // from the beginning of the run
    double bytes_per_s = 0;
};
void fields(ConstOr<RequiredRate> auto& rate, auto& visit) {
    visit("t_ns", rate.t_ns);
    visit("bytes_per_s", whole(rate.bytes_per_s));
}

}  // namespace streamsim
