#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "base/units.h"
#include "host/network_mount.h"
#include "judge/judge.h"
#include "judge/sides.h"
#include "run/conclude/part_results.h"
#include "run/conclude/result_builder.h"
#include "target/target_locations.h"

namespace streamsim::run {
namespace {

/// The round trip of a seat's requests on a model.
Duration round_trip(const PlayRequest& request, std::uint32_t seat) {
    const ClusterModel& model = *request.target.model;
    const SeatSetting setting =
        seat < request.seat_settings.size() ? request.seat_settings[seat] : SeatSetting{};
    const Duration one_way =
        setting.link_latency.value_or(model.client.link.latency) + model.node.front_end.latency;
    return one_way + one_way;
}

/// The round trips of a frame: its open, where it has one, and each group of pieces that is in flight at once.
void fill_path_rtt(const RunFacts& facts, const RunResult& result, judge::Evidence& evidence) {
    for (std::size_t i = 0; i < result.streams.size(); ++i) {
        const StreamResult& stream = result.streams[i];
        const StreamPlan& plan = (*facts.streams)[i];
        if (judge::bad_frames(stream.counts) == 0 || !stream.service_ns) continue;
        const double pieces = plan.options.io_size == 0
                                  ? 1
                                  : std::ceil(plan.bytes_per_slot / static_cast<double>(plan.options.io_size));
        const bool opens = plan.path->sources().front()->file_per_frame() &&
                           plan.options.pattern != play::AccessPattern::filename_prefetch;  // which opens ahead
        const double rounds = std::ceil(pieces / plan.options.io_depth) + (opens ? 1 : 0);
        const auto path_rtt_ns =
            static_cast<std::int64_t>(rounds * static_cast<double>(round_trip(*facts.request, stream.seat).ns));
        // An in-flight slot that delivers a frame in this time drops none through latency alone.
        const std::int64_t enough_ns = plan.rate().period().ns * plan.options.inflight;
        if (stream.service_ns->p50 * 10 < enough_ns * 9 || path_rtt_ns <= evidence.path_rtt_ns) continue;
        evidence.path_rtt_ns = std::min(path_rtt_ns, stream.service_ns->p50);
        evidence.service_p50_ns = stream.service_ns->p50;
    }
}

void fill_streams(const RunFacts& facts, judge::Evidence& evidence) {
    const auto numbers = clip_numbers(*facts.streams);
    for (std::size_t i = 0; i < facts.ledgers.size(); ++i) {
        const StreamPlan& plan = (*facts.streams)[i];
        judge::StreamEvidence stream;
        const Instant start = facts.ledgers[i]->play_start();
        stream.play_start_ns = start == Instant::never() ? 0 : start.ns;
        stream.period_ns = plan.rate().period().ns;
        stream.readahead = plan.options.readahead;
        stream.slots = facts.ledgers[i]->counts().scheduled;
        stream.pass_slots = plan.path->pass_slots();
        for (const Clip& clip : plan.clips) stream.clips.push_back(numbers.at(clip.index.get()));
        evidence.streams.push_back(stream);
    }
}

/// 0: all streams read whole frames.
std::uint64_t smallest_io_size(const std::vector<StreamPlan>& streams) {
    std::uint64_t smallest = 0;
    for (const StreamPlan& plan : streams) {
        const std::uint64_t own = plan.options.io_size;
        if (own != 0 && (smallest == 0 || own < smallest)) smallest = own;
    }
    return smallest;
}

/// True: the frame failed after the directory of its clip had vanished.
bool failed_with_location(const FrameOutcome& entry,
                          const Clip& clip,
                          const std::vector<VanishedLocation>& vanished) {
    if (vanished.empty() || (entry.reason != DropReason::error && entry.reason != DropReason::missing))
        return false;
    const std::string directory = target::directory_of(clip) + "/";
    return std::any_of(vanished.begin(), vanished.end(), [&](const VanishedLocation& location) {
        return entry.due().ns > location.there_ns && directory.starts_with(location.directory + "/");
    });
}

judge::MissedFrame missed_of(const FrameOutcome& entry, std::uint32_t stream, std::uint32_t clip) {
    const auto known = [](Instant at) { return at == Instant::never() ? std::nullopt : std::optional(at.ns); };
    judge::MissedFrame missed;
    missed.stream = stream;
    missed.clip = clip;
    missed.slot = entry.slot;
    missed.clip_frame = entry.clip_frame;
    missed.kind = entry.kind;
    missed.reason = entry.reason;
    missed.corrupt_at = entry.corrupt_at;
    missed.no_answer = entry.reason == DropReason::error && judge::is_connection_error(entry.error);
    missed.unreachable = missed.no_answer && judge::is_unreachable(entry.error);
    missed.refused = missed.no_answer && judge::is_refused(entry.error);
    if (entry.reason == DropReason::error) missed.shortage = judge::shortage_of(entry.error);
    missed.due_ns = entry.due().ns;
    missed.submitted_ns = known(entry.submitted);
    missed.delivered_ns = known(entry.delivered);
    missed.open_ns = entry.open_time.ns;
    if (missed.submitted_ns && missed.delivered_ns) missed.read_ns = entry.read_time().ns;
    return missed;
}

/// "00:00:02:04 frame.0000052.dpx"
std::string frame_name(const FrameIndex& index, std::uint64_t frame) {
    const std::string path = index.path_of(frame);
    return timecode(frame, index.rate()) + " " + path.substr(path.find_last_of('/') + 1);
}

constexpr std::size_t kFramesNamedMax = 1'000;

void fill_missed(const RunFacts& facts, judge::Evidence& evidence) {
    const auto numbers = clip_numbers(*facts.streams);
    storage::InjectedFaults faults;
    for (const LoopStats* playback_loop : facts.playback_loops) faults.add(playback_loop->faults);
    for (std::size_t i = 0; i < facts.ledgers.size(); ++i) {
        const play::PlayerOptions& options = (*facts.streams)[i].options;
        const auto delays = faults.delays.find({options.seat, options.stream});
        if (delays == faults.delays.end()) continue;
        for (const auto& [from, to] : delays->second) evidence.streams[i].faults.push_back({from.ns, to.ns});
    }
    const auto add = [&](std::size_t stream, const FrameOutcome& entry) -> judge::MissedFrame& {
        const Clip& clip = (*facts.streams)[stream].clips[entry.source];
        const std::uint32_t number = numbers.at(clip.index.get());
        const std::pair place(number, entry.clip_frame);
        if (evidence.frame_names.size() < kFramesNamedMax && !evidence.frame_names.contains(place))
            evidence.frame_names[place] = frame_name(*clip.index, entry.clip_frame);
        return evidence.missed.emplace_back(missed_of(entry, static_cast<std::uint32_t>(stream), number));
    };
    for (std::size_t i = 0; i < facts.ledgers.size(); ++i) {
        for (const FrameOutcome& entry : facts.ledgers[i]->drops()) {
            judge::MissedFrame& missed = add(i, entry);
            missed.startup = entry.kind == FrameKind::dropped &&
                             missed.due_ns < evidence.streams[i].play_start_ns + judge::kStartupNs;
            missed.vanished =
                failed_with_location(entry, (*facts.streams)[i].clips[entry.source], facts.vanished);
        }
    }
    for (std::size_t i = 0; i < facts.ledgers.size(); ++i) {
        for (FrameOutcome entry : facts.ledgers[i]->stalls()) {
            if (entry.delivered == Instant::never()) entry.delivered = entry.completed;  // it failed then
            judge::MissedFrame& missed = add(i, entry);
            missed.stall = true;
            if (entry.completed != Instant::never()) missed.delivered_ns = entry.completed.ns;
        }
    }
    for (judge::MissedFrame& missed : evidence.missed) {
        const play::PlayerOptions& options = (*facts.streams)[missed.stream].options;
        missed.injected = faults.met(options.seat, options.stream, missed.slot);
    }
}

struct PlayTime {
    std::int64_t from_ns = INT64_MAX, to_ns = INT64_MIN;
};

/// The times in which some stream played: from its play start to its last frame, or to the deadline of the last
/// one that never came. By time, apart from one another.
std::vector<PlayTime> play_times(const RunFacts& facts, const judge::Evidence& evidence) {
    std::vector<PlayTime> streams;
    for (const play::DeadlineLedger* ledger : facts.ledgers)
        streams.push_back({ledger->play_start().ns, ledger->last_delivered().ns});
    for (const judge::MissedFrame& missed : evidence.missed) {
        std::int64_t& to_ns = streams[missed.stream].to_ns;
        if (!missed.delivered_ns) to_ns = std::max(to_ns, missed.due_ns);
    }
    std::ranges::sort(streams, {}, &PlayTime::from_ns);
    std::vector<PlayTime> out;
    for (const PlayTime& stream : streams) {
        if (stream.to_ns <= stream.from_ns) continue;  // it never began to play
        if (out.empty() || stream.from_ns > out.back().to_ns) out.push_back(stream);
        out.back().to_ns = std::max(out.back().to_ns, stream.to_ns);
    }
    return out;
}

/// The gaps between deliveries on any loop while some stream played, and the one at the end where due frames
/// never came.
void fill_throughput_gaps(const RunFacts& facts, judge::Evidence& evidence) {
    constexpr std::int64_t kGapNsMin = 80'000'000;
    metrics::DeliverySeries all;
    Instant zero = Instant::never();
    for (const LoopStats* playback_loop : facts.playback_loops) {
        all.merge(playback_loop->series.deliveries);
        zero = std::min(zero, playback_loop->origin);
    }
    const std::vector<PlayTime> playing = play_times(facts, evidence);
    const auto add = [&playing, &evidence](std::int64_t from_ns, std::int64_t to_ns, bool to_the_end) {
        for (const PlayTime& time : playing) {
            const judge::DeliveryGap gap{std::max(from_ns, time.from_ns), std::min(to_ns, time.to_ns),
                                         to_the_end};
            if (gap.to_ns - gap.from_ns >= kGapNsMin) evidence.delivery_gaps.push_back(gap);
        }
    };
    const std::int64_t interval_ns = all.interval().ns;
    std::int64_t last = -1;
    const auto& intervals = all.intervals();
    for (std::size_t i = 0; i < intervals.size(); ++i) {
        if (intervals[i].frames == 0) continue;
        const auto now = static_cast<std::int64_t>(i);
        add(zero.ns + (last + 1) * interval_ns, zero.ns + now * interval_ns, false);
        last = now;
    }
    if (last >= 0) add(zero.ns + (last + 1) * interval_ns, INT64_MAX, true);
}

/// No frame with a deadline was read during play, or had to be written before its end.
bool within_readahead(const RunFacts& facts) {
    bool within = false;
    for (std::size_t i = 0; i < facts.ledgers.size(); ++i) {
        const play::PlayerOptions& options = (*facts.streams)[i].options;
        const FrameCounts& counts = facts.ledgers[i]->counts();
        if (!options.paced) continue;
        if (counts.scheduled > options.readahead || counts.seeks > 0) return false;
        within = true;
    }
    return within;
}

/// True: the clips that were played are on storages that differ. A server is one, and so are all disks of this
/// computer. Fills in the clips on those.
bool are_on_several_storages(const RunFacts& facts, std::set<std::uint32_t>& local_clips) {
    const auto numbers = clip_numbers(*facts.streams);
    std::set<std::string> storages;
    for (const StreamPlan& plan : *facts.streams) {
        for (const Clip& clip : plan.clips) {
            const auto found = facts.mounts.find(target::directory_of(clip));
            if (found == facts.mounts.end()) continue;
            const MountFacts& mount = found->second;
            const bool local = judge::is_local_file_system(mount.type);
            if (local) local_clips.insert(numbers.at(clip.index.get()));
            storages.insert(local ? "" : mount.server.empty() ? mount.point : mount.server);
        }
    }
    return storages.size() > 1;
}

/// The place of the clips, and the way to it.
void fill_storage(const RunFacts& facts, judge::Evidence& evidence) {
    const auto& server = facts.request->target.remote;
    evidence.several_storages = are_on_several_storages(facts, evidence.local_clips);
    if (evidence.several_storages) return;
    evidence.remote = facts.request->target.kind == target::Target::Kind::remote ||
                      (facts.mount && judge::is_remote_file_system(facts.mount->type));
    evidence.local_disk = !evidence.remote && facts.mount && judge::is_local_file_system(facts.mount->type);
    if (server) {
        evidence.connections = std::uint64_t{server->connections} * evidence.loops;
        evidence.more_connections = "?connections=";
    } else if (facts.mount) {
        evidence.connections = facts.mount->connections;
        evidence.more_connections = host::option_of_connections(*facts.mount);
    }
}

}  // namespace

bool client_lacked_anything(const play::DeadlineLedger* ledger) {
    return std::any_of(ledger->drops().begin(), ledger->drops().end(), [](const FrameOutcome& entry) {
        return entry.reason == DropReason::error && judge::shortage_of(entry.error) != 0;
    });
}

judge::Evidence evidence_of(const RunFacts& facts, const RunResult& result) {
    judge::Evidence evidence;
    evidence.totals = result.totals;
    for (const play::DeadlineLedger* ledger : facts.ledgers) {
        evidence.reasons += ledger->reasons();
        evidence.client_stalls += ledger->client_stalls();
    }
    evidence.paced = facts.request->paced;
    evidence.faults_injected = facts.faults_injected;
    evidence.null_storage = is_null_storage(result);
    evidence.interrupted = facts.interrupted;
    evidence.preroll_took_too_long = facts.preroll_took_too_long;
    evidence.within_readahead = within_readahead(facts);
    for (const StreamResult& stream : result.streams) {
        evidence.longest_play_ns = std::max(evidence.longest_play_ns, stream.last_due_ns);
    }
    evidence.decode_cpu_ns = facts.request->decode_cpu.ns;
    evidence.require_cold = facts.request->require_cold;
    evidence.server_cache_may_be_warm = result.media.server_cache_may_be_warm;
    for (const StreamPlan& plan : *facts.streams) {
        if (!plan.options.paced) continue;
        const std::int64_t period_ns = plan.rate().period().ns;
        const std::int64_t shortest = evidence.shortest_period_ns;
        evidence.shortest_period_ns = shortest == 0 ? period_ns : std::min(shortest, period_ns);
    }
    evidence.loop_lateness_p50_ns = result.client.loop_lateness_p50_ns;
    evidence.loop_lateness_max_ns = result.client.loop_lateness_max_ns;
    evidence.loop_stalled_ns = result.client.loop_stalled_ns;
    evidence.virtual_time = facts.request->target.is_virtual_time();
    if (!evidence.virtual_time) evidence.cpu_percent = result.client.cpu_percent;
    if (!evidence.virtual_time && result.client.cpu_ns > 0) {
        evidence.helpers_cpu_percent = result.client.cpu_percent *
                                       static_cast<double>(result.client.helpers_cpu_ns) /
                                       static_cast<double>(result.client.cpu_ns);
    }
    evidence.loops = result.client.loops;
    evidence.cpus = result.host.cpus;
    evidence.system = facts.system;
    if (result.client.page_cache_bytes && result.totals.bytes_read > 0) {
        evidence.own_memory_share = static_cast<double>(*result.client.page_cache_bytes) /
                                    static_cast<double>(result.totals.bytes_read);
    }
    evidence.own_memory_unknown = !result.client.page_cache_bytes;
    fill_streams(facts, evidence);
    fill_missed(facts, evidence);
    fill_throughput_gaps(facts, evidence);
    evidence.vanished = facts.vanished;
    evidence.required_bytes_per_s = result.required_bytes_per_s;
    evidence.delivered_bytes_per_s = result.read_bytes_per_s;
    evidence.bytes_read = result.totals.bytes_read;
    evidence.bytes_written = result.totals.bytes_written;
    fill_storage(facts, evidence);
    evidence.io_size = smallest_io_size(*facts.streams);
    evidence.find_cause = facts.request->find_cause;
    evidence.any_player =
        std::ranges::any_of(*facts.streams, [](const StreamPlan& stream) { return stream.record == nullptr; });
    evidence.as_played = facts.diagnosis.as_played;
    evidence.usual = facts.diagnosis.usual;
    evidence.larger_reads = facts.diagnosis.larger_reads;
    evidence.more_in_flight = facts.diagnosis.more_in_flight;
    evidence.reads_at_once_max = facts.diagnosis.reads_at_once_max;
    evidence.rereads = facts.diagnosis.rereads;
    evidence.modelled = result.model.has_value();
    if (const auto& model = facts.request->target.model; model != nullptr && model->calibration)
        evidence.links_told_apart = model->calibration->told_apart;
    evidence.parts = busy_parts(result.parts, result.streams);
    if (evidence.modelled) fill_path_rtt(facts, result, evidence);
    return evidence;
}

}  // namespace streamsim::run
