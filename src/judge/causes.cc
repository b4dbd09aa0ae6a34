#include "judge/causes.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "judge/host_window.h"
#include "judge/memory.h"
#include "judge/network_path.h"

namespace streamsim::judge {
namespace {

/// From here on a processor counts as used up: the rest goes to the kernel's own work.
constexpr double kBusyShare = 0.95;
/// Of the time, that a thread of this process waited for a processor where others took it.
constexpr double kWaitingShare = 0.25;
/// Of the time, that some task waited for one.
constexpr double kPressed = 0.5;
/// Of its speed, that an interface carries when it is full.
constexpr double kFullLink = 0.85;
/// An echo that takes so many times its least, and so much longer, waited in a queue.
constexpr std::int64_t kQueueFactor = 5;
constexpr std::int64_t kQueueNs = 1'000'000;
/// Asked for in another way the storage gives more, not just another number.
constexpr double kMore = 1.3;
/// A frame that is slow by itself takes so many times as long as others do.
constexpr std::int64_t kSlowFactor = 3;
constexpr std::int64_t kSilenceNs = 100'000'000;
constexpr int kFewSilences = 3;
/// Of the segments, that were lost or came behind such.
constexpr double kManyLost = 0.1;
/// A cold start is over by then, in a run that is at least three times as long.
constexpr std::int64_t kStartNs = 5'000'000'000;

using Place = std::pair<std::uint32_t, std::uint64_t>;  // clip, frame

Place place_of(const MissedFrame& missed) {
    return {missed.clip, missed.clip_frame};
}

/// Missed frames of one stream that belong together.
struct Episode {
    std::vector<std::size_t> frames;  // of Evidence::missed
    std::size_t slowest = 0;
    std::int64_t from_ns = INT64_MAX;  // the first was asked for
    std::int64_t to_ns = INT64_MIN;    // the last was due
};

std::int64_t took_ns(const MissedFrame& missed) {
    if (!missed.submitted_ns || !missed.delivered_ns) return -1;
    return *missed.delivered_ns - *missed.submitted_ns + missed.open_ns;
}

class CauseClassifier {
public:
    CauseClassifier(const Evidence& evidence, const PlaceTest& places)
        : evidence_(evidence), places_(places), booked_(evidence.missed.size(), Cause::none) {}

    std::vector<Cause> book() {
        read_again();
        every_pass_ = missed_every_pass(evidence_);
        way_ = network_path_facts(evidence_.system);
        over_network_ = through_network(evidence_);
        on_network_ = evidence_.remote || over_network_;
        suspensions_ = suspensions_of(evidence_.system);
        for (const MissedFrame& each : evidence_.missed) {
            if (each.reason == DropReason::error) error_places_.insert(place_of(each));
        }
        for (std::size_t i = 0; i < evidence_.missed.size(); ++i)
            booked_[i] = by_reason(evidence_.missed[i], i);
        for (const Episode& episode : episodes()) {
            const Cause cause = cause_of(episode);
            for (const std::size_t i : episode.frames) {
                const bool start = evidence_.missed[i].startup && cause != Cause::slow_file;
                booked_[i] = start ? Cause::cold_start : cause;
            }
        }
        if (only_at_the_start()) {
            for (std::size_t i = 0; i < booked_.size(); ++i) {
                if (is_slowness(booked_[i])) booked_[i] = Cause::cold_start;
            }
        }
        return std::move(booked_);
    }

private:
    void read_again();
    Cause by_reason(const MissedFrame& missed, std::size_t i) const;
    bool suspended(const MissedFrame& missed) const;
    bool beside_damage(const MissedFrame& missed) const;
    Cause of_error(const MissedFrame& missed, std::size_t i) const;
    Cause of_no_answer(const MissedFrame& missed) const;
    Cause of_client(const MissedFrame& missed) const;
    bool client_can_be_late() const;
    bool hardly_held_up(const MissedFrame& missed) const;
    std::vector<Episode> episodes() const;
    Cause cause_of(const Episode& episode) const;
    bool computer_busy(const Episode& episode) const;
    Cause of_memory(const Episode& episode) const;
    std::int64_t lost_ns(const Episode& episode) const;
    std::int64_t silence_ns(const Episode& episode) const;
    bool slow_file(const Episode& episode) const;
    bool network_down(const Episode& episode) const;
    double lost(const Episode& episode) const;
    bool network_full(const Episode& episode) const;
    bool gives_enough(const std::optional<ProbeResult>& probe) const;
    bool gives_more(const std::optional<ProbeResult>& probe) const;
    bool small_reads_cost() const;
    Cause of_rates() const;
    bool only_at_the_start() const;
    static bool is_slowness(Cause cause) {
        return cause == Cause::slow_reads || cause == Cause::bandwidth || cause == Cause::slow_opens ||
               cause == Cause::storage_stall;
    }

    const Evidence& evidence_;
    const PlaceTest& places_;
    std::vector<Cause> booked_;
    std::vector<bool> every_pass_;
    std::set<Place> error_places_, slow_again_, fine_again_, failed_again_, whole_again_;
    std::map<std::uint32_t, std::pair<int, int>> again_of_clip_;  // missed frames: slow again, and fine
    NetworkPathFacts way_;
    bool over_network_ = false;
    bool on_network_ = false;  // or of a server, whatever came from it
    std::vector<Suspension> suspensions_;
};

/// Compares what was missed with what is usual, each read alone.
void CauseClassifier::read_again() {
    std::vector<std::int64_t> usual;
    for (const Reread& each : evidence_.rereads) {
        if (!each.missed && !each.failed) usual.push_back(each.took_ns);
    }
    std::sort(usual.begin(), usual.end());
    for (const Reread& each : evidence_.rereads) {
        if (!each.missed) continue;
        const Place place{each.clip, each.clip_frame};
        (each.failed ? failed_again_ : whole_again_).insert(place);
        if (each.failed || usual.empty()) continue;
        const std::int64_t usual_ns = usual[usual.size() / 2];
        const bool slow = each.took_ns > usual_ns * kSlowFactor && each.took_ns > usual.back() * 2 &&
                          (each.took_ns - usual_ns) * 4 > evidence_.shortest_period_ns;
        (slow ? slow_again_ : fine_again_).insert(place);
        auto& [slow_ones, fine_ones] = again_of_clip_[each.clip];
        ++(slow ? slow_ones : fine_ones);
    }
}

/// Others of its clip stay unreadable: near it, as a read of a container may have fetched more than one frame
/// in play, and have failed for another's sake; or anywhere, where it was not among those that were read again.
bool CauseClassifier::beside_damage(const MissedFrame& missed) const {
    const bool known = whole_again_.contains(place_of(missed));
    const std::uint64_t window = known ? evidence_.streams[missed.stream].readahead : UINT64_MAX;
    const std::uint64_t before = std::min(missed.clip_frame, window);
    const auto from = failed_again_.lower_bound({missed.clip, missed.clip_frame - before});
    const std::uint64_t to = missed.clip_frame + std::min(UINT64_MAX - missed.clip_frame, window);
    return from != failed_again_.end() && *from <= Place{missed.clip, to};
}

Cause CauseClassifier::of_error(const MissedFrame& missed, std::size_t i) const {
    if (missed.gone) return Cause::storage_gone;
    if (missed.shortage == ENOMEM || missed.shortage == ENOBUFS) return Cause::client_memory;
    if (missed.shortage != 0) return Cause::client_resources;
    if (missed.no_answer) return of_no_answer(missed);
    const Place place = place_of(missed);
    if (whole_again_.contains(place) && !beside_damage(missed)) return Cause::storage_error;
    if (missed.reason != DropReason::error) return Cause::damaged_file;
    // An error that stays with a few frames is theirs; one that is everywhere is the storage's.
    const bool stays = failed_again_.contains(place) || every_pass_[i] || beside_damage(missed);
    const bool few = error_places_.size() * 4 <= evidence_.totals.scheduled;
    return stays && few ? Cause::damaged_file : Cause::storage_error;
}

/// A connection failed, or was given up: by the path there, or by the server.
Cause CauseClassifier::of_no_answer(const MissedFrame& missed) const {
    if (missed.unreachable) return Cause::network_down;
    if (missed.refused || !on_network_) return Cause::storage_error;
    return cause_of_timeout(evidence_.system, missed);
}

Cause CauseClassifier::of_client(const MissedFrame& missed) const {
    if (small_reads_cost()) return Cause::too_small_reads;
    const auto loops = std::max(1U, std::min(evidence_.loops, evidence_.cpus));
    if (evidence_.cpu_percent - evidence_.helpers_cpu_percent >= 90.0 * loops) return Cause::client_cpu;
    const std::int64_t lost_ns =
        static_cast<std::int64_t>(evidence_.reasons.client) * evidence_.shortest_period_ns;
    if (evidence_.decode_cpu_ns > 0 && evidence_.loop_stalled_ns < lost_ns) return Cause::client_cpu;
    const StreamEvidence& stream = evidence_.streams[missed.stream];
    const std::int64_t from_ns = missed.submitted_ns.value_or(missed.due_ns) - stream.period_ns;
    const HostWindow now =
        host_window(evidence_.system, from_ns, std::max(missed.due_ns, missed.delivered_ns.value_or(0)));
    const MemoryWindow memory = memory_window(evidence_.system, from_ns, missed.due_ns);
    if (memory_answer(memory) == MemoryAnswer::short_of) return Cause::client_memory;
    // A process that was stopped waits for nothing.
    const bool others =
        now.processors_busy.value_or(0) >= kBusyShare && now.waiting.value_or(0) >= kWaitingShare;
    return others ? Cause::client_cpu : Cause::client_scheduling;
}

/// A loop that was never late ran in virtual time: nothing but decoding holds up anything there.
bool CauseClassifier::client_can_be_late() const {
    return evidence_.loop_lateness_p50_ns > 0 || evidence_.loop_stalled_ns > 0 || evidence_.decode_cpu_ns > 0;
}

/// Less than a frame's time, where the storage would not have kept up without it.
bool CauseClassifier::hardly_held_up(const MissedFrame& missed) const {
    const bool came = missed.submitted_ns && missed.delivered_ns;
    return came && *missed.delivered_ns - missed.due_ns < evidence_.shortest_period_ns &&
           evidence_.decode_cpu_ns == 0 && evidence_.as_played && !gives_enough(evidence_.as_played);
}

/// The computer slept while the frame was waited for, or had just woken up.
bool CauseClassifier::suspended(const MissedFrame& missed) const {
    if (missed.reason == DropReason::missing || missed.reason == DropReason::short_read) return false;
    const StreamEvidence& stream = evidence_.streams[missed.stream];
    const std::int64_t from_ns = missed.submitted_ns.value_or(missed.due_ns - stream.period_ns);
    const std::int64_t to_ns = std::max(missed.due_ns, missed.delivered_ns.value_or(0));
    return suspended_in(suspensions_, from_ns, to_ns).has_value();
}

Cause CauseClassifier::by_reason(const MissedFrame& missed, std::size_t i) const {
    if (suspended(missed)) return Cause::client_scheduling;
    switch (missed.reason) {
        case DropReason::error:
        case DropReason::short_read:
        case DropReason::missing: return of_error(missed, i);
        case DropReason::client:
            if (hardly_held_up(missed) || !client_can_be_late()) break;
            return of_client(missed);
        case DropReason::none:
        case DropReason::late: break;
    }
    return Cause::none;
}

/// Of the frames that are not booked yet.
std::vector<Episode> CauseClassifier::episodes() const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < booked_.size(); ++i) {
        if (booked_[i] == Cause::none) order.push_back(i);
    }
    const auto key = [this](std::size_t i) {
        const MissedFrame& missed = evidence_.missed[i];
        return std::pair(missed.stream, missed.slot);
    };
    std::sort(order.begin(), order.end(), [&key](std::size_t a, std::size_t b) { return key(a) < key(b); });
    std::vector<Episode> out;
    for (std::size_t n = 0; n < order.size(); ++n) {
        const MissedFrame& missed = evidence_.missed[order[n]];
        const StreamEvidence& stream = evidence_.streams[missed.stream];
        const MissedFrame* last = n > 0 ? &evidence_.missed[order[n - 1]] : nullptr;
        const bool same =
            last != nullptr && last->stream == missed.stream && missed.slot - last->slot <= stream.readahead;
        if (!same) out.push_back({{}, order[n]});
        Episode& episode = out.back();
        episode.frames.push_back(order[n]);
        if (took_ns(missed) > took_ns(evidence_.missed[episode.slowest])) episode.slowest = order[n];
        const std::int64_t window_ns = stream.period_ns * stream.readahead;
        episode.from_ns = std::min(episode.from_ns, missed.submitted_ns.value_or(missed.due_ns - window_ns));
        episode.to_ns =
            std::max({episode.to_ns, missed.due_ns, missed.stall ? missed.delivered_ns.value_or(0) : 0});
    }
    return out;
}

bool CauseClassifier::computer_busy(const Episode& episode) const {
    if (evidence_.cpu_percent >= 90.0 * std::max(1U, evidence_.cpus)) return true;
    const HostWindow then = host_window(evidence_.system, episode.from_ns, episode.to_ns);
    if (then.processors_busy.value_or(0) < kBusyShare || then.cpu_pressure.value_or(1) < kPressed) return false;
    const std::int64_t waited_ns = then.waited_ns.value_or(0);
    // Whoever waits for his turn, and has it now and then, is given a byte then.
    if (waited_ns * 4 < silence_ns(episode) * 3) return false;
    // A little waiting does not explain much that was missed; but where the storage gives enough as soon as
    // it is asked without deadlines, nothing else does.
    const bool explains = waited_ns * 2 >= lost_ns(episode);
    return explains || (then.waiting.value_or(0) >= kWaitingShare && gives_enough(evidence_.as_played));
}

/// None: there was enough of it, or nobody knows and the processors explain it.
Cause CauseClassifier::of_memory(const Episode& episode) const {
    switch (memory_answer(memory_window(evidence_.system, episode.from_ns, episode.to_ns))) {
        case MemoryAnswer::enough: return Cause::none;
        case MemoryAnswer::short_of: return Cause::client_memory;
        case MemoryAnswer::unknown: break;
    }
    return client_can_be_late() && computer_busy(episode) ? Cause::none : Cause::unknown;
}

/// Of play: the frames that were missed, or how long it stood still for them.
std::int64_t CauseClassifier::lost_ns(const Episode& episode) const {
    std::int64_t lost_ns = 0;
    for (const std::size_t i : episode.frames) {
        const MissedFrame& missed = evidence_.missed[i];
        const bool stood = missed.stall && missed.delivered_ns;
        lost_ns += stood ? *missed.delivered_ns - missed.due_ns : evidence_.shortest_period_ns;
    }
    return lost_ns;
}

/// Of the episode, the time in which no stream was given a byte; 0 where that was most of the time, or a small
/// part of it.
std::int64_t CauseClassifier::silence_ns(const Episode& episode) const {
    const std::int64_t period_ns = evidence_.streams[evidence_.missed[episode.slowest].stream].period_ns;
    std::int64_t silent_ns = 0;
    std::int64_t certain_ns = 0;
    std::int64_t all_ns = 0;
    int count = 0;
    for (const Silence& silence : evidence_.silences) {
        if (!is_stall(silence, period_ns)) continue;
        const std::int64_t both_ns = std::max<std::int64_t>(
            std::min(silence.to_ns, episode.to_ns) - std::max(silence.from_ns, episode.from_ns), 0);
        if (on_network_ && certainly_silent(evidence_.system, silence)) certain_ns += both_ns;
        ++count;
        all_ns += silence.to_ns - silence.from_ns;
        silent_ns += both_ns;
    }
    if (certain_ns * 2 >= episode.to_ns - episode.from_ns) return certain_ns;
    // What is silent all the time, or again and again, is slow.
    const bool seldom = all_ns * (count <= kFewSilences ? 2 : 4) <= evidence_.longest_play_ns;
    return seldom && silent_ns * 2 >= episode.to_ns - episode.from_ns ? silent_ns : 0;
}

/// For a good part of the episode: what is missed after a cut is missed as TCP waits ever longer to ask again.
bool CauseClassifier::network_down(const Episode& episode) const {
    if (!on_network_) return false;
    const std::int64_t gone_ns = path_gone_ns(path_span(evidence_.system, episode.from_ns, episode.to_ns));
    return gone_ns > 0 && gone_ns * 4 >= episode.to_ns - episode.from_ns;
}

/// Of the segments; 0: too few to matter.
double CauseClassifier::lost(const Episode& episode) const {
    if (!on_network_) return 0;
    const double share = lost_share(evidence_.system, episode.from_ns, episode.to_ns);
    if (share == 0 || share >= kManyLost) return share;
    const auto rtt_ns = host_window(evidence_.system, episode.from_ns, episode.to_ns).echo_ns;
    if (!rtt_ns || *rtt_ns <= 0) return share;
    return losses_can_delay(share, *rtt_ns, evidence_.required_bytes_per_s) ? share : 0;
}

bool CauseClassifier::slow_file(const Episode& episode) const {
    const MissedFrame& slowest = evidence_.missed[episode.slowest];
    if (fine_again_.contains(place_of(slowest))) return false;
    // Others of the same clip were read again: what holds for them holds for it.
    for (const std::size_t i : episode.frames) {
        if (slow_again_.contains(place_of(evidence_.missed[i]))) return true;
    }
    const auto again = again_of_clip_.find(slowest.clip);
    if (again != again_of_clip_.end() && again->second.first >= 3 && again->second.second == 0) return true;
    return places_.answer == PlaceTest::Answer::same_place && every_pass_[episode.slowest] &&
           places_.places * 5 <= evidence_.streams[slowest.stream].pass_slots && fine_again_.empty();
}

bool CauseClassifier::network_full(const Episode& episode) const {
    if (!over_network_) return false;
    if (link_busy(evidence_.system, way_.link, episode.from_ns, episode.to_ns).value_or(0) >= kFullLink)
        return true;
    const auto echo = host_window(evidence_.system, episode.from_ns, episode.to_ns).echo_ns;
    return echo && way_.echo_idle_ns && *echo > *way_.echo_idle_ns * kQueueFactor &&
           *echo - *way_.echo_idle_ns >= kQueueNs;
}

bool CauseClassifier::gives_enough(const std::optional<ProbeResult>& probe) const {
    return probe && probe->bytes_per_s >= evidence_.required_bytes_per_s;
}

bool CauseClassifier::gives_more(const std::optional<ProbeResult>& probe) const {
    return probe && evidence_.as_played && probe->bytes_per_s >= evidence_.as_played->bytes_per_s * kMore;
}

/// Pieces so small that asking for them is the work, for the storage or for this computer.
bool CauseClassifier::small_reads_cost() const {
    return gives_more(evidence_.larger_reads) && gives_enough(evidence_.larger_reads);
}

Cause CauseClassifier::of_rates() const {
    if (small_reads_cost()) return Cause::too_small_reads;
    if (gives_more(evidence_.usual) && gives_enough(evidence_.usual)) return Cause::too_little_in_flight;
    if (!evidence_.as_played) return Cause::slow_reads;
    if (gives_more(evidence_.more_in_flight) || gives_enough(evidence_.as_played)) return Cause::slow_reads;
    return Cause::bandwidth;
}

Cause CauseClassifier::cause_of(const Episode& episode) const {
    const MissedFrame& slowest = evidence_.missed[episode.slowest];
    if (network_down(episode)) return Cause::network_down;
    if (const Cause memory = of_memory(episode); memory != Cause::none) return memory;
    if (small_reads_cost()) return Cause::too_small_reads;
    const double share = lost(episode);
    const Cause loss = network_full(episode) ? Cause::network : Cause::network_loss;
    // So many losses delay data however busy this computer is.
    if (share >= kManyLost && silence_ns(episode) == 0) return loss;
    // What is lost makes a frame slow when it is read again, too, here and there.
    if (share == 0 && slow_again_.contains(place_of(slowest)))
        return Cause::slow_file;  // on an idle computer, too
    if (client_can_be_late() && computer_busy(episode)) return Cause::client_cpu;
    const bool behind =
        evidence_.shortest_period_ns > 0 && evidence_.loop_lateness_p50_ns * 2 >= evidence_.shortest_period_ns;
    if (behind) return Cause::client_scheduling;
    if (silence_ns(episode) > 0)
        return on_network_ ? cause_of_silence(evidence_, episode.from_ns, episode.to_ns) : Cause::storage_stall;
    if (share > 0) return loss;
    if (slow_file(episode)) return Cause::slow_file;
    if (slowest.open_ns > slowest.read_ns && slowest.open_ns * 2 >= evidence_.shortest_period_ns)
        return Cause::slow_opens;
    if (network_full(episode)) return Cause::network;
    // A server far away, and nothing is known of the way to it.
    const bool way_known = over_network_ && (way_.bits_per_s || way_.echo_idle_ns);
    if (evidence_.remote && !way_known) return Cause::unknown;
    return of_rates();
}

/// By Evidence::missed: the frame had never come before, on no pass.
std::vector<bool> first_readings(const Evidence& evidence) {
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> never_came;  // by stream and place
    std::vector<std::size_t> order(evidence.missed.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&evidence](std::size_t a, std::size_t b) {
        return evidence.missed[a].slot < evidence.missed[b].slot;
    });
    std::vector<bool> first(evidence.missed.size());
    for (const std::size_t i : order) {
        const MissedFrame& missed = evidence.missed[i];
        const std::uint64_t pass_slots = evidence.streams[missed.stream].pass_slots;
        std::uint64_t& passes = never_came[{missed.stream, missed.slot % pass_slots}];
        first[i] = passes == missed.slot / pass_slots;
        if (first[i] && !missed.delivered_ns) ++passes;
    }
    return first;
}

/// Everything that counts was missed in the beginning, together with drops of the first second, and most of
/// play came later; or it was what was read for the first time, and what was read again came in time.
bool CauseClassifier::only_at_the_start() const {
    const std::vector<bool> first = first_readings(evidence_);
    bool any = false;
    bool early = evidence_.totals.startup_drops > 0;
    bool new_only = true;
    std::map<std::uint32_t, std::uint64_t> missed_later;  // by stream: behind its first pass
    for (std::size_t i = 0; i < booked_.size(); ++i) {
        const MissedFrame& missed = evidence_.missed[i];
        if (missed.startup || !is_slowness(booked_[i])) continue;
        any = true;
        const StreamEvidence& stream = evidence_.streams[missed.stream];
        const std::int64_t at_ns = missed.due_ns - stream.play_start_ns;
        early &= at_ns <= kStartNs && at_ns * 3 <= evidence_.longest_play_ns;
        const bool read_again = stream.slots >= stream.pass_slots + stream.pass_slots / 2;
        const bool slow = missed.submitted_ns.has_value();  // others were passed over because of these
        new_only &= booked_[i] != Cause::storage_stall && read_again && (first[i] || !slow);
        if (missed.slot >= stream.pass_slots) ++missed_later[missed.stream];
    }
    // Where most is missed on later passes, too, little was read a second time.
    for (const auto& [stream, count] : missed_later) {
        const StreamEvidence& of = evidence_.streams[stream];
        new_only &= count * 2 < of.slots - std::min(of.slots, of.pass_slots);
    }
    return any && (early || new_only);
}

}  // namespace

bool is_stall(const Silence& gap, std::int64_t period_ns) {
    return gap.to_ns - gap.from_ns >= std::max(kSilenceNs, 3 * period_ns);
}

bool through_network(const Evidence& evidence) {
    constexpr double kMost = 0.7;
    const NetworkPathFacts way = network_path_facts(evidence.system);
    return evidence.bytes_read > 0 &&
           static_cast<double>(way.received_bytes) >= kMost * static_cast<double>(evidence.bytes_read);
}

std::vector<bool> missed_every_pass(const Evidence& evidence) {
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> times;  // by stream and place in the pass
    const auto key = [&evidence](const MissedFrame& missed) {
        return std::pair(missed.stream, missed.slot % evidence.streams[missed.stream].pass_slots);
    };
    for (const MissedFrame& missed : evidence.missed) ++times[key(missed)];
    std::vector<bool> out;
    for (const MissedFrame& missed : evidence.missed) {
        const StreamEvidence& stream = evidence.streams[missed.stream];
        const std::uint64_t first = missed.slot % stream.pass_slots;
        const std::uint64_t due = stream.slots > first ? (stream.slots - first - 1) / stream.pass_slots + 1 : 0;
        const std::uint64_t count = times[key(missed)];
        out.push_back(count >= 2 && count * 5 >= due * 4);
    }
    return out;
}

PlaceTest test_places(const Evidence& evidence) {
    PlaceTest out;
    if (evidence.missed.empty()) return out;
    const std::vector<bool> every_pass = missed_every_pass(evidence);
    std::map<Place, bool> places;
    std::map<std::uint32_t, std::uint64_t> missed_of;  // by stream
    bool twice = false;
    for (std::size_t i = 0; i < evidence.missed.size(); ++i) {
        const MissedFrame& missed = evidence.missed[i];
        const StreamEvidence& stream = evidence.streams[missed.stream];
        if (missed.startup && missed.reason == DropReason::late) continue;
        twice |= stream.slots >= 2 * stream.pass_slots;
        bool& every = places[place_of(missed)];
        every = every || every_pass[i];
        ++missed_of[missed.stream];
    }
    std::uint64_t missed = 0;
    std::uint64_t slots = 0;
    for (const auto& [stream, count] : missed_of) {
        missed += count;
        slots += evidence.streams[stream].slots;
    }
    out.places = places.size();
    out.every_pass = static_cast<std::uint64_t>(
        std::count_if(places.begin(), places.end(), [](const auto& each) { return each.second; }));
    if (places.empty()) return out;
    // Where a third is missed, the same places are missed again by chance, or in step with the storage.
    out.answer = !twice                             ? PlaceTest::Answer::one_pass
                 : missed * 3 >= slots              ? PlaceTest::Answer::everywhere
                 : out.every_pass * 2 >= out.places ? PlaceTest::Answer::same_place
                                                    : PlaceTest::Answer::random;
    return out;
}

std::vector<Cause> book_causes(const Evidence& evidence, const PlaceTest& places) {
    return CauseClassifier(evidence, places).book();
}

Limit limit_of(Cause cause) {
    switch (cause) {
        case Cause::none: return Limit::none;
        case Cause::slow_reads:
        case Cause::bandwidth:
        case Cause::slow_opens:
        case Cause::storage_stall:
        case Cause::storage_error:
        case Cause::storage_gone:
        case Cause::cold_start: return Limit::storage;
        case Cause::slow_file:
        case Cause::damaged_file: return Limit::media;
        case Cause::network:
        case Cause::network_loss:
        case Cause::network_down: return Limit::network;
        case Cause::client_cpu:
        case Cause::client_memory:
        case Cause::client_resources: return Limit::client_cpu;
        case Cause::client_scheduling:
        case Cause::too_little_in_flight:
        case Cause::too_small_reads: return Limit::client_scheduling;
        case Cause::model_part:
        case Cause::injected_fault:
        case Cause::unknown: return Limit::unknown;
    }
    return Limit::unknown;
}

}  // namespace streamsim::judge
