#include "run/diagnosis/diagnosis.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <set>
#include <utility>

#include "base/prng.h"
#include "run/backends/byte_meter.h"
#include "run/playback/loop_options.h"
#include "storage/buffer_arena.h"

namespace streamsim::run {
namespace {

constexpr Duration kProbeWarmUp = milliseconds(200);  // the first reads fill caches and queues on the path
constexpr Duration kProbeMeasured = milliseconds(700);
constexpr Duration kProbeOpenLimit = seconds(3);  // for connecting and opening
constexpr Duration kProbeReadLimit = seconds(3);  // for reads that do not end
constexpr Duration kReadTimeout = seconds(20);    // a slow storage has to give back every read
constexpr Duration kRereadTimeout = seconds(6);
constexpr std::uint64_t kReadings = 3;  // of a frame alone
constexpr std::size_t kFramesMax = 5;   // missed frames, failed frames and others of a stream, each
constexpr std::size_t kStreamsMax = 4;
constexpr double kSmallReadRatio = 0.5;  // larger reads are tried where reads are below this part of usual

/// Some frames of a stream's sources, each in a slot of its own.
class ListPath final : public play::PlayPath {
public:
    ListPath(Sources sources, FrameRate rate, std::vector<play::ShownFrame> frames)
        : play::PlayPath(std::move(sources), rate), frames_(std::move(frames)) {}
    void shown(std::uint64_t slot, std::vector<play::ShownFrame>& into) const override {
        into.assign(1, frames_[slot % frames_.size()]);
    }
    std::uint64_t pass_slots() const override { return frames_.size(); }

private:
    std::vector<play::ShownFrame> frames_;
};

/// Some streams on a loop of their own, with the memory that must outlive it.
struct Probe {
    std::vector<StreamPlan> plans;
    std::deque<StreamProgress> progress;
    std::optional<storage::BufferArena> memory;
    std::unique_ptr<PlaybackLoop> loop;
};

/// Drops of the first second do not count against a verdict.
bool counts(const FrameOutcome& entry, const play::DeadlineLedger& ledger) {
    return entry.kind != FrameKind::dropped || entry.deadline >= ledger.play_start() + seconds(1);
}

class Diagnoser {
public:
    Diagnoser(const DiagnosisSubject& subject, DiagnosisControl& control)
        : subject_(subject), control_(control), numbers_(clip_numbers(*subject.streams)) {
        // Faults at times of play are over; faults of files and frames are not.
        if (subject_.storage.faults) subject_.storage.faults->stalls.clear();
        found_.reads_at_once_max = subject_.reads_at_once_max;
    }

    Diagnosis run() {
        evict();
        if (anything_late() && !control_.interrupted()) {
            measure_rates();
            evict();  // frames that the rates left in the cache would not be usual ones
        }
        reread_frames();
        return std::move(found_);
    }

private:
    void evict() const {
        if (subject_.evict) subject_.evict();
    }
    using Frames = std::vector<std::pair<play::ShownFrame, bool>>;  // true: it was missed

    bool anything_late() const {
        return std::any_of(subject_.ledgers.begin(), subject_.ledgers.end(),
                           [](const play::DeadlineLedger* ledger) {
                               const ReasonCounts& reasons = ledger->reasons();
                               return reasons.late + reasons.client + ledger->counts().stalls > 0;
                           });
    }

    void measure_rates() {
        const play::ReadSettings standard;
        std::vector<play::ReadSettings> settings;  // by stream
        for (const StreamPlan& plan : *subject_.streams) {
            settings.push_back(plan.options);
            settings.back().inflight = plan.options.inflight_slots();
        }
        found_.as_played = rate("as played", settings);
        bool little = false;
        for (play::ReadSettings& each : settings) {
            little |= each.inflight < standard.inflight || each.io_depth < standard.io_depth;
            each.inflight = std::max(each.inflight, standard.inflight);
            each.io_depth = std::max(each.io_depth, standard.io_depth);
        }
        if (little) found_.usual = rate("with as much in flight as editing systems ask for", settings);
        std::vector<play::ReadSettings> larger = settings;
        bool small = false;
        for (play::ReadSettings& each : larger) {
            if (each.io_size == 0) continue;  // whole frames
            small |=
                static_cast<double>(each.io_size) < kSmallReadRatio * static_cast<double>(standard.io_size);
            each.io_size = std::max(each.io_size, standard.io_size);
        }
        if (small) found_.larger_reads = rate("with larger reads", larger);
        measure_more_in_flight(std::move(settings));
    }

    void measure_more_in_flight(std::vector<play::ReadSettings> settings) {
        std::uint64_t pieces = 0;
        for (std::size_t i = 0; i < settings.size(); ++i) {
            const double at_once = std::clamp(pieces_of_frame(i, settings[i]), 1.0, 1.0 * settings[i].io_depth);
            pieces += static_cast<std::uint64_t>(settings[i].inflight * at_once);
        }
        const std::uint64_t most =
            std::min(subject_.reads_at_once_max.value_or(kDiagnosisReadsMax), kDiagnosisReadsMax);
        if (pieces * 2 > most) return;
        const auto times = static_cast<std::uint32_t>(
            std::min(kDiagnosisReadsFactorMax, most / std::max<std::uint64_t>(pieces, 1)));
        for (std::size_t i = 0; i < settings.size(); ++i) {
            play::ReadSettings& each = settings[i];
            // A frame that has no more pieces than are asked for at once gets none from a larger depth.
            (pieces_of_frame(i, each) <= each.io_depth ? each.inflight : each.io_depth) *= times;
        }
        found_.more_in_flight = rate("with more in flight", settings);
    }

    double pieces_of_frame(std::size_t stream, const play::ReadSettings& settings) const {
        return settings.io_size == 0
                   ? 1
                   : (*subject_.streams)[stream].bytes_per_slot / static_cast<double>(settings.io_size);
    }

    /// Plays the streams without deadlines. False: there is no memory for them, or the loop did not run to its
    /// end.
    bool play(Probe& probe, PlaybackLoopOptions options) {
        std::uint64_t bytes = 0;
        for (StreamPlan& plan : probe.plans) {
            plan.options.paced = false;
            plan.options.clock = nullptr;
            plan.start_offset = {};
            plan.stop_offset.reset();
            bytes += play::Player::memory_bytes(*plan.path, plan.options);
            options.streams.push_back({&plan, &probe.progress.emplace_back()});
        }
        if (bytes > storage::memory_available().bytes) return false;
        auto arena = storage::BufferArena::make(bytes, [](const std::string&) {});
        if (!arena) return false;
        probe.memory.emplace(std::move(*arena));
        options.memory = probe.memory->memory();
        options.drain_timeout = kReadTimeout;
        options.preroll_timeout = kReadTimeout;
        options.notice = [](const std::string&) {};
        probe.loop = std::make_unique<PlaybackLoop>(std::move(options));
        return control_.run(*probe.loop);
    }

    /// Memory that the storage has not given back stays, with its loop, for as long as the process lives.
    void keep_if_stuck(Probe& probe) {
        if (probe.loop == nullptr || !probe.loop->stuck()) return;
        found_.stuck = true;
        (void)new Probe(std::move(probe));
    }

    /// `settings`: by stream; those of the first are told.
    std::optional<ProbeResult> rate(const char* name, const std::vector<play::ReadSettings>& settings) {
        if (control_.interrupted() || found_.stuck) return std::nullopt;
        ByteMeter::Count count{kProbeWarmUp, kProbeMeasured};  // the probe's storage refers to it
        Probe probe{*subject_.streams, {}, {}, {}};
        for (std::size_t i = 0; i < settings.size(); ++i) {
            play::PlayerOptions& each = probe.plans[i].options;
            each.slots = UINT64_MAX;
            each.verify = false;
            each.inflight = settings[i].inflight;
            each.readahead = std::max<std::uint32_t>(settings[i].inflight, 2);
            each.io_depth = settings[i].io_depth;
            each.io_size = settings[i].io_size;
        }
        PlaybackLoopOptions options;
        options.storage = subject_.storage;
        options.storage.through = count.wrapper();
        options.interrupt_after = kProbeOpenLimit;
        count.begun = [&probe] { probe.loop->interrupt_after(kProbeReadLimit); };
        count.over = [&probe] { probe.loop->end_play(); };
        const bool ran = play(probe, std::move(options));
        keep_if_stuck(probe);
        // An interruption from outside may come before the end of the span.
        if (!ran || control_.interrupted() || count.first == Instant::never()) return std::nullopt;
        const play::ReadSettings& first = settings.front();
        return ProbeResult{name, first.inflight, first.io_size, first.io_depth, count.bytes_per_s()};
    }

    /// The first stream of this format that missed nothing; the number of streams where there is none.
    std::size_t clean_stream(const std::string& format) const {
        std::size_t i = 0;
        while (i < subject_.streams->size() &&
               ((*subject_.streams)[i].format != format || !subject_.ledgers[i]->drops().empty() ||
                subject_.ledgers[i]->counts().stalls > 0)) {
            ++i;
        }
        return i;
    }

    /// Some frames that failed, and the slowest. Frames of the first second count too: they may have delayed
    /// later ones.
    Frames missed_frames(std::size_t stream) const {
        const play::DeadlineLedger& ledger = *subject_.ledgers[stream];
        std::vector<FrameOutcome> entries = ledger.drops();
        entries.insert(entries.end(), ledger.stalls().begin(), ledger.stalls().end());
        const auto took = [](const FrameOutcome& entry) {
            if (entry.submitted == Instant::never() || entry.delivered == Instant::never())
                return std::int64_t{-1};
            return (entry.open_time + entry.read_time()).ns;
        };
        std::stable_sort(entries.begin(), entries.end(),
                         [&took](const FrameOutcome& a, const FrameOutcome& b) { return took(a) > took(b); });
        Frames frames;
        std::set<std::pair<std::uint32_t, std::uint64_t>> taken;
        std::size_t failed = 0;
        std::size_t slow = 0;
        for (const FrameOutcome& entry : entries) {
            std::size_t& of_kind = entry.kind == FrameKind::failed ? failed : slow;
            if (of_kind >= kFramesMax || !taken.insert({entry.source, entry.clip_frame}).second) continue;
            frames.push_back({{entry.source, entry.clip_frame}, true});
            ++of_kind;
        }
        return frames;
    }

    /// Some frames that were on time.
    Frames usual_frames(std::size_t stream) const {
        const StreamPlan& plan = (*subject_.streams)[stream];
        const play::DeadlineLedger& ledger = *subject_.ledgers[stream];
        std::set<std::uint64_t> missed;
        for (const FrameOutcome& entry : ledger.drops()) missed.insert(entry.clip_frame);
        for (const FrameOutcome& entry : ledger.stalls()) missed.insert(entry.clip_frame);
        const std::uint64_t count = std::min(plan.path->sources().front()->count(),
                                             std::max<std::uint64_t>(ledger.counts().scheduled, 1));
        const std::uint64_t step = std::max<std::uint64_t>(count / (2 * kFramesMax), 1);
        Frames frames;
        for (std::uint64_t frame = step / 2; frame < count && frames.size() < kFramesMax; frame += step) {
            if (!missed.contains(frame)) frames.push_back({{0, frame}, false});
        }
        return frames;
    }

    /// Puts one usual frame between two missed ones: a change of the storage meanwhile changes both kinds.
    static void mix(const Frames& usual, Frames& into) {
        std::size_t at = 0;
        for (const auto& frame : usual) {
            into.insert(into.begin() + static_cast<std::ptrdiff_t>(std::min(at, into.size())), frame);
            at += 2;
        }
    }

    /// Usual frames are those of a stream that missed nothing; where there is no such stream of the format,
    /// frames of the same clip that were on time.
    void reread_frames() {
        std::size_t read = 0;
        std::set<std::string> with_usual;
        for (std::size_t i = 0; i < subject_.ledgers.size() && read < kStreamsMax; ++i) {
            const play::DeadlineLedger& ledger = *subject_.ledgers[i];
            const StreamPlan& plan = (*subject_.streams)[i];
            const bool bad =
                ledger.counts().stalls > 0 ||
                std::any_of(ledger.drops().begin(), ledger.drops().end(),
                            [&ledger](const FrameOutcome& entry) { return counts(entry, ledger); });
            if (!bad) continue;
            const std::size_t clean = clean_stream(plan.format);
            const bool own = clean == subject_.streams->size();
            if (!own && with_usual.insert(plan.format).second) read_alone(clean, usual_frames(clean));
            auto frames = missed_frames(i);
            if (own) mix(usual_frames(i), frames);
            read_alone(i, frames);
            ++read;
        }
    }

    /// Several times, each in another order: what a storage delays now and then is delayed at other frames
    /// then.
    void read_alone(std::size_t stream, Frames frames) {
        for (std::uint64_t reading = 0; reading < kReadings; ++reading) {
            if (reading > 0) {
                evict();
                shuffle(frames, reading);
            }
            if (!read_in_order(stream, frames)) return;
        }
    }

    static void shuffle(Frames& frames, std::uint64_t seed) {
        Prng prng(seed);
        for (std::size_t left = frames.size(); left > 1; --left)
            std::swap(frames[left - 1], frames[prng.below(left)]);
    }

    /// False: not all of them were read.
    bool read_in_order(std::size_t stream, const Frames& frames) {
        if (frames.empty() || control_.interrupted() || found_.stuck) return false;
        Probe probe{{(*subject_.streams)[stream]}, {}, {}, {}};
        StreamPlan& plan = probe.plans.front();
        std::vector<play::ShownFrame> list;
        for (const auto& [frame, missed] : frames) list.push_back(frame);
        plan.path = std::make_shared<ListPath>(plan.path->sources(), plan.rate(), list);
        plan.options.slots = list.size();
        plan.options.inflight = plan.options.readahead = 1;
        plan.options.pattern = play::AccessPattern::on_demand;
        PlaybackLoopOptions options;
        options.storage = subject_.storage;
        options.interrupt_after = kRereadTimeout;
        options.keep_frames = true;
        const bool ran = play(probe, std::move(options));
        if (probe.loop == nullptr || probe.loop->ledgers().empty())
            return false;  // its storage was not available again
        bool all = ran;
        for (const FrameOutcome& outcome : probe.loop->ledgers().front()->frames()) {
            all &= outcome.kind != FrameKind::cancelled;
            if (!ran || outcome.kind == FrameKind::cancelled) continue;
            const auto& [frame, missed] = frames[outcome.slot];
            judge::Reread reread{numbers_.at(plan.clips[frame.source].index.get()), frame.frame, missed};
            reread.failed = outcome.kind == FrameKind::failed;
            if (outcome.delivered != Instant::never())
                reread.took_ns = (outcome.open_time + outcome.read_time()).ns;
            reread.open_ns = outcome.open_time.ns;
            found_.rereads.push_back(reread);
        }
        keep_if_stuck(probe);
        return all;
    }

    DiagnosisSubject subject_;
    DiagnosisControl& control_;
    const std::map<const FrameIndex*, std::uint32_t> numbers_;  // of clips
    Diagnosis found_;
};

}  // namespace

void DiagnosisControl::interrupt() {
    const MutexLock lock(mutex_);
    interrupted_ = true;
    if (running_ != nullptr) running_->interrupt();
}

bool DiagnosisControl::interrupted() const {
    const MutexLock lock(mutex_);
    return interrupted_;
}

bool DiagnosisControl::run(PlaybackLoop& loop) {
    loop.on_ready = [](PlaybackLoop& ready, Duration offset) { ready.start(offset, std::nullopt); };
    loop.on_failed = [] {};
    {
        const MutexLock lock(mutex_);
        running_ = &loop;
        if (interrupted_) loop.interrupt();
    }
    const bool ran = static_cast<bool>(loop.run());
    const MutexLock lock(mutex_);
    running_ = nullptr;
    return ran && !loop.stuck();
}

Diagnosis diagnose(const DiagnosisSubject& subject, DiagnosisControl& control) {
    return Diagnoser(subject, control).run();
}

}  // namespace streamsim::run
