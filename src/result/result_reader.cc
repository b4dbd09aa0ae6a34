#include "result/result_reader.h"

#include "result/meter_json.h"
#include "result/result_reading.h"
#include "result/result_stats.h"

namespace streamsim::result {
namespace reading {

void read(const Node& node, MarginSummary& into) {
    Members(node)
        .get("min", into.min)
        .get("p0_1", into.p0_1)
        .get("p1", into.p1)
        .get("p10", into.p10)
        .get("p50", into.p50)
        .get("max", into.max);
}

void read(const Node& node, LatencySummary& into) {
    Members(node)
        .get("p50", into.p50)
        .get("p90", into.p90)
        .get("p99", into.p99)
        .get("p99_9", into.p99_9)
        .get("max", into.max);
}

void read(const Node& node, BufferSummary& into) {
    Members(node).get("min", into.min).get("p1", into.p1).get("p50", into.p50);
}

void read(const Node& node, HistogramCounts& into) {
    if (node.json.is_null()) return;
    std::vector<std::int64_t> values;
    std::vector<std::uint64_t> times;
    Members(node).get("min", into.min).get("max", into.max).get("values", values).get("times", times);
    if (values.size() != times.size())
        return node.problems.add(node.pointer, "expected two columns of the same length");
    for (std::size_t i = 0; i < values.size(); ++i) into.buckets.push_back({values[i], times[i]});
}

void read(const Node& node, StreamHistograms& into) {
    Members(node)
        .get("margin_ns", into.margin_ns)
        .get("preroll_margin_ns", into.preroll_margin_ns)
        .get("service_ns", into.service_ns)
        .get("response_ns", into.response_ns)
        .get("open_ns", into.open_ns)
        .get("seek_ns", into.seek_ns)
        .added("sync_ns", into.sync_ns)
        .get("buffer_frames", into.buffer_frames);
}

void read_counts(Members& members, FrameCounts& into) {
    members.get("frames_scheduled", into.scheduled)
        .get("frames_on_time", into.on_time)
        .get("frames_late", into.late)
        .get("frames_dropped", into.dropped)
        .get("frames_failed", into.failed)
        .get("frames_cancelled", into.cancelled)
        .get("startup_drops", into.startup_drops)
        .get("stalls", into.stalls)
        .get("stall_ns", into.stall_ns)
        .get("bytes_read", into.bytes_read)
        .added("bytes_written", into.bytes_written)
        .get("passes", into.passes)
        .get("seeks", into.seeks);
}

struct AloneStreams {
    AloneResult& of;
};
void read(const Node& node, AloneStreams& into) {
    Members members(node);
    members.get("margin_ns", into.of.margin_ns);
    members.get("frames_scheduled", into.of.streams.scheduled)
        .get("frames_on_time", into.of.streams.on_time)
        .get("frames_late", into.of.streams.late)
        .get("frames_dropped", into.of.streams.dropped)
        .get("frames_failed", into.of.streams.failed)
        .get("frames_cancelled", into.of.streams.cancelled)
        .get("startup_drops", into.of.streams.startup_drops)
        .get("stalls", into.of.streams.stalls);
}

void read(const Node& node, AloneResult& into) {
    AloneStreams streams{into};
    Members(node).get("streams", streams).get("meters", into.meters);
}

void read(const Node& node, ReasonCounts& into) {
    Members(node)
        .get("late", into.late)
        .get("client", into.client)
        .get("error", into.error)
        .get("short", into.short_read)
        .get("missing", into.missing);
}

void read(const Node& node, StreamSeries& into) {
    std::vector<std::optional<std::int64_t>> margin;
    std::vector<std::optional<std::uint32_t>> buffer;
    std::vector<std::uint32_t> missed;
    Members(node)
        .get("interval_ns", into.interval_ns)
        .get("margin_ns_min", margin)
        .get("buffer_frames_min", buffer)
        .get("frames_missed", missed);
    if (buffer.size() != margin.size() || missed.size() != margin.size())
        return node.problems.add(node.pointer, "expected three columns of the same length");
    for (std::size_t i = 0; i < margin.size(); ++i) into.points.push_back({margin[i], buffer[i], missed[i]});
}

void read(const Node& node, StreamResult& into) {
    Members members(node);
    members.get("seat", into.seat).get("stream", into.stream).get("format", into.format);
    members.get("clip", into.clip).get("rate", into.rate);
    read_counts(members, into.counts);
    members.get("paced", into.paced)
        .get("pattern", into.pattern)
        .get("required_bytes_per_s", into.required_bytes_per_s)
        .get("play_start_ns", into.play_start_ns)
        .get("start_delay_ns", into.start_delay_ns)
        .get("last_due_ns", into.last_due_ns)
        .get("longest_drop_run", into.longest_drop_run)
        .get("margin_ns", into.margin_ns)
        .get("service_ns", into.service_ns)
        .get("response_ns", into.response_ns)
        .get("open_ns", into.open_ns)
        .get("seek_ns", into.seek_ns)
        .get("buffer_frames", into.buffer_frames)
        .added("records", into.records)
        .added("durable", into.durable)
        .added("sync_ns", into.sync_ns)
        .added("series", into.series)
        .added("histograms", into.histograms);
}

void read(const Node& node, DropRecord& into) {
    Members(node)
        .get("seat", into.seat)
        .get("stream", into.stream)
        .get("frame", into.frame)
        .get("clip_frame", into.clip_frame)
        .get("file", into.file)
        .get("due_ns", into.due_ns)
        .get("completed_ns", into.completed_ns)
        .get("kind", into.kind)
        .get("reason", into.reason)
        .get("errno", into.error)
        .get("timecode", into.timecode)
        .added("cause", into.cause);
}

void read(const Node& node, SeekRecord& into) {
    Members(node)
        .get("seat", into.seat)
        .get("stream", into.stream)
        .get("frame", into.frame)
        .get("clip_frame", into.clip_frame)
        .get("requested_ns", into.requested_ns)
        .get("latency_ns", into.latency_ns)
        .get("failed", into.failed);
}

void read(const Node& node, TimelineEntry& into) {
    Members(node)
        .get("t_ns", into.t_ns)
        .get("interval_ns", into.interval_ns)
        .get("bytes", into.bytes)
        .get("frames_on_time", into.frames_on_time)
        .get("frames_dropped", into.frames_dropped)
        .added("frames_late", into.frames_late)
        .added("frames_failed", into.frames_failed)
        .get("service_ns_max", into.service_ns_max)
        .get("buffer_frames_min", into.buffer_frames_min)
        .added("margin_ns_min", into.margin_ns_min);
}

void read(const Node& node, ThroughputGap& into) {
    Members(node).get("from_ns", into.from_ns).get("to_ns", into.to_ns);
}

void read(const Node& node, RequiredRate& into) {
    Members(node).get("t_ns", into.t_ns).get("bytes_per_s", into.bytes_per_s);
}

void read(const Node& node, FaultsInjected& into) {
    Members(node)
        .get("operations_delayed", into.operations_delayed)
        .get("operations_failed", into.operations_failed)
        .get("operations_shortened", into.operations_shortened)
        .get("model_faults", into.model_faults)
        .get("frames_met", into.frames_met);
}

void read(const Node& node, MarginBin& into) {
    Members(node).get("from_ns", into.from_ns).get("to_ns", into.to_ns).get("frames", into.frames);
}

void read(const Node& node, CauseResult& into) {
    Members(node)
        .get("cause", into.cause)
        .get("limit", into.limit)
        .get("frames", into.frames)
        .get("stalls", into.stalls)
        .get("summary", into.summary)
        .get("detail", into.detail);
}

void read(const Node& node, PlaceTest& into) {
    Members(node).get("answer", into.answer).get("places", into.places).get("every_pass", into.every_pass);
}

void read(const Node& node, Verdict& into) {
    Members(node)
        .get("pass", into.pass)
        .get("reason", into.reason)
        .get("limit", into.limit)
        .added("detail", into.detail)
        .added("next", into.next);
}

void read(const Node& node, HostFacts& into) {
    Members(node)
        .get("name", into.name)
        .get("os", into.os)
        .get("cpus", into.cpus)
        .get("memory_bytes", into.memory_bytes);
}

struct Lateness {
    ClientEvidence& of;
};
void read(const Node& node, Lateness& into) {
    Members(node)
        .get("p50", into.of.loop_lateness_p50_ns)
        .get("p99", into.of.loop_lateness_p99_ns)
        .get("max", into.of.loop_lateness_max_ns);
}
void read(const Node& node, ClientEvidence& into) {
    Lateness lateness{into};
    Members(node)
        .get("cpu_percent", into.cpu_percent)
        .get("cpu_ns", into.cpu_ns)
        .added("helpers_cpu_ns", into.helpers_cpu_ns)
        .get("loop_lateness_ns", lateness)
        .get("loop_stalls", into.loop_stalls)
        .get("loop_stalled_ns", into.loop_stalled_ns)
        .get("page_cache_bytes", into.page_cache_bytes)
        .get("loops", into.loops)
        .get("realtime", into.realtime);
}

void read(const Node& node, MountFacts& into) {
    Members(node)
        .get("point", into.point)
        .get("source", into.source)
        .get("type", into.type)
        .get("options", into.options)
        .added("server", into.server)
        .added("protocol", into.protocol)
        .added("connections", into.connections)
        .added("read_bytes", into.read_bytes)
        .added("read_ahead_bytes", into.read_ahead_bytes)
        .added("hints", into.hints);
}

void read(const Node& node, ServerResult& into) {
    Members(node)
        .get("address", into.address)
        .get("protocol", into.protocol)
        .get("seats", into.seats)
        .get("connections", into.connections)
        .get("read_bytes", into.read_bytes)
        .get("requests", into.requests)
        .get("requests_per_frame", into.requests_per_frame)
        .get("received_bytes", into.received_bytes)
        .get("reconnects", into.reconnects)
        .get("retransmitted_segments", into.retransmitted_segments)
        .get("rtt_ns", into.rtt_ns);
}

void read(const Node& node, LinkEvidence& into) {
    Members(node)
        .get("name", into.name)
        .get("bits_per_s", into.bits_per_s)
        .get("received_bytes", into.received_bytes)
        .get("busy_percent", into.busy_percent)
        .get("busy_percent_max", into.busy_percent_max)
        .get("rtt_ns", into.rtt_ns)
        .get("rtt_min_ns", into.rtt_min_ns)
        .get("resent", into.resent);
}

void read(const Node& node, SystemEvidence& into) {
    Members(node)
        .get("run_queue_wait_ns", into.run_queue_wait_ns)
        .get("cpu_busy_percent", into.cpu_busy_percent)
        .get("cpu_pressure_percent", into.cpu_pressure_percent)
        .get("io_pressure_percent", into.io_pressure_percent)
        .get("memory_pressure_percent", into.memory_pressure_percent)
        .get("stolen_percent", into.stolen_percent)
        .added("suspended_ns", into.suspended_ns);
}

void read(const Node& node, ProbeResult& into) {
    Members(node)
        .get("name", into.name)
        .get("inflight", into.inflight)
        .get("io_size_bytes", into.io_size_bytes)
        .get("io_depth", into.io_depth)
        .get("bytes_per_s", into.bytes_per_s);
}

void read(const Node& node, MediaFacts& into) {
    Members(node)
        .get("age_s", into.age_s)
        .get("looped", into.looped)
        .get("server_cache_may_be_warm", into.server_cache_may_be_warm)
        .get("notes", into.notes)
        .added("skipped", into.skipped);
}

void read(const Node& node, ScenarioFacts& into) {
    Members(node)
        .get("file", into.file)
        .get("description", into.description)
        .get("expected", into.expected)
        .get("as_expected", into.as_expected)
        .get("surprises", into.surprises);
}

void read(const Node& node, ModelFacts& into) {
    std::string cache;
    Members members(node);
    members.get("name", into.name).get("title", into.title).get("nodes", into.nodes);
    members.get("nodes_with_seats", into.nodes_with_seats).get("cache", cache);
    into.warm = cache == "warm";
    if (!cache.empty() && cache != "warm" && cache != "cold")
        node.problems.add(node.pointer + "/cache", "expected cold or warm");
}

void read(const Node& node, PartResult& into) {
    PartStats& stats = into.stats;
    Members(node)
        .get("kind", stats.kind)
        .get("name", stats.name)
        .get("owner", stats.owner)
        .get("servers", stats.servers)
        .get("bytes_per_s", stats.bytes_per_s)
        .get("requests", stats.requests)
        .get("bytes", stats.bytes)
        .get("busy_ns", stats.busy_ns)
        .get("utilisation", into.utilisation)
        .get("utilisation_missed", into.utilisation_missed)
        .get("queue_mean", into.queue_mean)
        .get("queue_longest", stats.longest_queue)
        .get("hits", stats.hits)
        .get("misses", stats.misses)
        .get("evictions", stats.evictions)
        .get("lost", stats.lost)
        .get("t_ns", into.t_ns)
        .get("interval_ns", stats.interval_ns)
        .get("utilisation_per_interval", into.utilisation_per_interval);
}

// Sections of the document that are no struct of the result.
struct Program {
    RunResult& of;
};
void read(const Node& node, Program& into) {
    Members(node)
        .get("version", into.of.version)
        .get("revision", into.of.revision)
        .get("backends", into.of.backends);
}

struct TargetFacts {
    RunResult& of;
};
void read(const Node& node, TargetFacts& into) {
    Members(node)
        .get("url", into.of.url)
        .get("backend", into.of.backend)
        .get("io", into.of.io)
        .get("direct", into.of.direct);
}

struct Play {
    RunResult& of;
};
void read(const Node& node, Play& into) {
    RunResult& result = into.of;
    Members(node)
        .get("readahead", result.readahead)
        .get("inflight", result.inflight)
        .get("io_size_bytes", result.io_size_bytes)
        .get("io_depth", result.io_depth)
        .get("on_miss", result.on_miss)
        .get("pattern", result.pattern)
        .get("order", result.order)
        .get("layers", result.layers)
        .get("sync", result.sync)
        .get("multicam", result.multicam)
        .get("audio", result.audio)
        .get("buffer_bytes", result.buffer_bytes);
}

struct Totals {
    RunResult& of;
};
void read(const Node& node, Totals& into) {
    RunResult& result = into.of;
    Members members(node);
    read_counts(members, result.totals);
    members.get("wall_ns", result.wall_ns)
        .get("read_bytes_per_s", result.read_bytes_per_s)
        .get("required_bytes_per_s", result.required_bytes_per_s)
        .added("required_rates", result.required_rates)
        .get("reasons", result.reasons)
        .get("margin_ns", result.margin_ns)
        .get("service_ns", result.service_ns)
        .get("response_ns", result.response_ns)
        .get("open_ns", result.open_ns)
        .get("seek_ns", result.seek_ns)
        .added("histograms", result.histograms);
}

struct SeatTotals {
    FrameCounts& of;
};
void read(const Node& node, SeatTotals& into) {
    Members members(node);
    read_counts(members, into.of);
}

void read(const Node& node, SeatResult& into) {
    SeatTotals totals{into.totals};
    Members(node)
        .get("rank", into.rank)
        .get("seats", into.seats)
        .get("state", into.state)
        .get("why", into.why)
        .get("host", into.host)
        .get("started_at", into.started_at)
        .get("node", into.node)
        .get("verdict", into.verdict)
        .get("totals", totals)
        .get("margin_ns", into.margin_ns)
        .get("clock_offset_ns", into.clock_offset_ns)
        .get("clock_bound_ns", into.clock_bound_ns)
        .get("clock_offset_after_ns", into.clock_offset_after_ns)
        .get("clock_bound_after_ns", into.clock_bound_after_ns)
        .get("start_ns", into.start_ns)
        .get("played_ns", into.played_ns)
        .get("client", into.client)
        .get("system", into.system)
        .get("links", into.links)
        .get("mount", into.mount)
        .get("journal", into.journal);
}

void read(const Node& node, RunResult& result) {
    Program program{result};
    TargetFacts target{result};
    Play play{result};
    Totals totals{result};
    Members(node)
        .get("streamsim", program)
        .get("started_at", result.started_at)
        .get("host", result.host)
        .get("command", result.command)
        .get("seed", result.seed)
        .get("target", target)
        .get("model", result.model)
        .get("play", play)
        .added("scenario", result.scenario)
        .get("notices", result.notices)
        .get("interrupted", result.interrupted)
        .added("faults_injected", result.faults_injected)
        .get("verdict", result.verdict)
        .added("run_id", result.run_id)
        .added("ranks", result.ranks)
        .added("seats", result.seats)
        .added("causes", result.causes)
        .added("places", result.places)
        .get("totals", totals)
        .get("media", result.media)
        .get("streams", result.streams)
        .added("meters", result.meters)
        .added("alone", result.alone)
        .get("drops", result.drops)
        .get("drops_omitted", result.drops_omitted)
        .get("seeks", result.seeks)
        .get("timeline", result.timeline)
        .added("throughput_gaps", result.throughput_gaps)
        .added("margin_bins", result.margin_bins)
        .get("parts", result.parts)
        .get("client", result.client)
        .added("mount", result.mount)
        .added("servers", result.servers)
        .added("links", result.links)
        .added("system", result.system)
        .added("probes", result.probes)
        .get("digest", result.digest)
        .get("timing_digest", result.timing_digest);
}

/// Of another document nothing else is worth saying.
void check_kind(const Json& document, JsonProblems& problems) {
    JsonObject object(document, "", problems);
    if (!problems.empty()) return;
    const auto schema = object.string("schema");
    if (schema == "streamsim.max") {
        object.problem("schema",
                       "this is what streamsim max found, not the result of one run: expected a document "
                       "that play or run wrote with --json");
    } else if (schema == "streamsim.comparison") {
        object.problem("schema", "this is a comparison of results: expected the results themselves");
    } else {
        check_schema(object, "streamsim.result", 1);
    }
}

}  // namespace reading

Result<RunResult> read_result(std::string_view text, const std::string& source) {
    const auto document = parse_json(text, source);
    if (!document) return document.error();
    JsonProblems problems(source);
    reading::check_kind(*document, problems);
    if (!problems.empty()) return problems.error();
    RunResult result;
    read(reading::Node{*document, "", problems}, result);
    if (problems.empty()) check_stats(result, problems);
    if (!problems.empty()) return problems.error();
    return result;
}

}  // namespace streamsim::result
