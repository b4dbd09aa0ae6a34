// RunResult: the whole result of a run, as plain data. Report writers render it and compute nothing.
// Units are in the names; "never" and "not known" are nullopt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "streamsim/claims.h"
#include "streamsim/computer_evidence.h"
#include "streamsim/fields.h"
#include "streamsim/meter_result.h"
#include "streamsim/miss_event.h"
#include "streamsim/part_stats.h"
#include "streamsim/prediction.h"
#include "streamsim/project.h"
#include "streamsim/step_commands.h"
#include "streamsim/stream_result.h"
#include "streamsim/verdict.h"
#include "streamsim/verifier.h"

namespace streamsim {

/// One computer's part in a run over several.
struct SeatResult {
    std::uint32_t rank = 0;
    std::vector<std::uint32_t> seats;  // that it played
    enum class State {
        complete,
        interrupted,  // it ended early and said so
        partial,      // it vanished: its journal, or the last that it sent, is all that is known
        missing,      // nothing is known of what it played
    };
    State state = State::complete;
    std::string why;  // where it is not complete
    HostFacts host;
    std::string started_at;
    std::string node;  // the server's node that it used; empty: none is known
    Verdict verdict;
    FrameCounts totals;
    std::optional<MarginSummary> margin_ns;  // over its streams
    /// Its clock against rank 0's: the difference to be added to its instants, and the bound of its error.
    /// Measured before play, and again after it.
    std::int64_t clock_offset_ns = 0, clock_bound_ns = 0;
    std::optional<std::int64_t> clock_offset_after_ns, clock_bound_after_ns;
    /// First play_start against the agreed instant, by rank 0's clock; nullopt: it did not begin.
    std::optional<std::int64_t> start_ns;
    std::int64_t start_late_ns = 0;  // the most that one of its start groups began after the agreed instant
    std::int64_t played_ns = 0;      // from its play_start to the end of what is known
    ClientEvidence client;
    SystemEvidence system;
    std::vector<LinkEvidence> links;
    std::optional<MountFacts> mount;
    std::string journal;  // the file on that computer; empty: none was kept
};
void fields(ConstOr<SeatResult> auto& seat, auto& visit) {
    visit("rank", seat.rank);
    visit("seats", seat.seats);
    visit("state", seat.state);
    visit("why", seat.why);
    visit("host", seat.host);
    visit("started_at", seat.started_at);
    visit("node", seat.node);
    visit("verdict", seat.verdict);
    visit.object("totals", [&](auto& totals) {
        fields(seat.totals, totals);
        totals("passes", seat.totals.passes);
        totals("seeks", seat.totals.seeks);
    });
    visit("margin_ns", seat.margin_ns);
    visit("clock_offset_ns", seat.clock_offset_ns);
    visit("clock_bound_ns", seat.clock_bound_ns);
    visit("clock_offset_after_ns", seat.clock_offset_after_ns);
    visit("clock_bound_after_ns", seat.clock_bound_after_ns);
    visit("start_ns", seat.start_ns);
    visit("start_late_ns", seat.start_late_ns, kAdded);
    visit("played_ns", seat.played_ns);
    visit("client", seat.client);
    visit("system", seat.system);
    visit("links", seat.links);
    visit("mount", seat.mount);
    visit("journal", seat.journal);
}

constexpr const char* to_string(SeatResult::State state) {
    switch (state) {
        case SeatResult::State::complete: return "complete";
        case SeatResult::State::interrupted: return "interrupted";
        case SeatResult::State::partial: return "partial";
        case SeatResult::State::missing: return "missing";
    }
    return "?";
}

/// A measurement after play that failed: the throughput of the same clips when they are read in another way.
struct ProbeResult {
    std::string name;  // "as played", "more in flight", "larger reads"
    std::uint64_t inflight = 0, io_size_bytes = 0, io_depth = 0;
    double bytes_per_s = 0;
};
void fields(ConstOr<ProbeResult> auto& probe, auto& visit) {
    visit("name", probe.name);
    visit("inflight", probe.inflight);
    visit("io_size_bytes", probe.io_size_bytes);
    visit("io_depth", probe.io_depth);
    visit("bytes_per_s", whole(probe.bytes_per_s));
}

/// Faults that streamsim injected. A run that has some makes no statement about its storage.
struct FaultsInjected {
    std::uint64_t operations_delayed = 0;  // by a rule or a stall of the schedule, so that they completed later
    std::uint64_t operations_failed = 0;   // an error, or a file that is not there, instead of the operation
    std::uint64_t operations_shortened = 0;  // a file that ends early
    std::uint64_t model_faults = 0;  // by a scenario, in parts of the model: drives, nodes, links, caches
    std::uint64_t frames_met = 0;    // missed frames, and stalls of play, that the faults caused

    FaultsInjected& operator+=(const FaultsInjected& more) {
        operations_delayed += more.operations_delayed;
        operations_failed += more.operations_failed;
        operations_shortened += more.operations_shortened;
        model_faults += more.model_faults;
        frames_met += more.frames_met;
        return *this;
    }
};
void fields(ConstOr<FaultsInjected> auto& faults, auto& visit) {
    visit("operations_delayed", faults.operations_delayed);
    visit("operations_failed", faults.operations_failed);
    visit("operations_shortened", faults.operations_shortened);
    visit("model_faults", faults.model_faults);
    visit("frames_met", faults.frames_met);
}

struct MediaFacts {
    std::optional<std::int64_t> age_s;  // of the youngest clip
    bool looped = false;
    bool server_cache_may_be_warm = false;
    std::vector<std::string> notes;
    std::vector<std::string> skipped;  // files and clips of the target that cannot be played, and why
    bool shared = false;               // several streams, or layers of one, played one clip
    bool read_for_index = false;       // all of a clip was read for its index right before
};
void fields(ConstOr<MediaFacts> auto& media, auto& visit) {
    visit("age_s", media.age_s);
    visit("looped", media.looped);
    visit("server_cache_may_be_warm", media.server_cache_may_be_warm);
    visit("notes", media.notes);
    visit("skipped", media.skipped, kAdded);
    visit("shared", media.shared, kAdded);
    visit("read_for_index", media.read_for_index, kAdded);
}

/// The scenario that was run, and whether it came as its author said.
struct ScenarioFacts {
    std::string file;
    std::string description;  // may be empty
    std::string expected;     // may be empty: nothing was
    std::optional<bool> as_expected;
    std::vector<std::string> surprises;  // differences from what was expected, a sentence each
};
void fields(ConstOr<ScenarioFacts> auto& scenario, auto& visit) {
    visit("file", scenario.file);
    visit("description", scenario.description);
    visit("expected", scenario.expected);
    visit("as_expected", scenario.as_expected);
    visit("surprises", scenario.surprises);
}

/// The model that was played on instead of storage.
struct ModelFacts {
    std::string name;   // "h500"
    std::string title;  // of its document
    std::uint32_t nodes = 0;
    std::uint32_t nodes_with_seats = 0;
    bool warm = false;
    std::vector<std::string>
        trust;  // sentences: what it was fitted to, what it was checked on, with the errors
};
void fields(ConstOr<ModelFacts> auto& model, auto& visit) {
    visit("name", model.name);
    visit("title", model.title);
    visit("nodes", model.nodes);
    visit("nodes_with_seats", model.nodes_with_seats);
    visit("cache", worded(model.warm, "cold", "warm"));
    visit("trust", model.trust, kAdded);
}

/// A part of the model: its statistics over play, from the first play_start to the last frame.
struct PartResult {
    PartStats stats;
    double utilisation = 0;                    // of its servers, 0 to 1
    std::optional<double> utilisation_missed;  // the same around the missed frames
    double lost_missed = 0;                    // share of those frames in whose second segments were lost
    double queue_mean = 0;                     // requests waiting or being served
    std::int64_t t_ns = 0;                     // begin of the first interval, from the first play_start
    std::vector<double> utilisation_per_interval;
};
void fields(ConstOr<PartResult> auto& part, auto& visit) {
    visit("kind", part.stats.kind);
    visit("name", part.stats.name);
    visit("owner", part.stats.owner);
    visit("servers", part.stats.servers);
    visit("bytes_per_s", whole(part.stats.bytes_per_s));
    visit("requests", part.stats.requests);
    visit("bytes", part.stats.bytes);
    visit("busy_ns", part.stats.busy_ns);
    visit("utilisation", four_decimals(part.utilisation));
    visit("utilisation_missed", four_decimals(part.utilisation_missed));
    visit("queue_mean", four_decimals(part.queue_mean));
    visit("queue_longest", part.stats.longest_queue);
    visit("hits", part.stats.hits);
    visit("misses", part.stats.misses);
    visit("evictions", part.stats.evictions);
    visit("lost", part.stats.lost);
    visit("t_ns", part.t_ns);
    visit("interval_ns", part.stats.interval_ns);
    visit("utilisation_per_interval", four_decimals(part.utilisation_per_interval));
}

/// Streams without meters and meters without streams, each played for as long before: the difference to the
/// run with both is the cost of one to the other.
struct AloneResult {
    FrameCounts streams;
    std::optional<MarginSummary> margin_ns;
    std::vector<MeterResult> meters;
};
void fields(ConstOr<AloneResult> auto& alone, auto& visit) {
    visit.object("streams", [&](auto& streams) {
        fields(alone.streams, streams);
        streams("margin_ns", alone.margin_ns);
    });
    visit("meters", alone.meters);
}

/// The most computers of one run, as many as seats can be asked to join.
inline constexpr std::uint32_t kRanksMax = 100'000;

struct RunResult {
    // The compiler's own, made once (src/streamsim/run_result.cc): in each file they would take longer to
    // compile than what it does with a result.
    RunResult();
    RunResult(const RunResult&);
    RunResult(RunResult&&) noexcept;
    RunResult& operator=(const RunResult&);
    RunResult& operator=(RunResult&&) noexcept;
    ~RunResult();

    std::string version, revision;
    std::vector<std::string> backends;
    std::string started_at;  // RFC 3339, UTC
    Project project;
    HostFacts host;
    std::vector<std::string> command;
    std::uint64_t seed = 0;
    // target
    std::string url, backend, io;
    bool direct = false;
    std::optional<ModelFacts> model;
    std::vector<std::string> notices;  // unavailable capabilities

    std::optional<MountFacts> mount;
    std::vector<ServerResult> servers;  // that streamsim spoke to itself
    std::vector<LinkEvidence> links;
    SystemEvidence system;
    std::vector<ProbeResult> probes;

    // In a run over several computers, one entry for each of `ranks`, by rank, or this process's own alone;
    // empty: there was one computer, and it kept no journal. `run_id` is the same in all documents of a run, ""
    // where `seats` is empty.
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
    std::optional<BeforeStep> before_step;  // nullopt: no command was run before play
    std::optional<Counters> counters;  // over the play; nullopt: none were asked for, or they are not known
    std::optional<FaultsInjected> faults_injected;
    bool interrupted = false;
    bool playing = false;  // with interrupted: a snapshot of a run that goes on; in no document
    Verdict verdict;
    std::optional<Prediction>
        prediction;                   // over draws of a calibrated model; nullopt: it was not played on one
    std::vector<CauseResult> causes;  // the one that cost most first
    PlaceTest places;
    FrameCounts totals;
    ReasonCounts reasons;
    // Distributions over all streams.
    std::optional<MarginSummary> margin_ns;
    std::optional<LatencySummary> service_ns;
    std::optional<LatencySummary> response_ns;
    std::optional<LatencySummary> open_ns;
    std::optional<LatencySummary> seek_ns;
    std::optional<StreamHistograms> histograms;  // all streams' together, where they have theirs
    /// First submit to last completion, preroll included; of a run that was interrupted in it, to that.
    std::int64_t wall_ns = 0;
    double read_bytes_per_s = 0;               // totals.bytes_read / wall
    double required_bytes_per_s = 0;           // at one time, the most; 0 where nothing is required
    std::vector<RequiredRate> required_rates;  // where streams come and go: each change, by time; else empty
    MediaFacts media;
    std::vector<StreamResult> streams;  // by seat, then stream
    std::vector<MeterResult> meters;    // by seat, then as asked for
    std::optional<AloneResult> alone;   // nullopt: there are not both, or it was not measured
    std::vector<DropRecord> drops;      // by seat, stream, slot
    std::uint64_t drops_omitted = 0;
    std::optional<ContentCheck> content;  // nullopt: nobody asked for it (--verify)
    std::vector<MissEvent> events;        // of the drops and of stalls, by time
    std::optional<Claims> claims;         // nullopt: no stream played against deadlines
    std::vector<SeekRecord> seeks;        // by seat, stream, slot
    std::vector<TimelineEntry> timeline;
    std::vector<ComputerInterval> computer_timeline;  // of real storage on one computer
    std::vector<ThroughputGap> throughput_gaps;       // by time
    std::vector<MarginBin> margin_bins;               // ascending, without gaps
    std::vector<MarginBin> service_bins;              // the same of service times, ten for each power of ten
    std::vector<PartResult> parts;  // of the model: seats, then nodes with their drives, then files
    ClientEvidence client;
    std::string digest;
    std::optional<std::string> timing_digest;  // virtual time only
    std::vector<FrameRow> frames;              // only where --csv asks for them; by seat, stream, slot
    std::vector<OperationRow> operations;      // the same for meters; by seat, then meter
};
/// Members that every kind of document has alike.
void program_fields(ConstOr<RunResult> auto& result, auto& visit) {
    visit.object("streamsim", [&](auto& program) {
        program("version", result.version);
        program("revision", result.revision);
        program("backends", result.backends);
    });
    visit("started_at", result.started_at);
    visit("project", result.project, only_if(result.project.is_named()));
}
void target_fields(ConstOr<RunResult> auto& result, auto& visit) {
    visit("command", result.command);
    visit("seed", result.seed);
    visit.object("target", [&](auto& target) {
        target("url", result.url);
        target("backend", result.backend);
        target("io", result.io);
        target("direct", result.direct);
    });
}
void play_fields(ConstOr<RunResult> auto& result, auto& visit) {
    visit("readahead", result.readahead);
    visit("inflight", result.inflight);
    visit("io_size_bytes", result.io_size_bytes);
    visit("io_depth", result.io_depth);
    visit("on_miss", result.on_miss);
}
void totals_fields(ConstOr<RunResult> auto& result, auto& visit) {
    fields(result.totals, visit);
    visit("wall_ns", result.wall_ns);
    visit("read_bytes_per_s", whole(result.read_bytes_per_s));
    visit("required_bytes_per_s", whole(result.required_bytes_per_s));
    visit("required_rates", result.required_rates, kAdded);
    visit("passes", result.totals.passes);
    visit("reasons", result.reasons);
    visit("margin_ns", result.margin_ns);
    visit("service_ns", result.service_ns);
    visit("response_ns", result.response_ns);
    visit("open_ns", result.open_ns);
    visit("seeks", result.totals.seeks);
    visit("seek_ns", result.seek_ns);
    visit("histograms", result.histograms, only_if(result.histograms.has_value()));
}
/// Frames and operations are in no document.
void fields(ConstOr<RunResult> auto& result, auto& visit) {
    program_fields(result, visit);
    visit("host", result.host);
    target_fields(result, visit);
    visit("model", result.model);
    visit.object("play", [&](auto& play) {
        play_fields(result, play);
        play("pattern", result.pattern);
        play("order", result.order);
        play("layers", result.layers);
        play("sync", result.sync);
        play("multicam", result.multicam);
        play("audio", result.audio);
        play("buffer_bytes", result.buffer_bytes);
    });
    visit("scenario", result.scenario, only_if(result.scenario.has_value()));
    visit("before_step", result.before_step, only_if(result.before_step.has_value()));
    visit("counters", result.counters, only_if(result.counters.has_value()));
    visit("notices", result.notices);
    visit("interrupted", result.interrupted);
    visit("faults_injected", result.faults_injected, kAdded);
    visit("verdict", result.verdict);
    visit("prediction", result.prediction, only_if(result.prediction.has_value()));
    visit("run_id", result.run_id, only_if(!result.seats.empty()));
    visit("ranks", result.ranks, only_if(!result.seats.empty()));
    visit("seats", result.seats, only_if(!result.seats.empty()));
    visit("causes", result.causes, kAdded);
    visit("places", result.places, kAdded);
    visit.object("totals", [&](auto& totals) { totals_fields(result, totals); });
    visit("media", result.media);
    visit("streams", result.streams);
    visit("meters", result.meters, only_if(!result.meters.empty()));
    visit("alone", result.alone, only_if(result.alone.has_value()));
    visit("drops", result.drops);
    visit("drops_omitted", result.drops_omitted);
    visit("content", result.content, only_if(result.content.has_value()));
    visit("events", result.events, kAdded);
    visit("claims", result.claims, kAdded);
    visit("seeks", result.seeks);
    visit("timeline", result.timeline);
    visit("computer_timeline", result.computer_timeline, kAdded);
    visit("throughput_gaps", result.throughput_gaps, kAdded);
    visit("margin_bins", result.margin_bins, kAdded);
    visit("service_bins", result.service_bins, kAdded);
    visit("parts", result.parts);
    visit("client", result.client);
    visit("mount", result.mount, kAdded);
    visit("servers", result.servers, kAdded);
    visit("links", result.links, kAdded);
    visit("system", result.system, kAdded);
    visit("probes", result.probes, kAdded);
    visit("digest", result.digest);
    visit("timing_digest", result.timing_digest);
}

/// Missed frames and stalls that no event has: those beyond what is kept of a stream.
std::uint64_t misses_in_no_event(const RunResult& result);

/// `null:` and `sim:null` complete every operation at once: no storage has a part in the result.
inline bool is_null_storage(const RunResult& result) {
    return result.backend == "null" || (result.backend == "sim" && !result.model);
}

/// False: whatever came of the run, it says nothing about a storage.
inline bool judges_storage(const RunResult& result) {
    return !result.faults_injected && !is_null_storage(result);
}

}  // namespace streamsim
