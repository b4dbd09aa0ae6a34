#include "judge/causes.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "judge/distance.h"
#include "judge/host_window.h"
#include "judge/network_path.h"
#include "judge/sides.h"

namespace streamsim::judge {
namespace {

/// A processor that is busier has no time left: the rest goes to the kernel's own work.
constexpr double kProcessorFullShare = 0.95;
/// Run-queue wait share of this process's threads from which on other processes took its processor.
constexpr double kRunQueueWaitShare = 0.25;
/// CPU pressure (PSI `some`) from which on processors were short.
constexpr double kCpuPressureShare = 0.5;
/// A slow frame takes so many times as long as others do.
constexpr std::int64_t kSlowFrameFactor = 3;
constexpr std::int64_t kStallNs = 100'000'000;
constexpr int kFewStalls = 3;
/// A cold start is over by then, in a run that is at least three times as long.
constexpr std::int64_t kColdStartNs = 5'000'000'000;

using Place = std::pair<std::uint32_t, std::uint64_t>;  // clip, frame

Place place_of(const MissedFrame& missed) {
    return {missed.clip, missed.clip_frame};
}

/// Missed frames of one stream that belong together.
struct Episode {
    std::vector<std::size_t> frames;  // indices into Evidence::missed
    std::size_t slowest = 0;
    std::int64_t from_ns = INT64_MAX;  // the submission of the first
    std::int64_t to_ns = INT64_MIN;    // the deadline of the last
};

/// How many frames of clips were due: a frame counts once, however many passes and streams with the same clips
/// ask for it.
std::uint64_t places_read(const Evidence& evidence) {
    std::map<std::vector<std::uint32_t>, std::uint64_t> places_of;  // by clips
    for (const StreamEvidence& stream : evidence.streams) {
        std::uint64_t& places = places_of[stream.clips];
        places = std::max(places, std::min(stream.slots, stream.pass_slots));
    }
    std::uint64_t sum = 0;
    for (const auto& [clips, places] : places_of) sum += places;
    return sum;
}

class CauseClassifier {
public:
    CauseClassifier(const Evidence& evidence, const PlaceTest& places)
        : evidence_(evidence), place_test_(places), causes_(evidence.missed.size(), Cause::none) {}

    std::vector<Cause> classify() {
        compare_rereads();
        every_pass_ = missed_every_pass(evidence_);
        path_ = path_of_data(evidence_);
        over_network_ = through_network(evidence_);
        on_network_ = evidence_.remote || over_network_;
        suspensions_ = suspensions_of(evidence_.system);
        lost_through_client_ns_ = lost_through_client_ns();
        for (const MissedFrame& each : evidence_.missed) {
            if (each.reason == DropReason::error) error_places_.insert(place_of(each));
        }
        errors_are_few_ = error_places_.size() * 4 <= places_read(evidence_);
        for (std::size_t i = 0; i < evidence_.missed.size(); ++i)
            causes_[i] = cause_of_reason(evidence_.missed[i], i);
        for (const Episode& episode : episodes()) {
            const Cause cause = of_its_storage(cause_of(episode), evidence_.missed[episode.slowest]);
            for (const std::size_t i : episode.frames) {
                const bool start = evidence_.missed[i].startup && cause != Cause::slow_file;
                causes_[i] = start ? Cause::cold_start : cause;
            }
        }
        if (only_at_the_start()) {
            for (std::size_t i = 0; i < causes_.size(); ++i) {
                if (is_slowness(causes_[i])) causes_[i] = Cause::cold_start;
            }
        }
        return std::move(causes_);
    }

private:
    void compare_rereads();
    Cause cause_of_reason(const MissedFrame& missed, std::size_t i) const;
    bool suspended(const MissedFrame& missed) const;
    bool beside_damage(const MissedFrame& missed) const;
    Cause cause_of_error(const MissedFrame& missed, std::size_t i) const;
    Cause cause_of_no_answer(const MissedFrame& missed) const;
    Cause cause_of_client_delay(const MissedFrame& missed) const;
    bool client_can_be_late() const;
    std::int64_t delays_from_ns(const MissedFrame& missed) const;
    bool waits_for_processor(const MissedFrame& missed) const;
    bool client_delay_is_minor(const MissedFrame& missed) const;
    std::vector<Episode> episodes() const;
    Cause cause_of(const Episode& episode) const;
    Cause of_its_storage(Cause cause, const MissedFrame& missed) const;
    bool computer_busy(const Episode& episode) const;
    Cause cause_of_memory(const Episode& episode) const;
    std::int64_t lost_ns(const MissedFrame& missed) const;
    std::int64_t lost_ns(const Episode& episode) const;
    std::int64_t lost_through_client_ns() const;
    std::int64_t gap_ns(const Episode& episode) const;
    bool slow_file(const Episode& episode) const;
    bool network_down(const Episode& episode) const;
    double loss_share(const Episode& episode) const;
    bool network_full(const Episode& episode) const;
    Cause cause_of_busy_computer(const Episode& episode) const;
    bool only_at_the_start() const;
    static bool is_slowness(Cause cause) {
        return cause == Cause::slow_reads || cause == Cause::bandwidth || cause == Cause::slow_opens ||
               cause == Cause::storage_stall;
    }

    const Evidence& evidence_;
    const PlaceTest& place_test_;
    std::vector<Cause> causes_;
    std::vector<bool> every_pass_;
    std::set<Place> error_places_, slow_again_, fine_again_, failed_again_, whole_again_;
    bool errors_are_few_ = true;
    std::map<std::uint32_t, std::pair<int, int>> rereads_of_clip_;  // missed frames: slow again; fast
    NetworkPathFacts path_;
    bool over_network_ = false;
    bool on_network_ = false;  // over_network_, or a server that may have delivered nothing
    std::vector<Suspension> suspensions_;
    std::int64_t lost_through_client_ns_ = 0;
};

/// Compares missed frames with usual ones. A place is slow if each reading of it is, and few of other places.
void CauseClassifier::compare_rereads() {
    std::map<Place, std::vector<std::int64_t>> readings;  // of missed frames
    std::vector<std::int64_t> others;
    for (const Reread& each : evidence_.rereads) {
        const Place place{each.clip, each.clip_frame};
        if (each.missed) (each.failed ? failed_again_ : whole_again_).insert(place);
        if (!each.failed) (each.missed ? readings[place] : others).push_back(each.took_ns);
    }
    for (const Place& place : whole_again_) failed_again_.erase(place);
    if (others.empty()) return;
    std::ranges::sort(others);
    const std::int64_t usual_ns = others[others.size() / 2];
    std::map<Place, std::int64_t> slow;  // the fastest reading
    for (const auto& [place, took] : readings) {
        const std::int64_t least_ns = *std::ranges::min_element(took);
        if (least_ns > usual_ns * kSlowFrameFactor &&
            (least_ns - usual_ns) * 4 > evidence_.shortest_period_ns) {
            slow[place] = least_ns;
        } else {
            others.insert(others.end(), took.begin(), took.end());
        }
    }
    for (const auto& [place, took] : readings) {
        const auto found = slow.find(place);
        const auto as_slow = [&found](std::int64_t other_ns) { return other_ns * 2 >= found->second; };
        const bool alone =
            found != slow.end() &&
            static_cast<std::size_t>(std::ranges::count_if(others, as_slow)) * 10 <= others.size();
        (alone ? slow_again_ : fine_again_).insert(place);
        auto& [slow_frames, fine_frames] = rereads_of_clip_[place.first];
        ++(alone ? slow_frames : fine_frames);
    }
}

/// True: other frames of its clip stay unreadable. Near the frame, as one read of a container may fetch several
/// frames and fail for another one; anywhere in the clip, if the frame itself was not re-read.
bool CauseClassifier::beside_damage(const MissedFrame& missed) const {
    const bool known = whole_again_.contains(place_of(missed));
    const std::uint64_t window = known ? evidence_.streams[missed.stream].readahead : UINT64_MAX;
    const std::uint64_t before = std::min(missed.clip_frame, window);
    const auto from = failed_again_.lower_bound({missed.clip, missed.clip_frame - before});
    const std::uint64_t to = missed.clip_frame + std::min(UINT64_MAX - missed.clip_frame, window);
    return from != failed_again_.end() && *from <= Place{missed.clip, to};
}

Cause CauseClassifier::cause_of_error(const MissedFrame& missed, std::size_t i) const {
    if (missed.vanished) return Cause::storage_gone;
    if (missed.shortage == ENOMEM || missed.shortage == ENOBUFS) return Cause::client_memory;
    if (missed.shortage != 0) return Cause::client_resources;
    if (missed.no_answer) return cause_of_no_answer(missed);
    const Place place = place_of(missed);
    if (whole_again_.contains(place) && !beside_damage(missed)) return Cause::storage_error;
    if (missed.reason != DropReason::error) return Cause::damaged_file;
    // An error that stays with a few frames of the clips is the media's; an error everywhere is the storage's.
    const bool stays = failed_again_.contains(place) || every_pass_[i] || beside_damage(missed);
    return stays && errors_are_few_ ? Cause::damaged_file : Cause::storage_error;
}

/// The cause of a connection that failed or was given up: the path or the server.
Cause CauseClassifier::cause_of_no_answer(const MissedFrame& missed) const {
    if (missed.unreachable) return Cause::network_down;
    if (missed.refused) return Cause::storage_error;
    return on_network_ ? cause_of_timeout(evidence_, missed) : of_its_storage(Cause::storage_error, missed);
}

Cause CauseClassifier::cause_of_client_delay(const MissedFrame& missed) const {
    if (small_reads_cost(evidence_)) return Cause::too_small_reads;
    const auto loops = std::max(1U, std::min(evidence_.loops, evidence_.cpus));
    if (evidence_.cpu_percent - evidence_.helpers_cpu_percent >= 90.0 * loops) return Cause::client_cpu;
    if (evidence_.decode_cpu_ns > 0 && evidence_.loop_stalled_ns < lost_through_client_ns_)
        return Cause::client_cpu;
    const MemoryWindow memory = memory_window(evidence_.system, delays_from_ns(missed), missed.due_ns);
    if (memory_answer(memory) == MemoryAnswer::short_of) return Cause::client_memory;
    return waits_for_processor(missed) ? Cause::client_cpu : Cause::client_scheduling;
}

/// The instant from which delays of this computer could make the frame late.
std::int64_t CauseClassifier::delays_from_ns(const MissedFrame& missed) const {
    return missed.submitted_ns.value_or(missed.due_ns) - evidence_.streams[missed.stream].period_ns;
}

/// True: the processors were busy and threads waited for one. A stopped process does not wait in a run queue.
bool CauseClassifier::waits_for_processor(const MissedFrame& missed) const {
    const HostWindow then = host_window(evidence_.system, delays_from_ns(missed),
                                        std::max(missed.due_ns, missed.delivered_ns.value_or(0)));
    return then.processors_busy.value_or(0) >= kProcessorFullShare &&
           then.run_queue_wait.value_or(0) >= kRunQueueWaitShare;
}

/// True where this computer can be late. In virtual time a loop is never late: only decoding delays frames.
bool CauseClassifier::client_can_be_late() const {
    return evidence_.loop_lateness_p50_ns > 0 || evidence_.loop_stalled_ns > 0 || evidence_.decode_cpu_ns > 0;
}

/// True: the storage is too slow, and this computer delayed the frame by less than a frame period, or its short
/// delays, which add up where a stream is always just late, are less in all than what the storage lacks.
bool CauseClassifier::client_delay_is_minor(const MissedFrame& missed) const {
    const bool came = missed.submitted_ns && missed.delivered_ns;
    if (!came || evidence_.decode_cpu_ns > 0 || !evidence_.as_played ||
        gives_enough(evidence_, evidence_.as_played))
        return false;
    if (*missed.delivered_ns - missed.due_ns < evidence_.shortest_period_ns) return true;
    const double lacks = 1 - evidence_.as_played->bytes_per_s / evidence_.required_bytes_per_s;
    return evidence_.loop_lateness_max_ns < evidence_.shortest_period_ns && !waits_for_processor(missed) &&
           static_cast<double>(evidence_.loop_stalled_ns) <
               lacks * static_cast<double>(evidence_.longest_play_ns);
}

/// True: the computer was suspended while it waited for the frame, or had just resumed.
bool CauseClassifier::suspended(const MissedFrame& missed) const {
    if (missed.reason == DropReason::missing || missed.reason == DropReason::short_read ||
        missed.reason == DropReason::corrupt)
        return false;
    const StreamEvidence& stream = evidence_.streams[missed.stream];
    const std::int64_t from_ns = missed.submitted_ns.value_or(missed.due_ns - stream.period_ns);
    const std::int64_t to_ns = std::max(missed.due_ns, missed.delivered_ns.value_or(0));
    return suspended_in(suspensions_, from_ns, to_ns).has_value();
}

Cause CauseClassifier::cause_of_reason(const MissedFrame& missed, std::size_t i) const {
    if (suspended(missed)) return Cause::client_scheduling;
    switch (missed.reason) {
        case DropReason::error:
        case DropReason::short_read:
        case DropReason::missing:
        case DropReason::corrupt: return cause_of_error(missed, i);
        case DropReason::client:
            if (client_delay_is_minor(missed) || !client_can_be_late()) break;
            return cause_of_client_delay(missed);
        case DropReason::none:
        case DropReason::late: break;
    }
    return Cause::none;
}

/// The episodes of the frames without a cause so far.
std::vector<Episode> CauseClassifier::episodes() const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < causes_.size(); ++i) {
        if (causes_[i] == Cause::none) order.push_back(i);
    }
    std::ranges::sort(order, {}, [this](std::size_t i) {
        return std::pair(evidence_.missed[i].stream, evidence_.missed[i].slot);
    });
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
        if (missed.took_ns() > evidence_.missed[episode.slowest].took_ns()) episode.slowest = order[n];
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
    if (then.processors_busy.value_or(0) < kProcessorFullShare ||
        then.cpu_pressure.value_or(1) < kCpuPressureShare)
        return false;
    const std::int64_t waited_ns = then.run_queue_wait_ns.value_or(0);
    // A process that gets a processor now and then receives data then.
    if (waited_ns * 4 < gap_ns(episode) * 3) return false;
    // A short wait does not explain many missed frames, unless the storage gives enough without deadlines: then
    // there is no other explanation.
    const bool explains = waited_ns * 2 >= lost_ns(episode);
    return explains || (then.run_queue_wait.value_or(0) >= kRunQueueWaitShare &&
                        gives_enough(evidence_, evidence_.as_played));
}

/// Cause::none: there was enough memory, or that is not known and the processors explain the missed frames.
Cause CauseClassifier::cause_of_memory(const Episode& episode) const {
    switch (memory_answer(memory_window(evidence_.system, episode.from_ns, episode.to_ns))) {
        case MemoryAnswer::enough: return Cause::none;
        case MemoryAnswer::short_of: return Cause::client_memory;
        case MemoryAnswer::unknown: break;
    }
    return client_can_be_late() && computer_busy(episode) ? Cause::none : Cause::unknown;
}

/// Play time that a missed frame lost, its period, or that a stall lasted.
std::int64_t CauseClassifier::lost_ns(const MissedFrame& missed) const {
    const bool stood = missed.stall && missed.delivered_ns;
    return stood ? *missed.delivered_ns - missed.due_ns : evidence_.shortest_period_ns;
}

std::int64_t CauseClassifier::lost_ns(const Episode& episode) const {
    std::int64_t sum_ns = 0;
    for (const std::size_t i : episode.frames) sum_ns += lost_ns(evidence_.missed[i]);
    return sum_ns;
}

/// Play time that this computer cost: the periods of missed frames, and the stalls.
std::int64_t CauseClassifier::lost_through_client_ns() const {
    std::int64_t sum_ns = static_cast<std::int64_t>(evidence_.reasons.client) * evidence_.shortest_period_ns;
    for (const MissedFrame& missed : evidence_.missed) {
        if (missed.stall && missed.reason == DropReason::client) sum_ns += lost_ns(missed);
    }
    return sum_ns;
}

/// The time of the episode in which no stream received data; 0 where such gaps fill most of the run, or only a
/// small part of the episode.
std::int64_t CauseClassifier::gap_ns(const Episode& episode) const {
    const std::int64_t period_ns = evidence_.streams[evidence_.missed[episode.slowest].stream].period_ns;
    std::int64_t stalled_ns = 0;
    std::int64_t certain_ns = 0;
    std::int64_t all_ns = 0;
    int count = 0;
    for (const DeliveryGap& gap : evidence_.delivery_gaps) {
        if (!is_stall(gap, period_ns)) continue;
        const std::int64_t both_ns = std::max<std::int64_t>(
            std::min(gap.to_ns, episode.to_ns) - std::max(gap.from_ns, episode.from_ns), 0);
        if (on_network_ && is_certain_gap(evidence_.system, gap)) certain_ns += both_ns;
        ++count;
        all_ns += gap.to_ns - gap.from_ns;
        stalled_ns += both_ns;
    }
    if (certain_ns * 2 >= episode.to_ns - episode.from_ns) return certain_ns;
    // A storage that gives no data most of the time, or again and again, is slow.
    const bool seldom = all_ns * (count <= kFewStalls ? 2 : 4) <= evidence_.longest_play_ns;
    return seldom && stalled_ns * 2 >= episode.to_ns - episode.from_ns ? stalled_ns : 0;
}

/// True: the path was gone for a quarter of the episode. After a cut TCP waits longer and longer to send again.
bool CauseClassifier::network_down(const Episode& episode) const {
    if (!on_network_) return false;
    const std::int64_t gone_ns = path_gone_ns(path_span(evidence_.system, episode.from_ns, episode.to_ns));
    return gone_ns > 0 && gone_ns * 4 >= episode.to_ns - episode.from_ns;
}

/// The share of lost segments; 0: too few to matter.
double CauseClassifier::loss_share(const Episode& episode) const {
    return on_network_ ? delaying_loss_share(evidence_, episode.from_ns, episode.to_ns) : 0;
}

bool CauseClassifier::slow_file(const Episode& episode) const {
    const MissedFrame& slowest = evidence_.missed[episode.slowest];
    if (fine_again_.contains(place_of(slowest))) return false;
    // Re-reads of other frames of the same clip hold for this frame too.
    for (const std::size_t i : episode.frames) {
        if (slow_again_.contains(place_of(evidence_.missed[i]))) return true;
    }
    const auto again = rereads_of_clip_.find(slowest.clip);
    if (again != rereads_of_clip_.end() && again->second.first >= 3 && again->second.second == 0) return true;
    return place_test_.answer == PlaceTest::Answer::same_place && every_pass_[episode.slowest] &&
           place_test_.places * 5 <= evidence_.streams[slowest.stream].pass_slots && fine_again_.empty();
}

bool CauseClassifier::network_full(const Episode& episode) const {
    return over_network_ && path_full(evidence_.system, path_, episode.from_ns, episode.to_ns);
}

/// A computer that has no time for the player; small pieces can be its work. Cause::none: it has.
Cause CauseClassifier::cause_of_busy_computer(const Episode& episode) const {
    const bool busy = client_can_be_late() && computer_busy(episode);
    const bool behind =
        evidence_.shortest_period_ns > 0 && evidence_.loop_lateness_p50_ns * 2 >= evidence_.shortest_period_ns;
    if (!busy && !behind) return Cause::none;
    if (small_reads_cost(evidence_)) return Cause::too_small_reads;
    return busy ? Cause::client_cpu : Cause::client_scheduling;
}

Cause CauseClassifier::cause_of(const Episode& episode) const {
    const MissedFrame& slowest = evidence_.missed[episode.slowest];
    if (network_down(episode)) return Cause::network_down;
    if (const Cause memory = cause_of_memory(episode); memory != Cause::none) return memory;
    const double share = loss_share(episode);
    const Cause loss = network_full(episode) ? Cause::network : Cause::network_loss;
    // So many lost segments delay data however busy this computer is.
    if (share >= kHighLossShare && gap_ns(episode) == 0) return loss;
    // Lost segments also delay some of the re-reads.
    if (share == 0 && slow_again_.contains(place_of(slowest)))
        return Cause::slow_file;  // on an idle computer, too
    if (const Cause computer = cause_of_busy_computer(episode); computer != Cause::none) return computer;
    if (gap_ns(episode) > 0)
        return on_network_ ? cause_of_gap(evidence_, episode.from_ns, episode.to_ns) : Cause::storage_stall;
    if (share > 0) return loss;
    if (slow_file(episode)) return Cause::slow_file;
    const DistanceShare distance = distance_share(evidence_, path_, episode.frames);
    if (distance == DistanceShare::most) return Cause::network;
    if (slowest.open_ns > slowest.read_ns && slowest.open_ns * 2 >= evidence_.shortest_period_ns)
        return Cause::slow_opens;
    if (network_full(episode)) return Cause::network;
    // A remote server, and the path to it is not observed.
    const bool path_known = over_network_ && (path_.bits_per_s || path_.rtt_min_ns);
    if (evidence_.remote && !path_known && !small_reads_cost(evidence_)) return Cause::unknown;
    const Cause of_rates = cause_of_rates(evidence_);
    if (limit_of(of_rates) != Limit::storage) return of_rates;
    // The processor that serves a connection is a limit, too.
    if (on_network_ && rate_is_limit(evidence_) &&
        processor_full(evidence_.system, episode.from_ns, episode.to_ns))
        return Cause::unknown;
    // Over a long path a rate may also be that of TCP's window.
    const bool of_window = distance == DistanceShare::some && rate_is_limit(evidence_);
    return of_window || distance == DistanceShare::part ? Cause::unknown : of_rates;
}

/// The cause, or Cause::unknown where the frame's own storage would decide and was not observed alone.
Cause CauseClassifier::of_its_storage(Cause cause, const MissedFrame& missed) const {
    if (!evidence_.several_storages) return cause;
    const Limit side = limit_of(cause);
    const bool decides = side == Limit::storage || side == Limit::network;
    if (decides && !evidence_.local_clips.contains(missed.clip)) return Cause::unknown;
    return cause == Cause::bandwidth ? Cause::slow_reads : cause;  // the rates are those of all together
}

/// By Evidence::missed: true where the frame had not been delivered on any pass before.
std::vector<bool> first_readings(const Evidence& evidence) {
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> undelivered;  // by stream and place
    std::vector<std::size_t> order(evidence.missed.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&evidence](std::size_t i) { return evidence.missed[i].slot; });
    std::vector<bool> first(evidence.missed.size());
    for (const std::size_t i : order) {
        const MissedFrame& missed = evidence.missed[i];
        const std::uint64_t pass_slots = evidence.streams[missed.stream].pass_slots;
        std::uint64_t& passes = undelivered[{missed.stream, missed.slot % pass_slots}];
        first[i] = passes == missed.slot / pass_slots;
        if (first[i] && !missed.delivered_ns) ++passes;
    }
    return first;
}

/// True: every frame that counts was missed at the beginning, together with drops of the first second, and most
/// of play came later; or only frames that were read for the first time were missed.
bool CauseClassifier::only_at_the_start() const {
    const std::vector<bool> first = first_readings(evidence_);
    bool any = false;
    bool early = evidence_.totals.startup_drops > 0;
    bool new_only = true;
    std::map<std::uint32_t, std::uint64_t> missed_later;  // by stream: after its first pass
    for (std::size_t i = 0; i < causes_.size(); ++i) {
        const MissedFrame& missed = evidence_.missed[i];
        if (missed.startup || !is_slowness(causes_[i])) continue;
        any = true;
        const StreamEvidence& stream = evidence_.streams[missed.stream];
        const std::int64_t at_ns = missed.due_ns - stream.play_start_ns;
        early &= at_ns <= kColdStartNs && at_ns * 3 <= evidence_.longest_play_ns;
        const bool read_again = stream.slots >= stream.pass_slots + stream.pass_slots / 2;
        const bool slow = missed.submitted_ns.has_value();  // others were dropped because of these
        new_only &= causes_[i] != Cause::storage_stall && read_again && (first[i] || !slow);
        if (missed.slot >= stream.pass_slots) ++missed_later[missed.stream];
    }
    // With most frames missed on later passes too, few frames were read twice.
    for (const auto& [stream, count] : missed_later) {
        const StreamEvidence& of = evidence_.streams[stream];
        new_only &= count * 2 < of.slots - std::min(of.slots, of.pass_slots);
    }
    return any && (early || new_only);
}

}  // namespace

bool is_stall(const DeliveryGap& gap, std::int64_t period_ns) {
    return gap.to_ns - gap.from_ns >= std::max(kStallNs, 3 * period_ns);
}

StorageTraffic storage_traffic(const Evidence& evidence) {
    const NetworkPathFacts path = path_of_data(evidence);
    if (evidence.writes_more()) return {true, evidence.bytes_written, path.sent_bytes};
    const double from_cache = evidence.remote ? evidence.own_memory_share.value_or(0) : 0;
    const double read = static_cast<double>(evidence.bytes_read) * (1 - from_cache);
    return {false, static_cast<std::uint64_t>(read), path.received_bytes};
}

bool through_network(const Evidence& evidence) {
    constexpr double kCarriedShareMin = 0.7;
    if (evidence.local_disk || evidence.several_storages) return false;
    const StorageTraffic traffic = storage_traffic(evidence);
    return traffic.moved > 0 &&
           static_cast<double>(traffic.carried) >= kCarriedShareMin * static_cast<double>(traffic.moved);
}

std::vector<bool> missed_every_pass(const Evidence& evidence) {
    // By stream and place in the pass. A frame that play waited for, and that failed then, is missed once.
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::set<std::uint64_t>> slots;
    const auto key = [&evidence](const MissedFrame& missed) {
        return std::pair(missed.stream, missed.slot % evidence.streams[missed.stream].pass_slots);
    };
    for (const MissedFrame& missed : evidence.missed) slots[key(missed)].insert(missed.slot);
    std::vector<bool> out;
    for (const MissedFrame& missed : evidence.missed) {
        const StreamEvidence& stream = evidence.streams[missed.stream];
        const std::uint64_t first = missed.slot % stream.pass_slots;
        const std::uint64_t due = stream.slots > first ? (stream.slots - first - 1) / stream.pass_slots + 1 : 0;
        const std::uint64_t count = slots[key(missed)].size();
        out.push_back(count >= 2 && count * 5 >= due * 4);
    }
    return out;
}

PlaceTest test_places(const Evidence& evidence) {
    PlaceTest out;
    if (evidence.missed.empty()) return out;
    const std::vector<bool> every_pass = missed_every_pass(evidence);
    std::map<Place, bool> places;
    std::map<std::uint32_t, std::set<std::uint64_t>> missed_of;  // slots by stream
    bool twice = false;
    for (std::size_t i = 0; i < evidence.missed.size(); ++i) {
        const MissedFrame& missed = evidence.missed[i];
        const StreamEvidence& stream = evidence.streams[missed.stream];
        if (missed.startup && missed.reason == DropReason::late) continue;
        twice |= stream.slots >= 2 * stream.pass_slots;
        bool& every = places[place_of(missed)];
        every = every || every_pass[i];
        missed_of[missed.stream].insert(missed.slot);
    }
    std::uint64_t missed = 0;
    std::uint64_t slots = 0;
    for (const auto& [stream, missed_slots] : missed_of) {
        missed += missed_slots.size();
        slots += evidence.streams[stream].slots;
    }
    out.places = places.size();
    out.every_pass =
        static_cast<std::uint64_t>(std::ranges::count_if(places, [](const auto& each) { return each.second; }));
    if (places.empty()) return out;
    // With a third of the slots missed, the same places are missed again by chance, or in step with the
    // storage.
    out.answer = !twice                             ? PlaceTest::Answer::one_pass
                 : missed * 3 >= slots              ? PlaceTest::Answer::everywhere
                 : out.every_pass * 2 >= out.places ? PlaceTest::Answer::same_place
                                                    : PlaceTest::Answer::random;
    return out;
}

std::vector<Cause> classify_causes(const Evidence& evidence, const PlaceTest& places) {
    return CauseClassifier(evidence, places).classify();
}

}  // namespace streamsim::judge
