#include "run/diagnosis/evidence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <string_view>

#include "base/system/errno_name.h"
#include "judge/judge.h"
#include "run/conclude/part_results.h"
#include "run/session/clip_numbers.h"
#include "target/target_places.h"

namespace streamsim::run {
namespace {

constexpr std::int64_t kStartupNs = 1'000'000'000;

/// File systems whose files another computer keeps. FUSE may be either.
bool is_remote(std::string_view type) {
    constexpr std::array kTypes = {"nfs",    "nfs4",  "cifs",   "smb3",    "smbfs", "ceph",
                                   "lustre", "gpfs",  "beegfs", "afs",     "9p",    "glusterfs",
                                   "gfs2",   "ocfs2", "acfs",   "stornext"};
    return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

void add(ReasonCounts& to, const ReasonCounts& from) {
    to.late += from.late;
    to.client += from.client;
    to.error += from.error;
    to.short_read += from.short_read;
    to.missing += from.missing;
}

/// The way of a seat's bytes on a model, there and back.
Duration round_trip(const PlayRequest& request, std::uint32_t seat) {
    const ClusterModel& model = *request.target.model;
    const SeatSetting setting =
        seat < request.seat_settings.size() ? request.seat_settings[seat] : SeatSetting{};
    const Duration one_way =
        setting.link_latency.value_or(model.client.link.latency) + model.node.front_end.latency;
    return one_way + one_way;
}

/// Of each frame its open, where it has one, and as many rounds of pieces as go out one after the other.
void fill_way(const RunFacts& facts, const RunResult& result, judge::Evidence& evidence) {
    for (std::size_t i = 0; i < result.streams.size(); ++i) {
        const StreamResult& stream = result.streams[i];
        const StreamPlan& plan = (*facts.streams)[i];
        if (judge::bad_frames(stream.counts) == 0 || !stream.service_ns) continue;
        const double pieces = plan.options.io_size == 0
                                  ? 1
                                  : std::ceil(plan.bytes_per_slot / static_cast<double>(plan.options.io_size));
        const bool opens =
            plan.path->sources().front()->file_per_frame() &&
            plan.options.pattern != play::AccessPattern::filename_prefetch;  // which did that ahead
        const double rounds = std::ceil(pieces / plan.options.io_depth) + (opens ? 1 : 0);
        const auto way_ns =
            static_cast<std::int64_t>(rounds * static_cast<double>(round_trip(*facts.request, stream.seat).ns));
        // A place in flight gives a frame in this time: where that is enough, latency alone drops none.
        const std::int64_t enough_ns = plan.rate().period().ns * plan.options.inflight;
        if (stream.service_ns->p50 * 10 < enough_ns * 9 || way_ns <= evidence.way_ns) continue;
        evidence.way_ns = std::min(way_ns, stream.service_ns->p50);
        evidence.service_p50_ns = stream.service_ns->p50;
    }
}

void fill_streams(const RunFacts& facts,
                  const std::vector<const play::DeadlineLedger*>& ledgers,
                  judge::Evidence& evidence) {
    for (std::size_t i = 0; i < ledgers.size(); ++i) {
        const StreamPlan& plan = (*facts.streams)[i];
        judge::StreamEvidence stream;
        const Instant start = ledgers[i]->play_start();
        stream.play_start_ns = start == Instant::never() ? 0 : start.ns;
        stream.period_ns = plan.rate().period().ns;
        stream.readahead = plan.options.readahead;
        stream.slots = ledgers[i]->counts().scheduled;
        stream.pass_slots = plan.path->pass_slots();
        evidence.streams.push_back(stream);
    }
}

/// What an error says that comes of a connection and never of a file.
bool is_of_the_way(int error) {
    const char* const name = errno_name(error);  // not every system has all of them
    if (name == nullptr) return false;
    for (const std::string_view way : {"ETIMEDOUT", "ECONNABORTED", "ECONNREFUSED", "ECONNRESET", "EHOSTDOWN",
                                       "EHOSTUNREACH", "ENETDOWN", "ENETUNREACH", "ENOTCONN", "EPIPE"})
        if (name == way) return true;
    return false;
}

bool is_one_of(int error, std::initializer_list<std::string_view> names) {
    const char* const name = errno_name(error);
    return name != nullptr && std::find(names.begin(), names.end(), name) != names.end();
}

/// errno where it says that this computer lacked something, whatever was read from where.
int shortage_of(int error) {
    return is_one_of(error, {"EMFILE", "ENFILE", "ENOMEM", "ENOBUFS", "EADDRNOTAVAIL"}) ? error : 0;
}

/// The frame failed when the directory of its clip was not there any more.
bool failed_for_want(const play::DropEntry& entry,
                     const Clip& clip,
                     const std::vector<judge::VanishedPlace>& vanished) {
    if (vanished.empty() || (entry.reason != DropReason::error && entry.reason != DropReason::missing))
        return false;
    const std::string directory = target::directory_of(clip) + "/";
    return std::any_of(vanished.begin(), vanished.end(), [&](const judge::VanishedPlace& place) {
        const bool later = entry.deadline == Instant::never() || entry.deadline.ns > place.there_ns;
        return later && directory.starts_with(place.directory + "/");
    });
}

judge::MissedFrame missed_of(const play::DropEntry& entry, std::uint32_t stream, std::uint32_t clip) {
    const auto known = [](Instant at) { return at == Instant::never() ? std::nullopt : std::optional(at.ns); };
    judge::MissedFrame missed;
    missed.stream = stream;
    missed.clip = clip;
    missed.slot = entry.slot;
    missed.clip_frame = entry.clip_frame;
    missed.kind = entry.kind;
    missed.reason = entry.reason;
    missed.no_answer = entry.reason == DropReason::error && is_of_the_way(entry.error);
    missed.unreachable =
        missed.no_answer && is_one_of(entry.error, {"EHOSTDOWN", "EHOSTUNREACH", "ENETDOWN", "ENETUNREACH"});
    missed.refused = missed.no_answer && is_one_of(entry.error, {"ECONNREFUSED", "ECONNRESET"});
    if (entry.reason == DropReason::error) missed.shortage = shortage_of(entry.error);
    missed.due_ns = entry.deadline == Instant::never() ? 0 : entry.deadline.ns;
    missed.submitted_ns = known(entry.submitted);
    missed.delivered_ns = known(entry.delivered);
    missed.open_ns = entry.open_time.ns;
    if (missed.submitted_ns && missed.delivered_ns) {
        const std::int64_t opened_ns = known(entry.opened).value_or(0);
        missed.read_ns = *missed.delivered_ns - std::max(*missed.submitted_ns, opened_ns);
    }
    return missed;
}

void fill_missed(const RunFacts& facts,
                 const std::vector<const play::DeadlineLedger*>& ledgers,
                 judge::Evidence& evidence) {
    const ClipNumbers numbers(*facts.streams);
    storage::InjectedFaults faults;
    for (const LoopStats* playback_loop : facts.playback_loops) faults.add(playback_loop->faults);
    for (std::size_t i = 0; i < ledgers.size(); ++i) {
        const play::PlayerOptions& options = (*facts.streams)[i].options;
        const auto delays = faults.delays.find({options.seat, options.stream});
        if (delays == faults.delays.end()) continue;
        for (const auto& [from, to] : delays->second) evidence.streams[i].faults.push_back({from.ns, to.ns});
    }
    const auto clip = [&](std::size_t stream, const play::DropEntry& entry) {
        return numbers.of((*facts.streams)[stream].clips[entry.source]);
    };
    for (std::size_t i = 0; i < ledgers.size(); ++i) {
        const auto stream = static_cast<std::uint32_t>(i);
        for (const play::DropEntry& entry : ledgers[i]->drops()) {
            judge::MissedFrame missed = missed_of(entry, stream, clip(i, entry));
            missed.startup = entry.kind == FrameKind::dropped &&
                             missed.due_ns < evidence.streams[i].play_start_ns + kStartupNs;
            missed.gone = failed_for_want(entry, (*facts.streams)[i].clips[entry.source], facts.vanished);
            evidence.missed.push_back(missed);
        }
    }
    for (std::size_t i = 0; i < ledgers.size(); ++i) {
        for (const play::DropEntry& entry : ledgers[i]->stalls()) {
            judge::MissedFrame missed = missed_of(entry, static_cast<std::uint32_t>(i), clip(i, entry));
            missed.stall = true;
            if (entry.completed != Instant::never()) missed.delivered_ns = entry.completed.ns;
            evidence.missed.push_back(missed);
        }
    }
    for (judge::MissedFrame& missed : evidence.missed) {
        const play::PlayerOptions& options = (*facts.streams)[missed.stream].options;
        missed.injected = faults.met(options.seat, options.stream, missed.slot);
    }
}

/// Times without a delivery on any loop, between others, and at the end where frames were due that never came.
void fill_silences(const RunFacts& facts, judge::Evidence& evidence) {
    constexpr std::int64_t kShortest = 80'000'000;
    metrics::DeliverySeries all;
    Instant zero = Instant::never();
    for (const LoopStats* playback_loop : facts.playback_loops) {
        all.merge(playback_loop->series.deliveries);
        zero = std::min(zero, playback_loop->origin);
    }
    const std::int64_t interval_ns = all.interval().ns;
    std::int64_t last = -1;
    const auto& intervals = all.intervals();
    for (std::size_t i = 0; i < intervals.size(); ++i) {
        if (intervals[i].frames == 0) continue;
        const auto now = static_cast<std::int64_t>(i);
        const std::int64_t from_ns = (last + 1) * interval_ns;
        if (now * interval_ns - from_ns >= kShortest)
            evidence.silences.push_back({zero.ns + from_ns, zero.ns + now * interval_ns});
        last = now;
    }
    if (last < 0) return;
    const std::int64_t from_ns = zero.ns + (last + 1) * interval_ns;
    std::int64_t wanted_until_ns = from_ns;
    for (const judge::MissedFrame& missed : evidence.missed) {
        if (!missed.delivered_ns) wanted_until_ns = std::max(wanted_until_ns, missed.due_ns);
    }
    if (wanted_until_ns - from_ns >= kShortest) evidence.silences.push_back({from_ns, wanted_until_ns, true});
}

}  // namespace

bool client_lacked_anything(const play::DeadlineLedger* ledger) {
    return std::any_of(ledger->drops().begin(), ledger->drops().end(), [](const play::DropEntry& entry) {
        return entry.reason == DropReason::error && shortage_of(entry.error) != 0;
    });
}

judge::Evidence evidence_of(const RunFacts& facts,
                            const std::vector<const play::DeadlineLedger*>& ledgers,
                            const RunResult& result) {
    judge::Evidence evidence;
    evidence.totals = result.totals;
    for (const play::DeadlineLedger* ledger : ledgers) {
        add(evidence.reasons, ledger->reasons());
        evidence.client_stalls += ledger->client_stalls();
    }
    evidence.paced = facts.request->paced;
    evidence.faults_injected = facts.faults_injected;
    evidence.null_storage = is_null_storage(result);
    evidence.interrupted = facts.interrupted;
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
    evidence.loop_stalled_ns = result.client.loop_stalled_ns;
    evidence.cpu_percent = result.client.cpu_percent;
    if (result.client.cpu_ns > 0) {
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
    fill_streams(facts, ledgers, evidence);
    fill_missed(facts, ledgers, evidence);
    fill_silences(facts, evidence);
    evidence.vanished = facts.vanished;
    evidence.required_bytes_per_s = result.required_bytes_per_s;
    evidence.delivered_bytes_per_s = result.read_bytes_per_s;
    evidence.bytes_read = result.totals.bytes_read;
    evidence.remote = facts.request->target.kind == target::Target::Kind::remote ||
                      (facts.mount && is_remote(facts.mount->type));
    evidence.io_size = facts.request->io_size;
    evidence.as_played = facts.found.as_played;
    evidence.usual = facts.found.usual;
    evidence.larger_reads = facts.found.larger_reads;
    evidence.more_in_flight = facts.found.more_in_flight;
    evidence.rereads = facts.found.rereads;
    evidence.modelled = result.model.has_value();
    evidence.parts = busy_parts(result.parts, result.streams);
    if (evidence.modelled) fill_way(facts, result, evidence);
    return evidence;
}

}  // namespace streamsim::run
