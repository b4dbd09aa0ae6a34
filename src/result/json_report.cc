#include "result/json_report.h"

#include <cmath>

#include "base/document/json.h"
#include "result/meter_json.h"

namespace streamsim::result {
namespace {

constexpr std::size_t kIndent = 2;

std::string dump(const OrderedJson& value) {
    return value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

template <typename T>
OrderedJson or_null(const std::optional<T>& value) {
    return value ? OrderedJson(*value) : OrderedJson(nullptr);
}

/// JSON has no NaN and no infinity.
OrderedJson finite(double value) {
    return std::isfinite(value) ? OrderedJson(value) : OrderedJson(nullptr);
}

/// Bytes a second, as an integer.
OrderedJson whole(double value) {
    return std::isfinite(value) ? OrderedJson(std::llround(value)) : OrderedJson(nullptr);
}

OrderedJson margin_json(const std::optional<MarginSummary>& margin) {
    if (!margin) return nullptr;
    return {{"min", margin->min}, {"p0_1", margin->p0_1}, {"p1", margin->p1},
            {"p10", margin->p10}, {"p50", margin->p50},   {"max", margin->max}};
}

OrderedJson latency_json(const std::optional<LatencySummary>& latency) {
    if (!latency) return nullptr;
    return {{"p50", latency->p50},
            {"p90", latency->p90},
            {"p99", latency->p99},
            {"p99_9", latency->p99_9},
            {"max", latency->max}};
}

OrderedJson buffer_json(const std::optional<BufferSummary>& buffer) {
    if (!buffer) return nullptr;
    return {{"min", buffer->min}, {"p1", buffer->p1}, {"p50", buffer->p50}};
}

/// Column by column, ascending.
OrderedJson histogram_json(const HistogramCounts& histogram) {
    if (histogram.buckets.empty()) return nullptr;
    OrderedJson values = OrderedJson::array();
    OrderedJson times = OrderedJson::array();
    for (const HistogramCounts::Bucket& bucket : histogram.buckets) {
        values.push_back(bucket.value);
        times.push_back(bucket.times);
    }
    return {{"min", histogram.min},
            {"max", histogram.max},
            {"values", std::move(values)},
            {"times", std::move(times)}};
}

OrderedJson histograms_json(const StreamHistograms& histograms) {
    return {{"margin_ns", histogram_json(histograms.margin_ns)},
            {"preroll_margin_ns", histogram_json(histograms.preroll_margin_ns)},
            {"service_ns", histogram_json(histograms.service_ns)},
            {"response_ns", histogram_json(histograms.response_ns)},
            {"open_ns", histogram_json(histograms.open_ns)},
            {"seek_ns", histogram_json(histograms.seek_ns)},
            {"sync_ns", histogram_json(histograms.sync_ns)},
            {"buffer_frames", histogram_json(histograms.buffer_frames)}};
}

void add_counts(const FrameCounts& counts, OrderedJson& to) {
    to["frames_scheduled"] = counts.scheduled;
    to["frames_on_time"] = counts.on_time;
    to["frames_late"] = counts.late;
    to["frames_dropped"] = counts.dropped;
    to["frames_failed"] = counts.failed;
    to["frames_cancelled"] = counts.cancelled;
    to["startup_drops"] = counts.startup_drops;
    to["stalls"] = counts.stalls;
    to["stall_ns"] = counts.stall_ns;
    to["bytes_read"] = counts.bytes_read;
    to["bytes_written"] = counts.bytes_written;
}

OrderedJson required_json(const std::vector<RequiredRate>& rates) {
    OrderedJson out = OrderedJson::array();
    for (const RequiredRate& rate : rates)
        out.push_back({{"t_ns", rate.t_ns}, {"bytes_per_s", whole(rate.bytes_per_s)}});
    return out;
}

OrderedJson totals_json(const RunResult& result) {
    OrderedJson totals = OrderedJson::object();
    add_counts(result.totals, totals);
    totals["wall_ns"] = result.wall_ns;
    totals["read_bytes_per_s"] = whole(result.read_bytes_per_s);
    totals["required_bytes_per_s"] = whole(result.required_bytes_per_s);
    totals["required_rates"] = required_json(result.required_rates);
    totals["passes"] = result.totals.passes;
    const ReasonCounts& reasons = result.reasons;
    totals["reasons"] = {{"late", reasons.late},
                         {"client", reasons.client},
                         {"error", reasons.error},
                         {"short", reasons.short_read},
                         {"missing", reasons.missing}};
    totals["margin_ns"] = margin_json(result.margin_ns);
    totals["service_ns"] = latency_json(result.service_ns);
    totals["response_ns"] = latency_json(result.response_ns);
    totals["open_ns"] = latency_json(result.open_ns);
    totals["seeks"] = result.totals.seeks;
    totals["seek_ns"] = latency_json(result.seek_ns);
    if (result.histograms) totals["histograms"] = histograms_json(*result.histograms);
    return totals;
}

OrderedJson alone_json(const AloneResult& alone) {
    OrderedJson streams = OrderedJson::object();
    add_counts(alone.streams, streams);
    streams["margin_ns"] = margin_json(alone.margin_ns);
    OrderedJson meters = OrderedJson::array();
    for (const MeterResult& meter : alone.meters) meters.push_back(meter_json(meter));
    return {{"streams", std::move(streams)}, {"meters", std::move(meters)}};
}

OrderedJson scenario_json(const ScenarioFacts& scenario) {
    return {{"file", scenario.file},
            {"description", scenario.description},
            {"expected", scenario.expected},
            {"as_expected", or_null(scenario.as_expected)},
            {"surprises", scenario.surprises}};
}

/// Column by column: a line each, however long the run was.
OrderedJson series_json(const StreamSeries& series) {
    OrderedJson margin = OrderedJson::array();
    OrderedJson buffer = OrderedJson::array();
    OrderedJson missed = OrderedJson::array();
    for (const StreamSeries::Point& point : series.points) {
        margin.push_back(or_null(point.margin_min_ns));
        buffer.push_back(or_null(point.buffer_min));
        missed.push_back(point.missed);
    }
    return {{"interval_ns", series.interval_ns},
            {"margin_ns_min", std::move(margin)},
            {"buffer_frames_min", std::move(buffer)},
            {"frames_missed", std::move(missed)}};
}

OrderedJson stream_json(const StreamResult& stream) {
    OrderedJson out = {{"seat", stream.seat},
                       {"stream", stream.stream},
                       {"format", stream.format},
                       {"clip", stream.clip},
                       {"rate", OrderedJson::array({stream.rate.num, stream.rate.den})}};
    add_counts(stream.counts, out);
    out["passes"] = stream.counts.passes;
    out["paced"] = stream.paced;
    out["pattern"] = stream.pattern;
    out["required_bytes_per_s"] = whole(stream.required_bytes_per_s);
    out["play_start_ns"] = stream.play_start_ns;
    out["start_delay_ns"] = stream.start_delay_ns;
    out["last_due_ns"] = stream.last_due_ns;
    out["longest_drop_run"] = stream.longest_drop_run;
    out["margin_ns"] = margin_json(stream.margin_ns);
    out["service_ns"] = latency_json(stream.service_ns);
    out["response_ns"] = latency_json(stream.response_ns);
    out["open_ns"] = latency_json(stream.open_ns);
    out["seeks"] = stream.counts.seeks;
    out["seek_ns"] = latency_json(stream.seek_ns);
    out["records"] = stream.records;
    out["durable"] = stream.durable;
    out["sync_ns"] = latency_json(stream.sync_ns);
    out["buffer_frames"] = buffer_json(stream.buffer_frames);
    out["series"] = series_json(stream.series);
    if (stream.histograms) out["histograms"] = histograms_json(*stream.histograms);
    return out;
}

OrderedJson drop_json(const DropRecord& drop) {
    return {{"seat", drop.seat},
            {"stream", drop.stream},
            {"frame", drop.frame},
            {"clip_frame", drop.clip_frame},
            {"file", drop.file},
            {"due_ns", drop.due_ns},
            {"completed_ns", or_null(drop.completed_ns)},
            {"kind", to_string(drop.kind)},
            {"reason", to_string(drop.reason)},
            {"errno", drop.error},
            {"timecode", drop.timecode},
            {"cause", to_string(drop.cause)}};
}

OrderedJson seek_json(const SeekRecord& seek) {
    return {{"seat", seek.seat},
            {"stream", seek.stream},
            {"frame", seek.frame},
            {"clip_frame", seek.clip_frame},
            {"requested_ns", seek.requested_ns},
            {"latency_ns", seek.latency_ns},
            {"failed", seek.failed}};
}

OrderedJson timeline_json(const TimelineEntry& entry) {
    return {{"t_ns", entry.t_ns},
            {"interval_ns", entry.interval_ns},
            {"bytes", entry.bytes},
            {"frames_on_time", entry.frames_on_time},
            {"frames_dropped", entry.frames_dropped},
            {"frames_late", entry.frames_late},
            {"frames_failed", entry.frames_failed},
            {"service_ns_max", entry.service_ns_max},
            {"buffer_frames_min", or_null(entry.buffer_frames_min)},
            {"margin_ns_min", or_null(entry.margin_ns_min)}};
}

OrderedJson gap_json(const ThroughputGap& gap) {
    return {{"from_ns", gap.from_ns}, {"to_ns", gap.to_ns}};
}

OrderedJson faults_json(const std::optional<FaultsInjected>& faults) {
    if (!faults) return nullptr;
    return {{"operations_delayed", faults->operations_delayed},
            {"operations_failed", faults->operations_failed},
            {"operations_shortened", faults->operations_shortened},
            {"model_faults", faults->model_faults},
            {"frames_met", faults->frames_met}};
}

OrderedJson bin_json(const MarginBin& bin) {
    return {{"from_ns", bin.from_ns}, {"to_ns", bin.to_ns}, {"frames", bin.frames}};
}

OrderedJson cause_json(const CauseResult& cause) {
    return {{"cause", to_string(cause.cause)}, {"limit", to_string(cause.limit)}, {"frames", cause.frames},
            {"stalls", cause.stalls},          {"summary", cause.summary},        {"detail", cause.detail}};
}

OrderedJson mount_json(const std::optional<MountFacts>& mount) {
    if (!mount) return nullptr;
    return {{"point", mount->point},
            {"source", mount->source},
            {"type", mount->type},
            {"options", mount->options},
            {"server", mount->server},
            {"protocol", mount->protocol},
            {"connections", or_null(mount->connections)},
            {"read_bytes", or_null(mount->read_bytes)},
            {"read_ahead_bytes", or_null(mount->read_ahead_bytes)},
            {"hints", mount->hints}};
}

OrderedJson server_json(const ServerResult& server) {
    return {{"address", server.address},
            {"protocol", server.protocol},
            {"seats", server.seats},
            {"connections", server.connections},
            {"read_bytes", server.read_bytes},
            {"requests", server.requests},
            {"requests_per_frame", finite(server.requests_per_frame)},
            {"received_bytes", server.received_bytes},
            {"reconnects", server.reconnects},
            {"retransmitted_segments", server.retransmitted_segments},
            {"rtt_ns", or_null(server.rtt_ns)}};
}

OrderedJson link_json(const LinkEvidence& link) {
    return {{"name", link.name},
            {"bits_per_s", or_null(link.bits_per_s)},
            {"received_bytes", link.received_bytes},
            {"busy_percent", finite(link.busy_percent)},
            {"busy_percent_max", finite(link.busy_percent_max)},
            {"rtt_ns", link.rtt_ns},
            {"rtt_min_ns", link.rtt_min_ns},
            {"resent", link.resent}};
}

OrderedJson system_json(const SystemEvidence& system) {
    OrderedJson out = {{"run_queue_wait_ns", or_null(system.run_queue_wait_ns)},
                       {"cpu_busy_percent", or_null(system.cpu_busy_percent)},
                       {"cpu_pressure_percent", or_null(system.cpu_pressure_percent)},
                       {"io_pressure_percent", or_null(system.io_pressure_percent)},
                       {"memory_pressure_percent", or_null(system.memory_pressure_percent)},
                       {"stolen_percent", or_null(system.stolen_percent)}};
    if (system.suspended_ns) out["suspended_ns"] = *system.suspended_ns;
    return out;
}

OrderedJson probe_json(const ProbeResult& probe) {
    return {{"name", probe.name},
            {"inflight", probe.inflight},
            {"io_size_bytes", probe.io_size_bytes},
            {"io_depth", probe.io_depth},
            {"bytes_per_s", whole(probe.bytes_per_s)}};
}

/// Four digits behind the point: a share of time is not known better, and these tables are long.
OrderedJson rounded(double value) {
    return finite(std::round(value * 1e4) / 1e4);
}

OrderedJson part_json(const PartResult& part) {
    const PartStats& stats = part.stats;
    OrderedJson out = {{"kind", to_string(stats.kind)},
                       {"name", stats.name},
                       {"owner", stats.owner},
                       {"servers", stats.servers},
                       {"bytes_per_s", whole(stats.bytes_per_s)},
                       {"requests", stats.requests},
                       {"bytes", stats.bytes},
                       {"busy_ns", stats.busy_ns},
                       {"utilisation", rounded(part.utilisation)},
                       {"utilisation_missed",
                        part.utilisation_missed ? rounded(*part.utilisation_missed) : OrderedJson(nullptr)},
                       {"queue_mean", rounded(part.queue_mean)},
                       {"queue_longest", stats.longest_queue},
                       {"hits", stats.hits},
                       {"misses", stats.misses},
                       {"evictions", stats.evictions},
                       {"lost", stats.lost},
                       {"t_ns", part.t_ns},
                       {"interval_ns", stats.interval_ns}};
    OrderedJson over_time = OrderedJson::array();
    for (const double each : part.utilisation_per_interval) over_time.push_back(rounded(each));
    out["utilisation_per_interval"] = std::move(over_time);
    return out;
}

OrderedJson model_json(const std::optional<ModelFacts>& model) {
    if (!model) return nullptr;
    return {{"name", model->name},
            {"title", model->title},
            {"nodes", model->nodes},
            {"nodes_with_seats", model->nodes_with_seats},
            {"cache", model->warm ? "warm" : "cold"}};
}

OrderedJson client_json(const ClientEvidence& client) {
    return {{"cpu_percent", finite(client.cpu_percent)},
            {"cpu_ns", client.cpu_ns},
            {"helpers_cpu_ns", client.helpers_cpu_ns},
            {"loop_lateness_ns",
             {{"p50", client.loop_lateness_p50_ns},
              {"p99", client.loop_lateness_p99_ns},
              {"max", client.loop_lateness_max_ns}}},
            {"loop_stalls", client.loop_stalls},
            {"loop_stalled_ns", client.loop_stalled_ns},
            {"page_cache_bytes", or_null(client.page_cache_bytes)},
            {"loops", client.loops},
            {"realtime", client.realtime}};
}

OrderedJson play_json(const RunResult& result) {
    return {
        {"readahead", result.readahead}, {"inflight", result.inflight}, {"io_size_bytes", result.io_size_bytes},
        {"io_depth", result.io_depth},   {"on_miss", result.on_miss},   {"pattern", result.pattern},
        {"order", result.order},         {"layers", result.layers},     {"sync", result.sync},
        {"multicam", result.multicam},   {"audio", result.audio},       {"buffer_bytes", result.buffer_bytes}};
}

OrderedJson host_json(const HostFacts& host) {
    return {{"name", host.name}, {"os", host.os}, {"cpus", host.cpus}, {"memory_bytes", host.memory_bytes}};
}

OrderedJson verdict_json(const Verdict& verdict) {
    return {{"pass", verdict.pass},
            {"reason", verdict.reason},
            {"limit", to_string(verdict.limit)},
            {"detail", verdict.detail},
            {"next", verdict.next}};
}

OrderedJson seat_json(const SeatResult& seat) {
    OrderedJson totals = OrderedJson::object();
    add_counts(seat.totals, totals);
    totals["passes"] = seat.totals.passes;
    totals["seeks"] = seat.totals.seeks;
    OrderedJson links = OrderedJson::array();
    for (const LinkEvidence& link : seat.links) links.push_back(link_json(link));
    return {{"rank", seat.rank},
            {"seats", seat.seats},
            {"state", to_string(seat.state)},
            {"why", seat.why},
            {"host", host_json(seat.host)},
            {"started_at", seat.started_at},
            {"node", seat.node},
            {"verdict", verdict_json(seat.verdict)},
            {"totals", std::move(totals)},
            {"margin_ns", margin_json(seat.margin_ns)},
            {"clock_offset_ns", seat.clock_offset_ns},
            {"clock_bound_ns", seat.clock_bound_ns},
            {"clock_offset_after_ns", or_null(seat.clock_offset_after_ns)},
            {"clock_bound_after_ns", or_null(seat.clock_bound_after_ns)},
            {"start_ns", or_null(seat.start_ns)},
            {"played_ns", seat.played_ns},
            {"client", client_json(seat.client)},
            {"system", system_json(seat.system)},
            {"links", std::move(links)},
            {"mount", mount_json(seat.mount)},
            {"journal", seat.journal}};
}

/// The document is put together member by member, so that each stream and each drop has a line of its own and
/// no second copy of the long tables is made.
class Document {
public:
    void member(const char* key, const OrderedJson& value) {
        begin(key);
        text_ += dump(value);
    }
    template <typename T>
    void table(const char* key, const std::vector<T>& rows, OrderedJson (*render)(const T&)) {
        begin(key);
        text_ += '[';
        for (const T& row : rows) {
            text_ += &row == rows.data() ? "\n" : ",\n";
            text_.append(2 * kIndent, ' ');
            text_ += dump(render(row));
        }
        if (!rows.empty()) text_.append("\n").append(kIndent, ' ');
        text_ += ']';
    }
    std::string finish() && { return std::move(text_) + "\n}\n"; }

private:
    void begin(const char* key) {
        text_ += first_ ? "{\n" : ",\n";
        first_ = false;
        text_.append(kIndent, ' ').append("\"").append(key).append("\": ");
    }

    std::string text_;
    bool first_ = true;
};

}  // namespace

std::string json_report(const RunResult& result) {
    Document out;
    out.member("schema", "streamsim.result");
    out.member("version", 1);
    out.member("streamsim",
               {{"version", result.version}, {"revision", result.revision}, {"backends", result.backends}});
    out.member("started_at", result.started_at);
    out.member("host", host_json(result.host));
    out.member("command", result.command);
    out.member("seed", result.seed);
    out.member(
        "target",
        {{"url", result.url}, {"backend", result.backend}, {"io", result.io}, {"direct", result.direct}});
    out.member("model", model_json(result.model));
    out.member("play", play_json(result));
    if (result.scenario) out.member("scenario", scenario_json(*result.scenario));
    out.member("notices", result.notices);
    out.member("interrupted", result.interrupted);
    out.member("faults_injected", faults_json(result.faults_injected));
    out.member("verdict", verdict_json(result.verdict));
    if (!result.seats.empty()) {
        out.member("run_id", result.run_id);
        out.member("ranks", result.ranks);
        out.table("seats", result.seats, seat_json);
    }
    out.table("causes", result.causes, cause_json);
    out.member("places", {{"answer", to_string(result.places.answer)},
                          {"places", result.places.places},
                          {"every_pass", result.places.every_pass}});
    out.member("totals", totals_json(result));
    out.member("media", {{"age_s", or_null(result.media.age_s)},
                         {"looped", result.media.looped},
                         {"server_cache_may_be_warm", result.media.server_cache_may_be_warm},
                         {"notes", result.media.notes},
                         {"skipped", result.media.skipped}});
    out.table("streams", result.streams, stream_json);
    if (!result.meters.empty()) out.table("meters", result.meters, meter_json);
    if (result.alone) out.member("alone", alone_json(*result.alone));
    out.table("drops", result.drops, drop_json);
    out.member("drops_omitted", result.drops_omitted);
    out.table("seeks", result.seeks, seek_json);
    out.table("timeline", result.timeline, timeline_json);
    out.table("throughput_gaps", result.throughput_gaps, gap_json);
    out.table("margin_bins", result.margin_bins, bin_json);
    out.table("parts", result.parts, part_json);
    out.member("client", client_json(result.client));
    out.member("mount", mount_json(result.mount));
    out.table("servers", result.servers, server_json);
    out.table("links", result.links, link_json);
    out.member("system", system_json(result.system));
    out.table("probes", result.probes, probe_json);
    out.member("digest", result.digest);
    out.member("timing_digest", or_null(result.timing_digest));
    return std::move(out).finish();
}

}  // namespace streamsim::result
