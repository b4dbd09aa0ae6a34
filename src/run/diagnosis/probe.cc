#include "run/diagnosis/probe.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <set>

#include "play/ledger.h"
#include "play/slot_reads.h"
#include "run/playback/byte_meter.h"
#include "run/playback/playback_loop.h"
#include "run/session/clip_numbers.h"
#include "storage/buffer_arena.h"

namespace streamsim::run {
namespace {

constexpr Duration kWarmUp = milliseconds(200);  // the first reads fill what lies between
constexpr Duration kMeasured = milliseconds(700);
constexpr Duration kPatience = seconds(20);  // what was asked of a slow storage has to come back
constexpr Duration kRereadLimit = seconds(6);
constexpr std::size_t kFramesRead = 5;  // of each kind, of a stream
constexpr std::size_t kStreamsRead = 4;
constexpr std::uint64_t kMoreTimes = 4;
constexpr std::uint64_t kPiecesMax = 256;  // of all streams: no storage answers faster for being asked more
constexpr double kSmallest = 0.5;          // reads below this part of the usual size are worth a question

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

struct Settings {
    std::uint32_t inflight = 2;
    std::uint32_t io_depth = 8;
    std::uint64_t io_size = 1 << 20;
};

bool same(const Settings& a, const Settings& b) {
    return a.inflight == b.inflight && a.io_depth == b.io_depth && a.io_size == b.io_size;
}

class Prober {
public:
    explicit Prober(const ProbeSubject& subject) : subject_(subject), numbers_(*subject.streams) {
        // What goes by the time of play is over; what goes by files and frames is not.
        if (subject_.storage.faults) subject_.storage.faults->stalls.clear();
    }

    Findings look() {
        evict();
        if (anything_late() && !subject_.cancelled()) {
            ask_rates();
            evict();  // what the rates have left there would be no usual frame
        }
        ask_frames();
        return std::move(found_);
    }

private:
    void evict() const {
        if (subject_.evict) subject_.evict();
    }
    bool anything_late() const;
    void ask_rates();
    std::optional<ProbeResult> rate(const char* name, const Settings& settings);
    void ask_frames();
    using Frames = std::vector<std::pair<play::ShownFrame, bool>>;  // and whether it was missed
    std::size_t clean_stream(const std::string& format) const;
    Frames missed_frames(std::size_t stream) const;
    Frames usual_frames(std::size_t stream) const;
    static void mix(const Frames& usual, Frames& into);
    void read_alone(std::size_t stream, const Frames& frames);
    bool run(PlaybackLoop& playback_loop) const;
    void keep_if_stuck(std::unique_ptr<PlaybackLoop> playback_loop, storage::BufferArena memory);
    Settings as_played() const;

    ProbeSubject subject_;
    ClipNumbers numbers_;
    Findings found_;
};

bool counts(const play::DropEntry& entry, const play::DeadlineLedger& ledger) {
    return entry.kind != FrameKind::dropped || entry.deadline >= ledger.play_start() + seconds(1);
}

bool Prober::anything_late() const {
    return std::any_of(subject_.ledgers.begin(), subject_.ledgers.end(),
                       [](const play::DeadlineLedger* ledger) {
                           const ReasonCounts& reasons = ledger->reasons();
                           return reasons.late + reasons.client + ledger->counts().stalls > 0;
                       });
}

Settings Prober::as_played() const {
    const play::PlayerOptions& options = subject_.streams->front().options;
    return {std::min(options.inflight, options.readahead), options.io_depth, options.io_size};
}

void Prober::ask_rates() {
    const PlayRequest usual_request;
    const Settings played = as_played();
    found_.as_played = rate("as played", played);
    Settings usual = played;
    usual.inflight = std::max(played.inflight, usual_request.inflight);
    usual.io_depth = std::max(played.io_depth, usual_request.io_depth);
    if (!same(usual, played)) found_.usual = rate("with as much in flight as editing systems ask for", usual);
    Settings larger = usual;
    larger.io_size = usual_request.io_size;
    const bool small = played.io_size != 0 && static_cast<double>(played.io_size) <
                                                  kSmallest * static_cast<double>(usual_request.io_size);
    if (small) found_.larger_reads = rate("with larger reads", larger);
    Settings more = usual;
    std::uint64_t pieces = 0;
    bool whole_frames = true;  // a frame has no more pieces than are asked for at once
    for (const StreamPlan& plan : *subject_.streams) {
        const double of_frame = more.io_size == 0 ? 1 : plan.bytes_per_slot / static_cast<double>(more.io_size);
        whole_frames &= of_frame <= more.io_depth;
        pieces += static_cast<std::uint64_t>(more.inflight * std::clamp(of_frame, 1.0, 1.0 * more.io_depth));
    }
    if (pieces * 2 > kPiecesMax) return;
    const std::uint64_t times = std::min(kMoreTimes, kPiecesMax / std::max<std::uint64_t>(pieces, 1));
    (whole_frames ? more.inflight : more.io_depth) *= static_cast<std::uint32_t>(times);
    found_.more_in_flight = rate("with more in flight", more);
}

/// False: the storage has not given everything back.
bool Prober::run(PlaybackLoop& playback_loop) const {
    playback_loop.on_ready = [](PlaybackLoop& ready, Duration offset) { ready.start(offset, std::nullopt); };
    playback_loop.on_failed = [] {};
    subject_.running(&playback_loop);
    if (subject_.cancelled()) playback_loop.interrupt();
    const bool ran = static_cast<bool>(playback_loop.run());
    subject_.running(nullptr);
    return ran && !playback_loop.stuck();
}

/// What the storage has not given back stays where it is, for as long as the process lives.
void Prober::keep_if_stuck(std::unique_ptr<PlaybackLoop> playback_loop, storage::BufferArena memory) {
    if (!playback_loop->stuck()) return;
    found_.stuck = true;
    (void)playback_loop.release();
    (void)new storage::BufferArena(std::move(memory));
}

std::optional<ProbeResult> Prober::rate(const char* name, const Settings& settings) {
    if (subject_.cancelled() || found_.stuck) return std::nullopt;
    std::vector<StreamPlan> plans = *subject_.streams;
    std::deque<StreamProgress> progress(plans.size());
    PlaybackLoopOptions options;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        StreamPlan& plan = plans[i];
        plan.options.paced = false;
        plan.options.slots = UINT64_MAX;
        plan.options.inflight = settings.inflight;
        plan.options.readahead = std::max<std::uint32_t>(settings.inflight, 2);
        plan.options.io_depth = settings.io_depth;
        plan.options.io_size = settings.io_size;
        plan.options.clock = nullptr;
        plan.start_offset = {};
        plan.stop_offset.reset();
        bytes += play::Player::memory_bytes(*plan.path, plan.options);
        options.streams.push_back({&plan, &progress[i]});
    }
    if (bytes > storage::memory_available().bytes) return std::nullopt;
    auto arena = storage::BufferArena::make(bytes, [](const std::string&) {});
    if (!arena) return std::nullopt;
    ByteMeter::Count count{kWarmUp, kMeasured};
    options.storage = subject_.storage;
    options.storage.through = [&count](std::unique_ptr<Storage> inner) {
        return std::make_unique<ByteMeter>(std::move(inner), count);
    };
    options.memory = arena->memory();
    options.interrupt_after = kWarmUp + kMeasured;
    options.patience = kPatience;
    options.preroll_timeout = kPatience;
    options.notice = [](const std::string&) {};
    auto playback_loop = std::make_unique<PlaybackLoop>(std::move(options));
    if (!run(*playback_loop)) {
        keep_if_stuck(std::move(playback_loop), std::move(*arena));
        return std::nullopt;
    }
    return ProbeResult{name, settings.inflight, settings.io_size, settings.io_depth,
                       static_cast<double>(count.bytes) * 1e9 / static_cast<double>(kMeasured.ns)};
}

/// Of the streams of this format one that missed nothing; their number where there is none.
std::size_t Prober::clean_stream(const std::string& format) const {
    std::size_t i = 0;
    while (i < subject_.streams->size() &&
           ((*subject_.streams)[i].format != format || !subject_.ledgers[i]->drops().empty() ||
            subject_.ledgers[i]->counts().stalls > 0)) {
        ++i;
    }
    return i;
}

/// Some that cannot be read, and the slowest: those of the first second, too, may have held up later ones.
Prober::Frames Prober::missed_frames(std::size_t stream) const {
    const play::DeadlineLedger& ledger = *subject_.ledgers[stream];
    std::vector<play::DropEntry> entries = ledger.drops();
    entries.insert(entries.end(), ledger.stalls().begin(), ledger.stalls().end());
    const auto took = [](const play::DropEntry& entry) {
        if (entry.submitted == Instant::never() || entry.delivered == Instant::never()) return std::int64_t{-1};
        return (entry.delivered - entry.submitted + entry.open_time).ns;
    };
    std::stable_sort(entries.begin(), entries.end(),
                     [&took](const play::DropEntry& a, const play::DropEntry& b) { return took(a) > took(b); });
    Frames frames;
    std::set<std::pair<std::uint32_t, std::uint64_t>> taken;
    std::size_t failed = 0;
    std::size_t slow = 0;
    for (const play::DropEntry& entry : entries) {
        std::size_t& of_kind = entry.kind == FrameKind::failed ? failed : slow;
        if (of_kind >= kFramesRead || !taken.insert({entry.source, entry.clip_frame}).second) continue;
        frames.push_back({{entry.source, entry.clip_frame}, true});
        ++of_kind;
    }
    return frames;
}

/// Some that were on time.
Prober::Frames Prober::usual_frames(std::size_t stream) const {
    const StreamPlan& plan = (*subject_.streams)[stream];
    const play::DeadlineLedger& ledger = *subject_.ledgers[stream];
    std::set<std::uint64_t> missed;
    for (const play::DropEntry& entry : ledger.drops()) missed.insert(entry.clip_frame);
    for (const play::DropEntry& entry : ledger.stalls()) missed.insert(entry.clip_frame);
    const std::uint64_t count =
        std::min(plan.path->sources().front()->count(), std::max<std::uint64_t>(ledger.counts().scheduled, 1));
    const std::uint64_t step = std::max<std::uint64_t>(count / (2 * kFramesRead), 1);
    Frames frames;
    for (std::uint64_t frame = step / 2; frame < count && frames.size() < kFramesRead; frame += step) {
        if (!missed.contains(frame)) frames.push_back({{0, frame}, false});
    }
    return frames;
}

/// One of these between two of those: what changes while they are read changes for both.
void Prober::mix(const Frames& usual, Frames& into) {
    std::size_t place = 0;
    for (const auto& frame : usual) {
        into.insert(into.begin() + static_cast<std::ptrdiff_t>(std::min(place, into.size())), frame);
        place += 2;
    }
}

/// What is usual is what streams give that missed nothing; only where there is none of that format, the frames
/// of the same clip that were on time.
void Prober::ask_frames() {
    std::size_t read = 0;
    std::set<std::string> with_usual;
    for (std::size_t i = 0; i < subject_.ledgers.size() && read < kStreamsRead; ++i) {
        const play::DeadlineLedger& ledger = *subject_.ledgers[i];
        const StreamPlan& plan = (*subject_.streams)[i];
        const bool bad = ledger.counts().stalls > 0 ||
                         std::any_of(ledger.drops().begin(), ledger.drops().end(),
                                     [&ledger](const play::DropEntry& entry) { return counts(entry, ledger); });
        if (!bad) continue;
        const std::size_t fine = clean_stream(plan.format);
        const bool own = fine == subject_.streams->size();
        if (!own && with_usual.insert(plan.format).second) read_alone(fine, usual_frames(fine));
        auto frames = missed_frames(i);
        if (own) mix(usual_frames(i), frames);
        read_alone(i, frames);
        ++read;
    }
}

void Prober::read_alone(std::size_t stream, const Frames& frames) {
    if (frames.empty() || subject_.cancelled() || found_.stuck) return;
    StreamPlan plan = (*subject_.streams)[stream];
    std::vector<play::ShownFrame> list;
    for (const auto& [frame, missed] : frames) list.push_back(frame);
    plan.path = std::make_shared<ListPath>(plan.path->sources(), plan.rate(), list);
    plan.options.paced = false;
    plan.options.slots = list.size();
    plan.options.inflight = plan.options.readahead = 1;
    plan.options.pattern = play::AccessPattern::on_demand;
    plan.options.clock = nullptr;
    plan.start_offset = {};
    plan.stop_offset.reset();
    auto arena = storage::BufferArena::make(play::Player::memory_bytes(*plan.path, plan.options),
                                            [](const std::string&) {});
    if (!arena) return;
    StreamProgress progress;
    PlaybackLoopOptions options;
    options.storage = subject_.storage;
    options.streams.push_back({&plan, &progress});
    options.memory = arena->memory();
    options.interrupt_after = kRereadLimit;
    options.patience = kPatience;
    options.preroll_timeout = kPatience;
    options.keep_frames = true;
    options.notice = [](const std::string&) {};
    auto playback_loop = std::make_unique<PlaybackLoop>(std::move(options));
    const bool ran = run(*playback_loop);
    if (playback_loop->ledgers().empty()) return;  // its storage could not be had again
    for (const FrameOutcome& outcome : playback_loop->ledgers().front()->frames()) {
        if (!ran || outcome.kind == FrameKind::cancelled) continue;
        const auto& [frame, missed] = frames[outcome.slot];
        judge::Reread reread{numbers_.of(plan.clips[frame.source]), frame.frame, missed};
        reread.failed = outcome.kind == FrameKind::failed;
        if (outcome.delivered != Instant::never())
            reread.took_ns = (outcome.delivered - outcome.submitted + outcome.open_time).ns;
        found_.rereads.push_back(reread);
    }
    keep_if_stuck(std::move(playback_loop), std::move(*arena));
}

}  // namespace

Findings look_into(const ProbeSubject& subject) {
    return Prober(subject).look();
}

}  // namespace streamsim::run
