#include "run/conclude/conclusion.h"

#include <uv.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/host.h"
#include "host/mount.h"
#include "judge/judge.h"
#include "judge/run_verdicts.h"
#include "run/conclude/cached_share.h"
#include "run/playback/loop_options.h"

namespace streamsim::run {
namespace {

/// After play that failed the computer is observed for this long without load: the usual state.
constexpr Duration kIdleObserved = milliseconds(700);
/// After an interruption the removal of recordings ends this soon: before the work is abandoned, with its
/// result (kInterruptTimeout).
constexpr Duration kRemovalTimeout = milliseconds(900);

std::int64_t now_ns() {
    return static_cast<std::int64_t>(uv_hrtime());
}

bool missed_anything(const RunFacts& facts) {
    return std::any_of(facts.ledgers.begin(), facts.ledgers.end(), [](const play::DeadlineLedger* ledger) {
        return judge::bad_frames(ledger->counts()) > 0;
    });
}

/// The media are there, and this computer lacks nothing that it needs to read them once more.
bool can_reread(const RunFacts& facts) {
    return facts.vanished.empty() &&
           std::none_of(facts.ledgers.begin(), facts.ledgers.end(), client_lacked_anything);
}

/// Empty: parts of a scenario have several.
std::string only_target(const PlaybackPlan& plan) {
    const std::string& url = plan.request().target.url;
    const bool one = std::ranges::all_of(
        plan.parts(), [&url](const PlayPart& part) { return part.request.target.url == url; });
    return one ? url : "";
}

/// True: ProcessUsage::storage_read_bytes counts each file that is read.
bool counts_reads_of(const PlaybackPlan& plan) {
    const std::vector<const Clip*> clips = plan.clips();
    return host::block_device_behind(plan.first_file()) && std::ranges::all_of(clips, [](const Clip* clip) {
               return host::block_device_behind(clip->index->path_of(0));
           });
}

}  // namespace

PlayObservation::PlayObservation(const PlaybackPlan& plan) : plan_(plan) {
    const target::Target& target = plan.request().target;
    if (target.kind == target::Target::Kind::local) {
        const std::string file = plan.first_file();
        mount_ = host::mount_of(file);
        if (mount_) mount_->target = only_target(plan);
        if (!plan.request().direct || plan.direct_uses_page_cache())
            cached_before_ = cached_share(plan.streams());
        counts_storage_reads_ = counts_reads_of(plan);
        watch_.emplace(file);
        locations_.emplace(std::make_shared<target::TargetLocations>(target::directories_of(plan.clips())),
                           [&plan] { return target::slots_failed(plan.progress()); });
    } else if (target.kind == target::Target::Kind::remote) {
        watch_.emplace("", target.remote->addresses);
    }
    before_ = host::read_process_usage();
}

void PlayObservation::play_ended(bool look_at_cache) {
    if (cached_before_ && look_at_cache) cached_after_ = cached_share(plan_.streams());
}

void PlayObservation::stop(bool missed, bool cut_short, RunFacts& facts) {
    facts.cached_before = cached_before_;
    facts.cached_after = cached_after_;
    facts.counts_storage_reads = counts_storage_reads_;
    if (locations_) facts.vanished = locations_->stop(!cut_short);
    if (watch_) facts.system = watch_->stop(missed && !cut_short ? kIdleObserved : Duration{});
}

void Conclusion::begin(RunResult begun) {
    begun_ = std::move(begun);
    began_s_ = static_cast<std::int64_t>(std::time(nullptr));
}

RunResult Conclusion::nothing_to_play() const {
    RunResult result = begun_;
    result.interrupted = false;
    result.verdict = judge::nothing_assigned();
    return result;
}

RunResult Conclusion::conclude(PlayObservation& observation, const std::function<void()>& after_play) {
    const bool cut_short = playback_.was_cut_short();
    is_stuck_ = playback_.is_stuck();
    if (cut_short && !plan_.has_recordings()) storage_is_over_.store(true, std::memory_order_relaxed);
    RunFacts facts;
    facts.after = host::read_process_usage();
    playback_.tell_end();
    if (!cut_short) after_play();
    // Storage that has not given back its reads may not answer an open either, and a result has to be written.
    observation.play_ended(!is_stuck_ && !cut_short);
    const PlayedStreams played = changes_.finish();
    facts.streams = &played.plans;
    facts.ledgers = played.ledgers;
    fill_common(facts);
    const std::vector<std::string> vanished =
        plan_.close_recordings(!is_stuck_, [this] { return removal_timed_out(); });
    if (control_.interrupted()) storage_is_over_.store(true, std::memory_order_relaxed);
    for (PlaybackLoop* const loop : playback_.loops()) facts.playback_loops.push_back(&loop->stats());
    facts.model = playback_.loops().front();
    facts.interrupted = cut_short;
    facts.preroll_took_too_long = playback_.preroll_took_too_long();
    const bool missed = missed_anything(facts);
    observation.stop(missed, cut_short, facts);
    // With injected faults the result says nothing about the storage: there is nothing to find out.
    const bool wanted = plan_.request().find_cause && !facts.faults_injected;
    if (missed && !cut_short && wanted) {
        diagnose_play(observation.is_real(), facts);
    } else if (!cut_short && wanted && !observation.is_real() && plan_.request().find_capacity) {
        measure_model_rate(facts);
    }
    facts.notices = plan_.log().texts();
    storage_is_over_.store(true, std::memory_order_relaxed);
    RunResult result = begun_;
    fill_result(facts, result);
    if (!vanished.empty()) judge::judge_vanished_recording(vanished.front(), result);
    result.direct &= std::all_of(plan_.meters().begin(), plan_.meters().end(),
                                 [](const load::MeterPlan& meter) { return meter.spec.direct; });
    return result;
}

RunResult Conclusion::conclude_failed(PlayObservation& observation, const Error& error) {
    RunResult result = conclude(observation, [] {});
    // Missed frames tell the side; the error may be the storage's or this computer's.
    if (result.verdict.pass) {
        result.verdict = {false, {}, Limit::unknown};
        result.verdict.next =
            "play again with a longer --preroll-timeout: frames that are missed tell the cause";
    }
    result.verdict.reason = error.problems.front();
    return result;
}

void Conclusion::interrupt() {
    std::int64_t none = 0;
    interrupted_ns_.compare_exchange_strong(none, now_ns());
    control_.interrupt();
}

bool Conclusion::removal_timed_out() const {
    const std::int64_t interrupted_ns = interrupted_ns_.load();
    return interrupted_ns != 0 && now_ns() - interrupted_ns >= kRemovalTimeout.ns;
}

/// Facts of the request and the computer, which are the same during and after play.
void Conclusion::fill_common(RunFacts& facts) const {
    facts.request = &plan_.request();
    facts.began_s = began_s_;
    facts.faults_injected = plan_.faults_injected();
    facts.mount = mount_;
    facts.mounts = plan_.mounts();
    facts.direct_uses_page_cache = plan_.direct_uses_page_cache();
    facts.before = usage_before_;
    facts.cuts = plan_.cuts();
    facts.buffer_bytes = plan_.memory().page_bytes();
    facts.prove = playback_.claim();
}

void Conclusion::diagnose_play(bool real, RunFacts& facts) {
    if (!real) {
        measure_model_rate(facts);
    } else if (!is_stuck_ && can_reread(facts)) {
        is_diagnosing_.store(true, std::memory_order_relaxed);
        reread(facts);
    }
}

void Conclusion::reread(RunFacts& facts) {
    DiagnosisSubject subject;
    const bool direct = std::all_of(facts.playback_loops.begin(), facts.playback_loops.end(),
                                    [](const LoopStats* loop) { return loop->capabilities.direct; });
    if (!direct || plan_.direct_uses_page_cache()) subject.evict = [this] { (void)plan_.evict_clips(); };
    std::vector<StreamPlan> players;  // recordings are removed by now
    for (std::size_t i = 0; i < facts.streams->size(); ++i) {
        if ((*facts.streams)[i].record != nullptr) continue;
        players.push_back((*facts.streams)[i]);
        subject.ledgers.push_back(facts.ledgers[i]);
    }
    if (players.empty()) return;
    subject.streams = &players;
    subject.storage = plan_.storage();
    set_parallel_operations(subject.storage, kParallelReadsMax, kParallelReadsMax);
    const bool by_pool =
        std::any_of(facts.playback_loops.begin(), facts.playback_loops.end(),
                    [](const LoopStats* loop) { return std::string_view(loop->capabilities.io) == "threads"; });
    if (by_pool) subject.reads_at_once_max = reads_of_small_pool(players);
    facts.diagnosis = diagnose(subject, control_);
    is_stuck_ = is_stuck_ || facts.diagnosis.stuck;
}

void Conclusion::measure_model_rate(RunFacts& facts) {
    if (plan_.request().target.kind != target::Target::Kind::model || !plan_.faults().empty()) return;
    facts.diagnosis.as_played = model_rate(plan_.request(), plan_.parts(), control_);
}

std::optional<RunResult> Conclusion::snapshot(Duration timeout) {
    const MutexLock lock(snapshot_mutex_);
    if (playback_.started_ns() == 0) return std::nullopt;
    const auto copies = playback_.copy_loops(timeout);
    if (copies.empty()) return std::nullopt;
    std::map<const StreamPlan*, play::DeadlineLedger*> ledgers;
    for (const auto& copy : copies) {
        for (const auto& [plan, ledger] : copy->ledgers) {
            ledger->close();
            ledgers[plan] = ledger.get();
        }
    }
    const PlayedStreams played = changes_.played([&](std::size_t i) -> const play::DeadlineLedger* {
        const auto found = ledgers.find(&plan_.streams()[i]);
        return found != ledgers.end() ? found->second : nullptr;
    });
    RunFacts facts;
    fill_common(facts);
    facts.streams = &played.plans;
    facts.ledgers = played.ledgers;
    for (const auto& copy : copies) facts.playback_loops.push_back(&copy->stats);
    facts.after = host::read_process_usage();
    facts.interrupted = true;
    facts.notices = plan_.log().texts();
    RunResult result = begun_;
    fill_result(facts, result);
    return result;
}

}  // namespace streamsim::run
