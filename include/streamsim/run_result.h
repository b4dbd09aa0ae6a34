// RunResult: everything that is known after a run, as plain data. Report writers render it and compute nothing.
// Units are in the names; "never" and "not known" are nullopt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "streamsim/meter_result.h"
#include "streamsim/outcome.h"
#include "streamsim/part_stats.h"
#include "streamsim/summaries.h"

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
    std::uint64_t bytes_read = 0;     // of complete frames, every read of every pass
    std::uint64_t seeks = 0;          // jumps that nobody knew of (--order scrub, --multicam active)
    std::uint64_t passes = 0;         // complete or begun runs through the clip
    std::uint64_t bytes_written = 0;  // by recorders, of complete frames
};

/// Why slots were dropped, late or failed. Drops in the first second are left out, since they do not count
/// against the verdict: the sum is late + failed + dropped - startup_drops.
struct ReasonCounts {
    std::uint64_t late = 0;
    std::uint64_t client = 0;
    std::uint64_t error = 0;
    std::uint64_t short_read = 0;
    std::uint64_t missing = 0;
};

/// What a stream went through, in equal intervals from its play_start: at most some hundred of them, which are
/// longer in longer runs.
struct StreamSeries {
    struct Point {
        std::optional<std::int64_t> margin_min_ns;  // of the frames that were due then; nullopt: none came
        std::optional<std::uint32_t> buffer_min;    // complete frames ahead of the one on display
        std::uint32_t missed = 0;                   // dropped, late or failed
    };
    std::int64_t interval_ns = 0;
    std::vector<Point> points;
};

/// Counts of a histogram's buckets that are not empty, ascending: exact to merge.
struct HistogramCounts {
    struct Bucket {
        std::int64_t value =
            0;  // its middle, as Histogram::each gives it; negative for margins that were missed
        std::uint64_t times = 0;
    };
    std::int64_t min = 0, max = 0;  // exact
    std::vector<Bucket> buckets;
};

/// The distributions behind the summaries of a stream. In documents that are to be merged.
struct StreamHistograms {
    HistogramCounts margin_ns, preroll_margin_ns, service_ns, response_ns, open_ns, seek_ns, sync_ns,
        buffer_frames;
};

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
    std::int64_t last_due_ns = 0;  // deadline of the last slot that was due, from play_start
    std::uint64_t longest_drop_run = 0;
    double required_bytes_per_s = 0;
    std::optional<MarginSummary> margin_ns;
    std::optional<LatencySummary> service_ns;
    std::optional<LatencySummary> response_ns;
    std::optional<LatencySummary> open_ns;
    std::optional<LatencySummary> seek_ns;  // from the request of a jump to its first frame
    std::optional<LatencySummary> sync_ns;  // of a durable recorder: of the fsync alone
    std::optional<BufferSummary> buffer_frames;
    StreamSeries series;
    std::optional<StreamHistograms> histograms;  // where the document is to be merged
};

/// A jump that nobody knew of before it was made. Times count from the stream's play_start.
struct SeekRecord {
    std::uint32_t seat = 0;
    std::uint32_t stream = 0;
    std::uint64_t frame = 0;  // the slot
    std::uint64_t clip_frame = 0;
    std::int64_t requested_ns = 0;
    std::int64_t latency_ns = 0;  // to its first frame, or to the failure of that
    bool failed = false;
};

enum class Limit { none, storage, network, client_cpu, client_scheduling, media, unknown };

constexpr const char* to_string(Limit limit) {
    switch (limit) {
        case Limit::none: return "none";
        case Limit::storage: return "storage";
        case Limit::network: return "network";
        case Limit::client_cpu: return "client-cpu";
        case Limit::client_scheduling: return "client-scheduling";
        case Limit::media: return "media";
        case Limit::unknown: return "unknown";
    }
    return "?";
}

/// What a missed frame is booked to. Each is somebody's: see CauseResult::limit.
enum class Cause {
    none,                  // it was not missed
    slow_reads,            // the storage took long to answer, and was not asked for much
    bandwidth,             // the storage gave all it had, and that was too little
    slow_opens,            // of the time that a frame took most went into opening its file
    storage_stall,         // no stream got a byte for a while
    storage_error,         // a read or an open failed, here and there
    storage_gone,          // what was played from is not there any more: a mount, a directory, a drive
    slow_file,             // these frames are slow every time, and their neighbours are not
    damaged_file,          // these frames fail every time: cut short, missing, unreadable
    network,               // the way to the storage was full
    network_loss,          // it lost packets
    network_down,          // it was gone for a while
    client_cpu,            // this computer had no processor time left
    client_scheduling,     // this computer did not run the player when it had to
    client_memory,         // this computer had too little memory
    client_resources,      // this computer had no file descriptor, or no port, left
    too_little_in_flight,  // the player was set to ask for less at once than the storage needs
    too_small_reads,       // the player was set to ask in pieces that are too small
    cold_start,            // in the first second, while the storage woke up
    model_part,            // a part of a model was full, or lost time
    injected_fault,        // streamsim delayed or failed it by itself (--faults, a scenario's faults)
    unknown,
};

constexpr const char* to_string(Cause cause) {
    switch (cause) {
        case Cause::none: return "none";
        case Cause::slow_reads: return "slow-reads";
        case Cause::bandwidth: return "bandwidth";
        case Cause::slow_opens: return "slow-opens";
        case Cause::storage_stall: return "storage-stall";
        case Cause::storage_error: return "storage-error";
        case Cause::storage_gone: return "storage-gone";
        case Cause::slow_file: return "slow-file";
        case Cause::damaged_file: return "damaged-file";
        case Cause::network: return "network";
        case Cause::network_loss: return "network-loss";
        case Cause::network_down: return "network-down";
        case Cause::client_cpu: return "client-cpu";
        case Cause::client_scheduling: return "client-scheduling";
        case Cause::client_memory: return "client-memory";
        case Cause::client_resources: return "client-resources";
        case Cause::too_little_in_flight: return "too-little-in-flight";
        case Cause::too_small_reads: return "too-small-reads";
        case Cause::cold_start: return "cold-start";
        case Cause::model_part: return "model-part";
        case Cause::injected_fault: return "injected-fault";
        case Cause::unknown: return "unknown";
    }
    return "?";
}

/// The missed frames that are booked to one cause, and why.
struct CauseResult {
    Cause cause = Cause::unknown;
    Limit limit = Limit::unknown;
    std::uint64_t frames = 0;  // slots, start-up drops included
    std::uint64_t stalls = 0;
    std::string summary;  // a sentence that an editor understands
    std::string detail;   // one that an engineer can act on, with the numbers
};

/// Whether frames are missed at the same places on each pass: then it is the material.
struct PlaceTest {
    enum class Answer { nothing_missed, one_pass, everywhere, same_place, random };
    Answer answer = Answer::nothing_missed;
    std::uint64_t places = 0;      // frames of clips that were missed at least once
    std::uint64_t every_pass = 0;  // of them, those that were missed whenever they were due, twice or more
};

constexpr const char* to_string(PlaceTest::Answer answer) {
    switch (answer) {
        case PlaceTest::Answer::nothing_missed: return "nothing-missed";
        case PlaceTest::Answer::one_pass: return "one-pass";
        case PlaceTest::Answer::everywhere: return "everywhere";
        case PlaceTest::Answer::same_place: return "same-place";
        case PlaceTest::Answer::random: return "random";
    }
    return "?";
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
    std::string timecode;  // of clip_frame
    Cause cause = Cause::unknown;
};

/// One slot, for --csv. Times count from the stream's play_start and may be negative (preroll).
struct FrameRow {
    std::uint32_t seat = 0;
    std::uint32_t stream = 0;
    FrameOutcome outcome;  // its instants are from play_start too
    std::string file;
};

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
    std::optional<std::int64_t> margin_ns_min;  // of the frames that were due then
};

/// Frames whose margin was in [from_ns, to_ns).
struct MarginBin {
    std::int64_t from_ns = 0, to_ns = 0;
    std::uint64_t frames = 0;
};

struct Verdict {
    bool pass = false;
    std::string reason;  // for an editor
    Limit limit = Limit::unknown;
    std::string detail;  // for an engineer: what the evidence is, and what would help; may be empty
    std::string next;    // what to measure next, where it cannot be known; else empty
};

struct HostFacts {
    std::string name, os;
    std::uint32_t cpus = 0;
    std::uint64_t memory_bytes = 0;
};

struct ClientEvidence {
    double cpu_percent = 0;  // of one processor, over the run
    std::int64_t cpu_ns = 0;
    std::int64_t helpers_cpu_ns = 0;  // of cpu_ns: what processes spent that the player has started
    std::int64_t loop_lateness_p50_ns = 0, loop_lateness_p99_ns = 0, loop_lateness_max_ns = 0;
    std::uint64_t loop_stalls = 0;
    std::int64_t loop_stalled_ns = 0;
    std::optional<std::uint64_t> page_cache_bytes;  // nullopt: cannot be known here
    std::uint32_t loops = 1;                        // player threads
    bool realtime = false;
};

/// Where the media are, as this computer sees it.
struct MountFacts {
    std::string point;    // "/mnt/media"
    std::string source;   // "server:/export", "/dev/sdb1"
    std::string type;     // "nfs4", "ext4", "fuse.sshfs"
    std::string options;  // as mounted
    // Of a network file system; empty or nothing where it does not say.
    std::string server;                             // "isilon"
    std::string protocol;                           // "NFSv4.2", "SMB 3.1.1"
    std::optional<std::uint64_t> connections;       // nconnect, max_channels
    std::optional<std::uint64_t> read_bytes;        // rsize
    std::optional<std::uint64_t> read_ahead_bytes;  // of the kernel
    std::vector<std::string> hints;                 // what a playback tester would change, a sentence each
};

/// A file server that streamsim spoke to itself, one entry a node.
struct ServerResult {
    std::string address;
    std::string protocol;              // "NFSv3", "NFSv4.0", "SMB 3.1.1"
    std::vector<std::uint32_t> seats;  // that used it
    std::uint32_t connections = 0;
    std::uint64_t read_bytes = 0;  // the most that one request reads
    std::uint64_t requests = 0;
    double requests_per_frame = 0;  // of the frames that were read from it
    std::uint64_t received_bytes = 0;
    std::uint64_t reconnects = 0;
    std::uint64_t retransmitted_segments = 0;
    std::optional<std::int64_t> rtt_ns;
};

/// A network interface over the time of play.
struct LinkEvidence {
    std::string name;                         // "eth0"
    std::optional<std::uint64_t> bits_per_s;  // what it says of itself; nullopt: nothing
    std::uint64_t received_bytes = 0;
    double busy_percent = 0;      // of bits_per_s, on average
    double busy_percent_max = 0;  // in the fullest interval
    std::int64_t rtt_ns = 0;      // an echo to the server and back, the median while it played; 0: not known
    std::int64_t rtt_min_ns = 0;  // the least
    std::uint64_t resent = 0;     // segments that came out of order: those before them were lost on the way
};

/// What the computer says of itself over the time of play; nullopt: it does not.
struct SystemEvidence {
    std::optional<std::int64_t>
        run_queue_wait_ns;  // able to run and not running; of this process's threads the longest
    std::optional<double> cpu_busy_percent;      // of all processors, all processes
    std::optional<double> cpu_pressure_percent;  // of the time some task waited for a processor
    std::optional<double> io_pressure_percent;   // of the time some task waited for I/O
    std::optional<double> memory_pressure_percent;
    std::optional<double> stolen_percent;      // of all processors, by a hypervisor
    std::optional<std::int64_t> suspended_ns;  // the computer slept meanwhile; nullopt: it did not
};

/// One computer's part in a run over several.
struct SeatResult {
    std::uint32_t rank = 0;
    std::vector<std::uint32_t> seats;  // that it played
    enum class State {
        complete,
        interrupted,  // it ended early and said so
        partial,      // it vanished: what is here is what its journal, or its last word, holds
        missing,      // nothing is known of what it played
    };
    State state = State::complete;
    std::string why;  // where it is not complete
    HostFacts host;
    std::string started_at;
    std::string node;  // of the server, that it used; empty: none is known
    Verdict verdict;
    FrameCounts totals;
    std::optional<MarginSummary> margin_ns;  // over its streams
    /// Its clock against rank 0's: what has to be added to its instants, and how wrong that may be. Measured
    /// before play, and again after it.
    std::int64_t clock_offset_ns = 0, clock_bound_ns = 0;
    std::optional<std::int64_t> clock_offset_after_ns, clock_bound_after_ns;
    /// First play_start against the agreed instant, by rank 0's clock; nullopt: it did not begin.
    std::optional<std::int64_t> start_ns;
    std::int64_t played_ns = 0;  // from its play_start to the end of what is known
    ClientEvidence client;
    SystemEvidence system;
    std::vector<LinkEvidence> links;
    std::optional<MountFacts> mount;
    std::string journal;  // where it is on that computer; empty: none was kept
};

constexpr const char* to_string(SeatResult::State state) {
    switch (state) {
        case SeatResult::State::complete: return "complete";
        case SeatResult::State::interrupted: return "interrupted";
        case SeatResult::State::partial: return "partial";
        case SeatResult::State::missing: return "missing";
    }
    return "?";
}

/// A measurement after play that failed: what the same clips give when they are read in another way.
struct ProbeResult {
    std::string name;  // "as played", "more in flight", "larger reads"
    std::uint64_t inflight = 0, io_size_bytes = 0, io_depth = 0;
    double bytes_per_s = 0;
};

/// Faults that streamsim injected. A run that has some makes no statement about its storage.
struct FaultsInjected {
    std::uint64_t operations_delayed = 0;  // by a rule or a stall of the schedule, so that they completed later
    std::uint64_t operations_failed = 0;   // an error, or a file that is not there, instead of the operation
    std::uint64_t operations_shortened = 0;  // a file that ends early
    std::uint64_t model_faults = 0;  // of a scenario, in parts of the model: drives, nodes, links, caches
    std::uint64_t frames_met = 0;    // missed frames, and stalls of play, that the faults caused
};

/// A time between two deliveries in which no stream was given a byte, as long as several frames.
struct ThroughputGap {
    std::int64_t from_ns = 0, to_ns = 0;  // from the first play_start
};

/// From t_ns on, the streams that play need so many bytes a second together.
struct RequiredRate {
    std::int64_t t_ns = 0;  // from the beginning of the run
    double bytes_per_s = 0;
};

struct MediaFacts {
    std::optional<std::int64_t> age_s;  // of the youngest clip
    bool looped = false;
    bool server_cache_may_be_warm = false;
    std::vector<std::string> notes;
    std::vector<std::string> skipped;  // files and clips of the target that cannot be played, and why
};

/// Which scenario it was, and whether it came as its author said.
struct ScenarioFacts {
    std::string file;
    std::string description;  // may be empty
    std::string expected;     // may be empty: nothing was
    std::optional<bool> as_expected;
    std::vector<std::string> surprises;  // what came otherwise, a sentence each
};

/// What was played on, where that was no storage.
struct ModelFacts {
    std::string name;   // "h500"
    std::string title;  // of its document
    std::uint32_t nodes = 0;
    std::uint32_t nodes_with_seats = 0;
    bool warm = false;
};

/// A part of the model: its books over play, from the first play_start to the last frame.
struct PartResult {
    PartStats stats;
    double utilisation = 0;                    // of its servers, 0 to 1
    std::optional<double> utilisation_missed;  // the same around the frames that were not there in time
    double lost_missed = 0;                    // of those frames, the share in whose second segments were lost
    double queue_mean = 0;                     // requests waiting or being served
    std::int64_t t_ns = 0;                     // from the first play_start: of the first interval
    std::vector<double> utilisation_per_interval;
};

/// Streams without meters and meters without streams, each played for as long before: what they cost each
/// other.
struct AloneResult {
    FrameCounts streams;
    std::optional<MarginSummary> margin_ns;
    std::vector<MeterResult> meters;
};

struct RunResult {
    std::string version, revision;
    std::vector<std::string> backends;
    std::string started_at;  // RFC 3339, UTC
    HostFacts host;
    std::vector<std::string> command;
    std::uint64_t seed = 0;
    // target
    std::string url, backend, io;
    bool direct = false;
    std::optional<ModelFacts> model;
    std::vector<std::string> notices;  // what could not be had

    std::optional<MountFacts> mount;
    std::vector<ServerResult> servers;  // that streamsim spoke to itself
    std::vector<LinkEvidence> links;
    SystemEvidence system;
    std::vector<ProbeResult> probes;

    // A run over several computers: one entry for each of `ranks`, by rank, or this process's own alone; empty:
    // there was one computer, and it kept no journal. `run_id` is the same in all documents of a run, "" where
    // `seats` is empty.
    std::string run_id;
    std::uint32_t ranks = 0;
    std::vector<SeatResult> seats;

    // how it was played
    std::uint64_t readahead = 0, inflight = 0, io_size_bytes = 0, io_depth = 0;  // io_size 0: a read a frame
    std::string on_miss, pattern, order;
    std::uint64_t layers = 1;
    bool sync = false;              // the streams of a seat run on one clock
    bool audio = false;             // is read along
    std::string multicam = "none";  // or "all", "active"
    std::uint64_t buffer_bytes = 0;

    std::optional<ScenarioFacts> scenario;
    std::optional<FaultsInjected> faults_injected;
    bool interrupted = false;
    Verdict verdict;
    std::vector<CauseResult> causes;  // the one that cost most first
    PlaceTest places;
    FrameCounts totals;
    ReasonCounts reasons;
    std::optional<MarginSummary> margin_ns;  // these five over all streams
    std::optional<LatencySummary> service_ns;
    std::optional<LatencySummary> response_ns;
    std::optional<LatencySummary> open_ns;
    std::optional<LatencySummary> seek_ns;
    std::optional<StreamHistograms> histograms;  // all streams' together, where they have theirs
    std::int64_t wall_ns = 0;                    // first submit to last completion, preroll included
    double read_bytes_per_s = 0;                 // totals.bytes_read / wall
    double required_bytes_per_s = 0;             // at one time, the most; 0 where nothing is required
    std::vector<RequiredRate> required_rates;    // where streams come and go: each change, by time; else empty
    MediaFacts media;
    std::vector<StreamResult> streams;  // by seat, then stream
    std::vector<MeterResult> meters;    // by seat, then as asked for
    std::optional<AloneResult> alone;   // nothing: there are not both, or it was not measured
    std::vector<DropRecord> drops;      // by seat, stream, slot
    std::uint64_t drops_omitted = 0;
    std::vector<SeekRecord> seeks;  // by seat, stream, slot
    std::vector<TimelineEntry> timeline;
    std::vector<ThroughputGap> throughput_gaps;  // by time
    std::vector<MarginBin> margin_bins;          // ascending, without gaps
    std::vector<PartResult> parts;  // of the model: seats, then nodes with their drives, then files
    ClientEvidence client;
    std::string digest;
    std::optional<std::string> timing_digest;  // virtual time only
    std::vector<FrameRow> frames;              // only where --csv asks for them; by seat, stream, slot
    std::vector<OperationRow> operations;      // the same of meters; by seat, user, transfer
};

/// `null:` and `sim:null` complete every operation at once: no storage has a part in the result.
inline bool is_null_storage(const RunResult& result) {
    return result.backend == "null" || (result.backend == "sim" && !result.model);
}

/// False: whatever came of the run, it says nothing about a storage.
inline bool judges_storage(const RunResult& result) {
    return !result.faults_injected && !is_null_storage(result);
}

}  // namespace streamsim
