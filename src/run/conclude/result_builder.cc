#include "run/conclude/result_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/units.h"
#include "host/network_mount.h"
#include "judge/causes.h"
#include "judge/claims/claims.h"
#include "judge/host_window.h"
#include "judge/judge.h"
#include "judge/run_verdicts.h"
#include "play/slot_reads.h"
#include "result/distributions.h"
#include "result/required_rates.h"
#include "run/conclude/cached_share.h"
#include "run/conclude/miss_events.h"
#include "run/conclude/part_results.h"
#include "target/target_locations.h"

namespace streamsim::run {
namespace {

constexpr std::size_t kComputerIntervalsMax = 2048;

using Ledgers = std::vector<const play::DeadlineLedger*>;  // as the streams are planned

/// The parts of a result that come from one stream.
class StreamStats {
public:
    StreamStats(const StreamPlan& plan, const play::DeadlineLedger& ledger) : plan_(plan), ledger_(ledger) {}

    StreamResult result(bool keep_histograms) const {
        StreamResult out;
        ledger_.summarise(out);
        const std::uint64_t pass = plan_.path->pass_slots();
        out.counts.passes = (out.counts.scheduled + pass - 1) / pass;
        out.format = plan_.format;
        out.clip = plan_.name;
        out.rate = plan_.rate();
        out.paced = plan_.options.paced;
        out.records = plan_.record != nullptr;
        out.durable = out.records && plan_.record->options.durable;
        out.pattern = play::word_of(play::kPatternWords, *plan_.options.pattern);
        out.required_bytes_per_s = plan_.required_bytes_per_s();
        out.series = series();
        if (keep_histograms) out.histograms = result::histograms_of(ledger_.times(), ledger_.depths());
        return out;
    }

    void append_drops(std::vector<DropRecord>& to) const {
        for (const FrameOutcome& entry : ledger_.drops()) {
            DropRecord record;
            record.seat = plan_.options.seat;
            record.stream = plan_.options.stream;
            record.frame = entry.slot;
            record.clip_frame = entry.clip_frame;
            const FrameIndex& index = *plan_.clips[entry.source].index;
            record.file = index.path_of(entry.clip_frame);
            if (entry.deadline != Instant::never()) record.due_ns = (entry.deadline - zero()).ns;
            if (entry.completed != Instant::never()) record.completed_ns = (entry.completed - zero()).ns;
            record.kind = entry.kind;
            record.reason = entry.reason;
            record.error = entry.error;
            if (entry.reason == DropReason::corrupt) record.corrupt_at = entry.corrupt_at;
            record.timecode = timecode(entry.clip_frame, index.rate());
            to.push_back(std::move(record));
        }
    }

    void append_seeks(std::vector<SeekRecord>& to) const {
        for (const play::SeekEntry& entry : ledger_.seeks()) {
            to.push_back({plan_.options.seat, plan_.options.stream, entry.slot, entry.clip_frame,
                          (entry.requested - zero()).ns, entry.latency.ns, entry.failed});
        }
    }

    /// Times of a stream that never began to play count from the beginning of its preroll.
    void append_rows(std::vector<FrameRow>& to) const {
        Instant origin = ledger_.play_start();
        if (origin == Instant::never()) {
            for (const FrameOutcome& outcome : ledger_.frames()) origin = std::min(origin, outcome.scheduled);
        }
        for (const FrameOutcome& outcome : ledger_.frames()) {
            FrameRow row{plan_.options.seat, plan_.options.stream, outcome,
                         plan_.clips[outcome.source].index->path_of(outcome.clip_frame)};
            row.outcome.completed = outcome.came();  // as in the drop table
            for (Instant* at : {&row.outcome.scheduled, &row.outcome.submitted, &row.outcome.opened,
                                &row.outcome.deadline, &row.outcome.completed}) {
                if (*at != Instant::never()) *at = Instant{(*at - origin).ns};
            }
            to.push_back(std::move(row));
        }
    }

private:
    StreamSeries series() const {
        StreamSeries out;
        out.interval_ns = ledger_.series().interval().ns;
        for (const metrics::StreamInterval& interval : ledger_.series().intervals()) {
            StreamSeries::Point point;
            if (interval.margin_ns_min != INT64_MAX) point.margin_min_ns = interval.margin_ns_min;
            if (interval.buffer_frames_min != UINT32_MAX) point.buffer_min = interval.buffer_frames_min;
            point.missed = interval.frames_missed;
            out.points.push_back(point);
        }
        return out;
    }

    Instant zero() const { return ledger_.play_start() == Instant::never() ? Instant{} : ledger_.play_start(); }

    const StreamPlan& plan_;
    const play::DeadlineLedger& ledger_;
};

TimelineEntry entry_of(const metrics::TimeSeries::Interval& interval,
                       std::int64_t t_ns,
                       std::int64_t interval_ns) {
    TimelineEntry entry;
    entry.t_ns = t_ns;
    entry.interval_ns = interval_ns;
    entry.bytes = interval.bytes;
    entry.frames_on_time = interval.frames_on_time;
    entry.frames_dropped = interval.frames_dropped;
    entry.frames_late = interval.frames_late;
    entry.frames_failed = interval.frames_failed;
    if (const std::int64_t p50 = interval.service.at_permille(500); p50 > 0) {
        entry.service_ns_p50 = std::min(p50, interval.service_ns_max);
        entry.service_ns_p99 = std::min(interval.service.at_permille(990), interval.service_ns_max);
    }
    entry.service_ns_max = interval.service_ns_max;
    if (interval.buffer_frames_min != UINT64_MAX) entry.buffer_frames_min = interval.buffer_frames_min;
    if (interval.margin_ns_min != INT64_MAX) entry.margin_ns_min = interval.margin_ns_min;
    return entry;
}

void fill_timeline(const RunFacts& facts, const Ledgers& ledgers, Instant origin, RunResult& result) {
    metrics::TimeSeries::Interval preroll;
    std::int64_t preroll_ns = 0;
    for (const play::DeadlineLedger* ledger : ledgers) {
        const metrics::TimeSeries::Interval& part = ledger->preroll_interval();
        preroll.bytes += part.bytes;
        preroll.service_ns_max = std::max(preroll.service_ns_max, part.service_ns_max);
        if (ledger->play_start() == Instant::never()) continue;
        preroll_ns = std::max(preroll_ns, (ledger->play_start() - ledger->preroll_began()).ns);
    }
    if (preroll.bytes > 0) result.timeline.push_back(entry_of(preroll, -preroll_ns, preroll_ns));
    metrics::TimeSeries series;
    for (const LoopStats* playback_loop : facts.playback_loops) series.merge(playback_loop->series);
    const std::int64_t interval_ns = series.interval().ns;
    std::int64_t t_ns = 0;
    for (const metrics::TimeSeries::Interval& interval : series.intervals()) {
        result.timeline.push_back(entry_of(interval, t_ns, interval_ns));
        t_ns += interval_ns;
    }
    // The last interval ends with play.
    if (t_ns == 0) return;
    TimelineEntry& last = result.timeline.back();
    std::int64_t end_ns = 0;
    for (const play::DeadlineLedger* ledger : ledgers)
        end_ns = std::max({end_ns, (ledger->last_completed() - origin).ns, (ledger->last_due() - origin).ns});
    if (end_ns > last.t_ns) last.interval_ns = std::min(last.interval_ns, end_ns - last.t_ns);
}

/// True: the drives of a model delivered less than the nodes did, by a twentieth or more.
bool came_from_caches(const std::vector<PartResult>& parts) {
    std::uint64_t answered = 0;
    std::uint64_t from_drives = 0;
    for (const PartResult& part : parts) {
        if (part.stats.kind == PartKind::front_end) answered += part.stats.bytes;
        if (part.stats.kind == PartKind::drive) from_drives += part.stats.bytes;
    }
    return from_drives < answered - answered / 20;
}

void fill_media(const RunFacts& facts, RunResult& result) {
    std::set<ClipKey> seen;
    std::set<const FrameIndex*> noted;
    for (const StreamPlan& plan : *facts.streams) {
        const bool wants_audio = plan.record == nullptr && plan.request != nullptr && plan.request->audio;
        result.media.shared |= plan.shares_clip;
        for (const Clip& clip : plan.clips) {
            if (clip.touched_s > 0) {
                const std::int64_t age_s = std::max<std::int64_t>(facts.began_s - clip.touched_s, 0);
                result.media.age_s = std::min(result.media.age_s.value_or(age_s), age_s);
            }
            const bool again = !seen.insert(key_of(clip)).second;  // also by a stream that was added by hand
            result.media.shared |= again;
            result.media.read_for_index |= clip.read_through && !facts.request->caches_emptied;
            result.audio |= wants_audio && clip.audio;
            if (!noted.insert(clip.index.get()).second) continue;
            auto& skipped = result.media.skipped;
            skipped.insert(skipped.end(), clip.skipped.begin(), clip.skipped.end());
            if (!clip.searched.empty())
                result.media.notes.push_back(facts.request->target.name() + ": " + clip.searched);
            for (const std::string& note : clip.notes) result.media.notes.push_back(clip.name + ": " + note);
            // An index of a container says it itself.
            if (wants_audio && !clip.audio && (clip.ours || clip.index->file_per_frame()))
                result.media.notes.push_back(clip.name + ": it has no audio");
        }
    }
    if (facts.cuts != nullptr) {
        for (const std::string& note : facts.cuts->notes)
            result.media.notes.push_back(facts.cuts->name + ": " + note);
    }
    result.media.looped = facts.request->target.has_files() && facts.request->media_read_before;
    for (std::size_t i = 0; i < result.streams.size(); ++i) {
        const FrameCounts& counts = result.streams[i].counts;
        result.media.looped |= counts.passes > 1 || (*facts.streams)[i].path->repeats_within(counts.scheduled);
    }
    result.media.server_cache_may_be_warm =
        facts.request->target.has_files() && judge::server_cache_may_be_warm(result.media);
    if (facts.request->target.kind == target::Target::Kind::model) {
        result.media.server_cache_may_be_warm =
            facts.request->target.warm || (result.media.looped && came_from_caches(result.parts));
    }
}

/// True: only as much as one twentieth came from the cache as far as it is known, which may be far too little.
bool is_little(double cached, std::uint64_t read) {
    return cached <= static_cast<double>(read) / 20;
}

/// By the shares of the cache. nullopt: a stream that played less than the share is of may have read the cached
/// part of that, or the other one; or frames that were read before, on this pass or by another stream, may have
/// stayed in the cache for a moment. REQUIRES: the shares are known.
std::optional<std::uint64_t> read_from_cache(const RunFacts& facts, const RunResult& result) {
    const bool in_part = *facts.cached_before > 0 && *facts.cached_before < 1;
    std::set<ClipKey> seen;
    bool at_least = false;
    double bytes = 0;
    for (std::size_t i = 0; i < result.streams.size(); ++i) {
        const FrameCounts& counts = result.streams[i].counts;
        const StreamPlan& plan = (*facts.streams)[i];
        if (counts.bytes_read == 0) continue;
        if (in_part && counts.scheduled < slots_of_cached_share(plan)) return std::nullopt;
        std::set<ClipKey> own;
        for (const Clip& clip : plan.clips) own.insert(key_of(clip));
        const auto again =
            std::ranges::count_if(own, [&seen](const ClipKey& key) { return seen.contains(key); });
        seen.insert(own.begin(), own.end());
        at_least |= again > 0 || own.size() < plan.clips.size() ||
                    plan.path->repeats_within(std::min(counts.scheduled, plan.path->pass_slots()));
        // The first pass finds the cache as it was before play, each later one as it is afterwards; so do other
        // streams that play the clip.
        const double shared = static_cast<double>(again) / static_cast<double>(own.size());
        const double first_pass = *facts.cached_before * (1 - shared) + *facts.cached_after * shared;
        const auto passes = static_cast<double>(std::max<std::uint64_t>(counts.passes, 1));
        bytes +=
            static_cast<double>(counts.bytes_read) * (first_pass + *facts.cached_after * (passes - 1)) / passes;
    }
    if (at_least && is_little(bytes, result.totals.bytes_read)) return std::nullopt;
    return static_cast<std::uint64_t>(bytes);
}

/// True: a file system that streams play from keeps what it has read in memory that the system does not show:
/// that of a process (FUSE), or the ARC (ZFS).
bool has_hidden_cache(const RunFacts& facts) {
    const auto hides = [](const MountFacts& mount) {
        return mount.type.starts_with("fuse") || mount.type == "zfs";
    };
    const auto is_hidden = [&facts, &hides](const Clip& clip) {
        const auto found = facts.mounts.find(target::directory_of(clip));
        return found != facts.mounts.end() && hides(found->second);
    };
    if (facts.mount && hides(*facts.mount)) return true;
    return std::ranges::any_of(*facts.streams, [&is_hidden](const StreamPlan& plan) {
        return plan.record == nullptr && std::ranges::any_of(plan.clips, is_hidden);
    });
}

std::optional<std::uint64_t> page_cache_bytes(const RunFacts& facts, const RunResult& result) {
    const std::uint64_t read = result.totals.bytes_read;
    const bool hidden = has_hidden_cache(facts);
    const bool past_cache = result.direct && !facts.direct_uses_page_cache;
    if (facts.request->target.kind != target::Target::Kind::local || read == 0 || (past_cache && !hidden))
        return 0;
    if (past_cache) return std::nullopt;
    // The process counts what all of it reads: beside meters that says nothing of the streams.
    const bool counts_reads = facts.counts_storage_reads && facts.request->meters.empty() && !hidden;
    if (counts_reads && facts.before.storage_read_bytes && facts.after.storage_read_bytes)
        return read - std::min(read, *facts.after.storage_read_bytes - *facts.before.storage_read_bytes);
    if (!facts.cached_before || !facts.cached_after) return std::nullopt;
    const auto cached = read_from_cache(facts, result);
    // As much at least, where more is hidden.
    if (hidden && is_little(static_cast<double>(cached.value_or(0)), read)) return std::nullopt;
    return cached;
}

void fill_client(const RunFacts& facts, RunResult& result) {
    ClientEvidence& client = result.client;
    client.cpu_ns = facts.after.cpu_ns - facts.before.cpu_ns;
    client.helpers_cpu_ns = facts.after.helpers_cpu_ns - facts.before.helpers_cpu_ns;
    if (result.wall_ns > 0) {
        client.cpu_percent = 100.0 * static_cast<double>(client.cpu_ns) / static_cast<double>(result.wall_ns);
    }
    for (const LoopStats* playback_loop : facts.playback_loops) {
        const LoopLateness& lateness = playback_loop->lateness;
        client.loop_lateness_p50_ns = std::max(client.loop_lateness_p50_ns, lateness.p50_ns);
        client.loop_lateness_p99_ns = std::max(client.loop_lateness_p99_ns, lateness.p99_ns);
        client.loop_lateness_max_ns = std::max(client.loop_lateness_max_ns, lateness.max_ns);
        client.loop_stalls += lateness.stalls;
        client.loop_stalled_ns += lateness.stalled_ns;
        if (!playback_loop->content) continue;
        if (!result.content) result.content.emplace();
        *result.content += *playback_loop->content;
    }
    client.loops = static_cast<std::uint32_t>(facts.playback_loops.size());
    client.realtime = facts.request->realtime;
    for (const LoopStats* playback_loop : facts.playback_loops) client.realtime &= playback_loop->realtime;
    client.page_cache_bytes = page_cache_bytes(facts, result);
}

/// The mount, with the speed of the interface that received most bytes, or sent them for recorders.
void fill_mount(const RunFacts& facts, RunResult& result) {
    result.mount = facts.mount;
    if (!result.mount) return;
    host::MountUse use;
    use.direct = result.direct;
    for (const StreamPlan& plan : *facts.streams)
        use.frame_bytes = std::max(use.frame_bytes, play::slot_needs(*plan.path).bytes);
    const bool writes = result.totals.bytes_written > result.totals.bytes_read;
    std::uint64_t most = 0;
    for (const LinkEvidence& link : result.links) {
        const std::uint64_t bytes = writes ? link.sent_bytes : link.received_bytes;
        if (bytes <= most) continue;
        most = bytes;
        use.bits_per_s = link.bits_per_s;
    }
    host::hint_at(*result.mount, use);
}

/// With frames missed on storages that differ: which mounts there are.
void fill_storages_notice(const RunFacts& facts, const judge::Evidence& evidence, RunResult& result) {
    if (!evidence.several_storages || evidence.missed.empty()) return;
    std::set<std::string> names;
    for (const StreamPlan& plan : *facts.streams) {
        for (const Clip& clip : plan.clips) {
            const auto found = facts.mounts.find(target::directory_of(clip));
            if (found != facts.mounts.end())
                names.insert(fmt::format("{} ({})", found->second.point, found->second.type));
        }
    }
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
    result.notices.push_back(
        fmt::format("the clips are on several mounts: {}; play those of each alone to name the side of missed "
                    "frames",
                    list));
}

/// The meters' results and their rows of operations: by seat, then as the meters were asked for, however many
/// loops there were.
void fill_meters(const RunFacts& facts, RunResult& result) {
    std::size_t most = 0;
    for (const LoopStats* playback_loop : facts.playback_loops) {
        most = std::max(most, playback_loop->meters.size());
        result.operations.insert(result.operations.end(), playback_loop->operations.begin(),
                                 playback_loop->operations.end());
    }
    for (std::size_t i = 0; i < most; ++i) {  // plan i was on loop i % loops
        for (const LoopStats* playback_loop : facts.playback_loops) {
            if (i < playback_loop->meters.size()) result.meters.push_back(playback_loop->meters[i]);
        }
    }
    std::ranges::stable_sort(result.meters, {}, &MeterResult::seat);
    std::ranges::stable_sort(result.operations, {},
                             [](const OperationRow& row) { return std::pair(row.seat, row.meter); });
    if (!result.streams.empty()) return;
    for (const MeterResult& meter : result.meters) result.wall_ns = std::max(result.wall_ns, meter.wall_ns);
}

/// `causes` begins with those of the drops, in this order; the stalls follow.
void fill_drop_causes(const std::vector<Cause>& causes, std::vector<DropRecord>& drops) {
    STREAMSIM_CHECK(causes.size() >= drops.size(), "each drop has a cause");
    for (std::size_t i = 0; i < drops.size(); ++i) drops[i].cause = causes[i];
}

/// The distributions over all streams.
void fill_distributions(const Ledgers& ledgers, bool keep, RunResult& result) {
    metrics::Distributions all;
    std::vector<std::uint64_t> depths;
    for (const play::DeadlineLedger* ledger : ledgers) {
        all.merge(ledger->times());
        depths.resize(std::max(depths.size(), ledger->depths().size()));
        for (std::size_t i = 0; i < ledger->depths().size(); ++i) depths[i] += ledger->depths()[i];
    }
    result::fill_summaries(all, result);
    if (keep) result.histograms = result::histograms_of(all, depths);
}

void fill_times(const RunFacts& facts, const Ledgers& ledgers, RunResult& result) {
    Instant first = Instant::never();
    Instant last{INT64_MIN};
    for (const play::DeadlineLedger* ledger : ledgers) {
        first = std::min(first, ledger->first_submitted());
        if (ledger->counts().bytes_read + ledger->counts().bytes_written > 0)
            last = std::max(last, ledger->last_completed());
        // Failed frames took time too.
        if (ledger->counts().failed > 0) last = std::max(last, ledger->last_due());
    }
    const bool began = std::ranges::any_of(
        ledgers, [](const play::DeadlineLedger* each) { return each->play_start() != Instant::never(); });
    for (const LoopStats* each : facts.playback_loops) {
        if (!began && each->interrupted != Instant::never()) last = std::max(last, each->interrupted);
    }
    if (first == Instant::never() || last <= first) return;
    result.wall_ns = (last - first).ns;
    result.read_bytes_per_s =
        static_cast<double>(result.totals.bytes_read) * 1e9 / static_cast<double>(result.wall_ns);
}

/// The highest rate that the streams which play at one time require together.
double most_required(const std::vector<StreamPlan>& streams) {
    std::vector<result::RateSpan> spans;
    for (const StreamPlan& plan : streams) {
        if (plan.record != nullptr) continue;
        spans.push_back({plan.start_offset.ns, (plan.start_offset + plan.rate().due(plan.options.slots)).ns,
                         plan.required_bytes_per_s()});
    }
    return result::highest(result::rate_steps(spans));
}

/// Throughput gaps from the first play_start, as the time line.
void fill_gaps(const judge::Evidence& evidence, Instant origin, RunResult& result) {
    if (evidence.shortest_period_ns == 0) return;
    for (const judge::DeliveryGap& gap : evidence.delivery_gaps) {
        if (judge::is_stall(gap, evidence.shortest_period_ns))
            result.throughput_gaps.push_back({gap.from_ns - origin.ns, gap.to_ns - origin.ns});
    }
}

/// The effect of injected faults: operations, and missed frames that are attributed to them.
void fill_faults(const RunFacts& facts, const std::vector<Cause>& causes, RunResult& result) {
    if (!facts.faults_injected) return;
    FaultsInjected& faults = result.faults_injected.emplace();
    for (const LoopStats* playback_loop : facts.playback_loops) {
        faults.operations_delayed += playback_loop->faults.delayed;
        faults.operations_failed += playback_loop->faults.failed;
        faults.operations_shortened += playback_loop->faults.shortened;
    }
    faults.model_faults = facts.request->model_faults.size();
    faults.frames_met =
        static_cast<std::uint64_t>(std::count(causes.begin(), causes.end(), Cause::injected_fault));
}

/// Nodes that seats are connected to, by hand or round robin.
std::uint32_t nodes_with_seats(const PlayRequest& request) {
    std::set<std::uint32_t> nodes;
    for (std::uint32_t seat = 0; seat < request.seats; ++seat) {
        const bool set = seat < request.seat_settings.size() && request.seat_settings[seat].node;
        nodes.insert(set ? *request.seat_settings[seat].node : request.target.node_of(seat));
    }
    return static_cast<std::uint32_t>(nodes.size());
}

const char* backend_of(const target::Target& target) {
    switch (target.kind) {
        case target::Target::Kind::local: return "local";
        case target::Target::Kind::remote:
            return target.remote->protocol == RemotePlace::Protocol::nfs ? "nfs" : "smb";
        case target::Target::Kind::null: return "null";
        case target::Target::Kind::null_virtual:
        case target::Target::Kind::model: return "sim";
    }
    return "?";
}

}  // namespace

void fill_request(const PlayRequest& request, RunResult& result) {
    result.seed = request.seed;
    result.url = request.target.url;
    result.backend = backend_of(request.target);
    result.io = result.backend == "local" ? "threads" : result.backend;
    if (const auto& model = request.target.model; model != nullptr) {
        result.model = {.name = model->name,
                        .title = model->title,
                        .nodes = model->nodes,
                        .nodes_with_seats = nodes_with_seats(request),
                        .warm = request.target.warm,
                        .trust = model->trust};
    }
    result.readahead = request.readahead;
    result.inflight = request.inflight;
    result.io_size_bytes = request.io_size;
    result.io_depth = request.io_depth;
    result.on_miss = play::word_of(play::kOnMissWords, request.on_miss);
    result.order = request.order.text();
    result.layers = request.layers;
    result.sync = request.sync;
    result.multicam = play::word_of(kMultiCamWords, request.multicam);
    if (request.faults || !request.model_faults.empty()) {
        result.faults_injected.emplace();
        result.faults_injected->model_faults = request.model_faults.size();
    }
}

std::size_t rows_of(const Ledgers& ledgers) {
    std::size_t rows = 0;
    for (const play::DeadlineLedger* ledger : ledgers) rows += ledger->frames().size();
    return rows;
}

void fill_result(const RunFacts& facts, RunResult& result) {
    fill_request(*facts.request, result);
    const Ledgers& ledgers = facts.ledgers;
    const LoopStats& playback_loop = *facts.playback_loops.front();
    result.io = playback_loop.capabilities.io;
    result.direct = true;
    for (const LoopStats* each : facts.playback_loops) result.direct &= each->capabilities.direct;
    result.buffer_bytes = facts.buffer_bytes;
    result.interrupted = facts.interrupted;
    result.notices = facts.notices;
    Instant origin = Instant::never();  // of the first loop that began
    for (const LoopStats* each : facts.playback_loops) origin = std::min(origin, each->origin);
    result.frames.reserve(rows_of(ledgers));
    metrics::Digest digest;
    metrics::Digest timing;
    for (std::size_t i = 0; i < ledgers.size(); ++i) {
        const play::DeadlineLedger& ledger = *ledgers[i];
        const StreamStats stats((*facts.streams)[i], ledger);
        result.streams.push_back(stats.result(facts.request->keep_histograms));
        if (ledger.play_start() != Instant::never()) {
            result.streams.back().play_start_ns = (ledger.play_start() - origin).ns;
        }
        result.totals += result.streams.back().counts;
        stats.append_drops(result.drops);
        result.drops_omitted += ledger.drops_omitted();
        stats.append_seeks(result.seeks);
        stats.append_rows(result.frames);
        digest.merge(ledger.digest());
        timing.merge(ledger.timing_digest());
    }
    if (!result.streams.empty()) result.pattern = result.streams.front().pattern;
    result.required_bytes_per_s = most_required(*facts.streams);
    result.required_rates = result::required_rates(result.streams);
    result.digest = digest.hex();
    if (playback_loop.timing_is_exact) result.timing_digest = timing.hex();
    if (facts.model != nullptr) result.parts = part_results(*facts.model, ledgers);
    fill_times(facts, ledgers, result);
    fill_meters(facts, result);
    fill_timeline(facts, ledgers, origin, result);
    fill_media(facts, result);
    fill_client(facts, result);
    fill_distributions(ledgers, facts.request->keep_histograms, result);
    const judge::Evidence evidence = evidence_of(facts, result);
    result.reasons = evidence.reasons;
    result.links = judge::links_of(evidence.system, evidence.writes_more());
    if (origin != Instant::never())
        result.computer_timeline = judge::computer_timeline(evidence.system, origin.ns, kComputerIntervalsMax);
    fill_mount(facts, result);
    fill_storages_notice(facts, evidence, result);
    result.servers = server_results(facts);
    result.system = judge::system_of(evidence.system);
    if (result.system.suspended_ns) {
        result.notices.push_back(fmt::format("this computer was suspended for {} while it played",
                                             show_duration({*result.system.suspended_ns})));
    }
    result.probes = facts.diagnosis.rates();
    judge::Judgement judgement = judge::judge(evidence);
    result.verdict = std::move(judgement.verdict);
    judge::judge_meters(result);
    result.causes = std::move(judgement.causes);
    result.places = judgement.places;
    fill_gaps(evidence, origin, result);
    fill_faults(facts, judgement.missed_causes, result);
    judge::withhold_storage(result);
    fill_drop_causes(judgement.missed_causes, result.drops);
    result.events = miss_events(facts, evidence, judgement.missed_causes, origin, result);
    result.claims = judge::claims_of(result);
    if (result.claims && facts.prove) result.claims->prove = facts.prove;
    if (!result.claims && facts.prove) result.notices.push_back(facts.prove->sentence);
}

}  // namespace streamsim::run
