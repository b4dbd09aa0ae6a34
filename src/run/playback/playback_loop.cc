#include "run/playback/playback_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "base/prng.h"
#include "base/system/parallel_for.h"
#include "base/units.h"
#include "host/host.h"
#include "media/write/recording.h"
#include "play/player.h"
#include "play/recorder.h"
#include "run/plan/meters.h"

namespace streamsim::run {
struct PlaybackLoop::Stream {
    PlaybackLoop* playback_loop = nullptr;
    const StreamPlan* plan = nullptr;
    StreamProgress* progress = nullptr;
    std::size_t index = 0;                        // into streams_ and ledgers_
    std::size_t drops_told = 0, stalls_told = 0;  // to the claim's watch
    std::uint64_t omitted_told = 0;               // the same: both, of those that the tables do not keep
    std::unique_ptr<Decoder> decoder;
    std::unique_ptr<play::FrameStream> player;
    TimerId begin_timer = 0;
    TimerId timeout = 0;
    TimerId stop_timer = 0;
    bool begun = false;
    bool playing = false;
    bool added = false;  // during play: it does not wait for the others

    void begin() { playback_loop->begin_stream(*this); }
    void stop_submitting() {
        stop_timer = 0;
        if (!player->finished()) player->stop_submitting();
    }
    void give_up() {
        timeout = 0;
        playback_loop->options_.notice(fmt::format(
            "stream {} of {} was added and was not ready to play within {}: it was given up",
            plan->options.stream, plan->name, show_duration(playback_loop->options_.preroll_timeout)));
        playback_loop->end_alone(*this);
    }
};

PlaybackLoop::PlaybackLoop(PlaybackLoopOptions options) : options_(std::move(options)) {}

PlaybackLoop::~PlaybackLoop() = default;

Result<void> PlaybackLoop::build() {
    auto made = make_loop_and_storage(options_.storage);
    if (!made) return made.error();
    made_ = std::move(*made);
    stats_.timing_is_exact = made_.timing_is_exact;
    if (!options_.shared_memory) made_.storage->use_memory(options_.memory);
    std::uint64_t used = 0;
    for (const LoopStream& each : options_.streams) {
        const std::uint64_t bytes = each.plan->memory_bytes();
        const std::span<std::byte> memory = options_.memory.subspan(used, bytes);
        Stream& stream = make_stream(each);
        if (each.plan->record == nullptr) {
            make_player(stream, memory);
        } else if (auto recorder = make_recorder(stream, memory); !recorder) {
            return recorder;
        }
        used += options_.shared_memory ? 0 : bytes;
    }
    for (const load::MeterPlan* meter : options_.meters) {
        if (made_.cluster != nullptr) {  // in a model no files were prepared
            const load::WorkingSetNames& names = meter->names;
            for (const std::string& file : names.files)
                made_.cluster->add_file(file.c_str(), meter->spec.set.file_bytes);
            for (const std::string& file : names.spare) made_.cluster->add_file(file.c_str(), 0);
        }
        const std::uint64_t bytes = load::Meter::memory_bytes(*meter);
        const std::span<std::byte> memory = options_.memory.subspan(used, bytes);
        used += options_.shared_memory ? 0 : bytes;
        meters_.push_back(std::make_unique<load::Meter>(*made_.loop, *made_.storage, *meter, memory,
                                                        Callback::of<&PlaybackLoop::player_changed>(this)));
    }
    const bool write = std::any_of(options_.meters.begin(), options_.meters.end(),
                                   [](const load::MeterPlan* meter) { return writes(meter->spec); });
    if (write && !made_.storage->capabilities().writes)
        return environment_error(
            fmt::format("{}: cannot be written to by this streamsim: mount it and give the path",
                        options_.storage.target.url));
    return {};
}

PlaybackLoop::Stream& PlaybackLoop::make_stream(const LoopStream& each) {
    const StreamPlan& plan = *each.plan;
    play::LedgerOptions ledger;
    ledger.seat = plan.options.seat;
    ledger.stream = plan.options.stream;
    ledger.seed = options_.storage.seed;
    ledger.slots = plan.options.paced ? plan.options.slots : 0;
    ledger.drops_kept = std::min(options_.drops_kept, plan.options.slots);
    ledger.readahead = plan.options.readahead;
    ledger.hash_times = stats_.timing_is_exact;
    ledger.records = plan.record != nullptr;
    ledger.keep_frames = options_.keep_frames;
    ledgers_.push_back(std::make_unique<play::DeadlineLedger>(ledger, stats_.series));
    auto stream = std::make_unique<Stream>();
    stream->playback_loop = this;
    stream->plan = &plan;
    stream->progress = each.progress;
    stream->index = streams_.size();
    streams_.push_back(std::move(stream));
    return *streams_.back();
}

void PlaybackLoop::make_player(Stream& stream, std::span<std::byte> memory) {
    const StreamPlan& plan = *stream.plan;
    play::StreamParts parts = parts_of(stream);
    play::PlayerOptions& options = parts.options;
    if (options_.sync) {
        std::unique_ptr<play::PlayClock>& clock = clocks_[options.seat];
        if (clock == nullptr) clock = std::make_unique<play::PlayClock>(*made_.loop);
        options.clock = clock.get();
    }
    const MediaFormat* decoded = options.paced ? plan.decoded : nullptr;  // as fast as it reads: not decoded
    stream.decoder = make_decoder(made_, {options.seat, options_.decode_cpu, decoded, plan.layers});
    options.decoder = stream.decoder.get();
    if (options.verify) {
        if (verifier_ == nullptr)
            verifier_ =
                std::make_unique<ContentVerifier>(*made_.loop, static_cast<unsigned>(computing_threads()));
        options.verifier = verifier_.get();
    }
    stream.player = std::make_unique<play::Player>(parts, memory);
}

Result<void> PlaybackLoop::make_recorder(Stream& stream, std::span<std::byte> memory) {
    const StreamPlan& plan = *stream.plan;
    if (!made_.storage->capabilities().writes) {
        return environment_error(
            fmt::format("{}: {} can be played from there and not be written to it: nothing can be recorded",
                        options_.storage.target.url, made_.storage->capabilities().io));
    }
    if (!options_.shared_memory) {
        const std::uint64_t key =
            derive_seed(options_.storage.seed, std::uint64_t{plan.options.seat} << 32 | plan.options.stream);
        auto frames =
            media::make_recorded_frames(plan.record->format, *plan.path->sources().front(), key,
                                        play::Recorder::frame_stride(*plan.path, plan.options), memory);
        if (!frames) return frames;
    }
    stream.player = std::make_unique<play::Recorder>(parts_of(stream), plan.record->options, memory);
    return {};
}

play::StreamParts PlaybackLoop::parts_of(const Stream& stream) {
    return {*made_.loop,
            *made_.storage,
            *stream.plan->path,
            stream.plan->options,
            *ledgers_[stream.index],
            *stream.progress,
            Callback::of<&PlaybackLoop::player_changed>(this)};
}

const play::DeadlineLedger* PlaybackLoop::ledger_of(const StreamPlan& plan) const {
    for (const auto& stream : streams_) {
        if (stream->plan == &plan) return ledgers_[stream->index].get();
    }
    return nullptr;
}

Result<void> PlaybackLoop::run() {
    if (options_.realtime) {
        std::string why_not;
        stats_.realtime = host::request_realtime(why_not);
        if (!stats_.realtime) options_.notice(why_not);
    }
    if (auto built = build(); !built) {
        if (made_.storage != nullptr) {  // a storage ends only by shutdown()
            finish();
            made_.loop->run();
        }
        on_failed();
        return built;
    }
    {
        const MutexLock lock(mutex_);
        loop_ = made_.loop.get();
        if (interrupt_requested_) loop_->defer(Callback::of<&PlaybackLoop::interrupt_here>(this));
    }
    made_.loop->defer(Callback::of<&PlaybackLoop::begin>(this));
    made_.loop->hold();  // nothing may become due while it waits for the other loops
    const StopReason reason = made_.loop->run();
    made_.loop->release();
    {
        const MutexLock lock(mutex_);
        loop_ = nullptr;
    }
    STREAMSIM_CHECK(reason == StopReason::stopped, "a loop ends when its players have finished");
    update_stats();
    for (const auto& meter : meters_) {
        stats_.meters.push_back(stuck_ ? meter->result_without_waiting() : meter->result());
        const auto rows = meter->rows();
        stats_.operations.insert(stats_.operations.end(), rows.begin(), rows.end());
    }
    for (auto& ledger : ledgers_) ledger->close();
    end_copies();
    if (error_) return *error_;
    return {};
}

void PlaybackLoop::update_stats() {
    stats_.lateness = made_.loop->lateness();
    stats_.capabilities = made_.storage->capabilities();
    if (made_.faults != nullptr) stats_.faults = made_.faults->injected();
    if (verifier_ != nullptr) stats_.content = verifier_->check();
    stats_.origin = origin_;
}

void PlaybackLoop::begin() {
    origin_ = made_.loop->now();
    if (options_.wall_limit) {
        made_.loop->at(origin_ + *options_.wall_limit, Callback::of<&PlaybackLoop::wall_limit_reached>(this));
    }
    if (options_.interrupt_after) interrupt_after(*options_.interrupt_after);
    if (options_.origin_of_faults && made_.faults != nullptr) made_.faults->set_origin(origin_);
    for (auto& stream : streams_) {
        if (stream->plan->stop_offset) {
            stream->stop_timer = made_.loop->at(origin_ + *stream->plan->stop_offset,
                                                Callback::of<&Stream::stop_submitting>(stream.get()));
        }
        StartGroup& group = start_groups_[stream->plan->start_offset.ns];
        group.streams.push_back(stream.get());
        ++group.not_ready;
        if (!options_.staggered) {
            begin_stream(*stream);
        } else {
            stream->begin_timer = made_.loop->at(origin_ + stream->plan->start_offset,
                                                 Callback::of<&Stream::begin>(stream.get()));
        }
    }
    begin_meters();
}

void PlaybackLoop::begin_meters() {
    if (meters_.empty() || interrupting_) return;
    start_groups_[0].not_ready += meters_.size();
    meters_timeout_ = made_.loop->at(made_.loop->now() + options_.preroll_timeout,
                                     Callback::of<&PlaybackLoop::preroll_timed_out>(this));
    for (auto& meter : meters_) {
        preparing_meters_.push_back(meter.get());
        meter->prepare();
    }
}

void PlaybackLoop::note_ready_meters(std::vector<std::int64_t>& ready_groups) {
    const std::size_t ready =
        std::erase_if(preparing_meters_, [](const load::Meter* meter) { return meter->ready(); });
    if (ready == 0) return;
    if (preparing_meters_.empty()) made_.loop->cancel(meters_timeout_);
    if ((start_groups_[0].not_ready -= ready) == 0) ready_groups.push_back(0);
}

void PlaybackLoop::begin_stream(Stream& stream) {
    stream.begin_timer = 0;
    if (interrupting_) return;
    stream.begun = true;
    const auto after =
        std::upper_bound(preparing_.begin(), preparing_.end(), stream.index,
                         [](std::size_t index, const Stream* each) { return index < each->index; });
    preparing_.insert(after, &stream);
    stream.timeout = made_.loop->at(made_.loop->now() + options_.preroll_timeout,
                                    stream.added ? Callback::of<&Stream::give_up>(&stream)
                                                 : Callback::of<&PlaybackLoop::preroll_timed_out>(this));
    stream.player->preroll();
}

/// Runs once for each player that became ready or finished. Thousands do in one turn, so this must not visit
/// all players.
void PlaybackLoop::player_changed() {
    if (finishing_) return;
    note_ready();
    if (all_finished()) finish();
}

/// Streams that begin together play when the last of them is ready.
void PlaybackLoop::note_ready() {
    std::vector<std::int64_t> ready_groups;
    std::erase_if(preparing_, [&](Stream* stream) {
        if (!stream->player->ready()) return false;
        made_.loop->cancel(stream->timeout);
        stream->timeout = 0;
        if (stream->added) {
            // Before the announced start of play it begins with the others.
            stream->playing = true;
            stream->player->play(std::max(made_.loop->now(), origin_), origin_);
            return true;
        }
        const std::int64_t offset_ns = stream->plan->start_offset.ns;
        if (--start_groups_[offset_ns].not_ready == 0) ready_groups.push_back(offset_ns);
        return true;
    });
    note_ready_meters(ready_groups);
    for (const std::int64_t offset_ns : ready_groups) {
        if (!interrupting_) on_ready(*this, {offset_ns});
    }
}

bool PlaybackLoop::all_finished() {
    while (finished_ < streams_.size() && streams_[finished_]->player->finished()) ++finished_;
    return finished_ == streams_.size() &&
           std::all_of(meters_.begin(), meters_.end(), [](const auto& meter) { return meter->finished(); });
}

void PlaybackLoop::start(Duration offset, std::optional<Instant> play_start) {
    const MutexLock lock(mutex_);
    if (loop_ == nullptr) return;  // the loop has ended
    if (!play_start) {
        play(offset, loop_->now());
    } else {
        loop_->post([this, offset, at = *play_start] { play(offset, at); });
    }
}

void PlaybackLoop::play(Duration offset, Instant play_start) {
    if (interrupting_) return;
    if (!options_.staggered) origin_ = play_start;
    for (Stream* const stream : start_groups_[offset.ns].streams) {
        if (!stream->player->ready()) continue;  // play was ended before it began
        stream->playing = true;
        stream->player->play(play_start, origin_);
    }
    if (options_.claim != nullptr && claim_timer_ == 0) watch_claim();
    if (offset.ns != 0) return;
    for (auto& meter : meters_) meter->play(play_start, play_start + options_.meter_time);
}

void PlaybackLoop::preroll_timed_out() {
    if (interrupting_ || finishing_) return;
    std::size_t waiting = 0;
    for (auto& stream : streams_)
        if (stream->begun && !stream->added && !stream->playing && !stream->player->ready()) ++waiting;
    if (waiting + preparing_meters_.size() == 0) return;
    preroll_took_too_long_ = true;
    const std::string timeout = show_duration(options_.preroll_timeout);
    if (waiting == 0) {
        error_ = environment_error(
            fmt::format("the files of {} meters were not open within {} (--preroll-timeout): the storage is "
                        "slower than that, or does not answer",
                        preparing_meters_.size(), timeout));
    } else {
        error_ = environment_error(
            fmt::format("preroll did not end within {} (--preroll-timeout, in a scenario \"preroll_timeout\"): "
                        "{} of {} streams had not yet filled their read-ahead; the storage, or this computer, "
                        "is slower than "
                        "that, or the storage does not answer",
                        timeout, waiting, streams_.size()));
    }
    interrupt_here();
    on_failed();
}

void PlaybackLoop::wall_limit_reached() {
    for (auto& stream : streams_) {
        if (!stream->player->finished()) stream->player->stop_submitting();
    }
}

void PlaybackLoop::interrupt() {
    const MutexLock lock(mutex_);
    interrupt_requested_ = true;
    if (loop_ == nullptr) return;
    loop_->post([this] {
        interrupt_here();
        if (stats_.timing_is_exact) return;  // in virtual time no user waits
        const Duration soon = std::min(options_.drain_timeout, kInterruptedTimeout);
        made_.loop->at(made_.loop->now() + soon, Callback::of<&PlaybackLoop::drain_timed_out>(this));
    });
}

void PlaybackLoop::interrupt_after(Duration time) {
    made_.loop->cancel(interrupt_timer_);
    interrupt_timer_ =
        made_.loop->at(made_.loop->now() + time, Callback::of<&PlaybackLoop::interrupt_here>(this));
}

void PlaybackLoop::interrupt_here() {
    if (interrupting_ || finishing_) return;
    interrupting_ = true;
    stats_.interrupted = made_.loop->now();
    for (auto& stream : streams_) {
        made_.loop->cancel(stream->begin_timer);
        made_.loop->cancel(stream->stop_timer);
        stream->player->interrupt();
    }
    made_.loop->cancel(meters_timeout_);
    for (auto& meter : meters_) meter->interrupt();
    made_.loop->at(made_.loop->now() + options_.drain_timeout,
                   Callback::of<&PlaybackLoop::drain_timed_out>(this));
}

bool PlaybackLoop::add(const LoopStream& stream, std::span<std::byte> memory) {
    const MutexLock lock(mutex_);
    if (loop_ == nullptr) return false;
    loop_->post([this, stream, memory] { add_here(stream, memory); });
    return true;
}

void PlaybackLoop::add_here(const LoopStream& each, std::span<std::byte> memory) {
    if (interrupting_ || finishing_) return;
    Stream& stream = make_stream(each);
    make_player(stream, memory);
    stream.added = true;
    begin_stream(stream);
}

void PlaybackLoop::remove(const StreamPlan& plan) {
    const MutexLock lock(mutex_);
    if (loop_ != nullptr) loop_->post([this, &plan] { remove_here(plan); });
}

void PlaybackLoop::remove_here(const StreamPlan& plan) {
    if (interrupting_ || finishing_) return;
    for (auto& stream : streams_) {
        if (stream->plan == &plan && (stream->playing || stream->added)) end_alone(*stream);
    }
}

void PlaybackLoop::end_alone(Stream& stream) {
    std::erase(preparing_, &stream);
    made_.loop->cancel(stream.timeout);
    made_.loop->cancel(stream.stop_timer);
    stream.player->interrupt();
}

bool PlaybackLoop::copy(const std::shared_ptr<LoopSnapshot>& copy, Duration timeout) {
    std::unique_lock talking(copy->mutex);
    const std::uint64_t asked = ++copy->asked;
    {
        const MutexLock lock(mutex_);
        if (ended_) {
            // Closed ledgers are sorted: their new rows are not at the end.
            copy->stats = stats_;
            copy->ledgers.clear();
            for (const auto& stream : streams_) copy_stream(*stream, *copy);
            return true;
        }
        if (loop_ == nullptr) return false;
        copy_ = copy;
        copy->next = 0;
        copy->meters.clear();
        loop_->post([this, copy, asked] { copy_some(copy, asked); });
    }
    copy->changed.wait_for(talking, std::chrono::nanoseconds(timeout.ns),
                           [&] { return copy->answered == asked || copy->loop_ended; });
    if (copy->answered == asked) return true;
    ++copy->asked;  // a late answer is ignored
    return false;
}

/// Copies few streams or one meter at a time, so that nothing else on the loop is late for it.
void PlaybackLoop::copy_some(const std::shared_ptr<LoopSnapshot>& copy, std::uint64_t asked) {
    constexpr std::size_t kStreamsAtOnce = 4;
    const std::lock_guard talking(copy->mutex);
    if (copy->asked != asked) return;
    const std::size_t all = streams_.size() + meters_.size();
    if (copy->next == 0) {  // overdue slots come upon it
        update_stats();
        stats_.traffic = made_.storage->traffic();
        copy->stats = stats_;
    }
    if (copy->next < streams_.size()) {
        for (std::size_t i = 0; i < kStreamsAtOnce && copy->next < streams_.size(); ++i)
            copy_stream(*streams_[copy->next++], *copy);
    } else if (copy->next < all) {
        auto meter = meters_[copy->next++ - streams_.size()]->result_so_far();
        if (meter) copy->meters.push_back(std::move(*meter));
    }
    if (copy->next < all) {
        made_.loop->post([this, copy, asked] { copy_some(copy, asked); });
        return;
    }
    copy->stats.meters = copy->meters;
    copy->answered = asked;
    copy->changed.notify_all();
}

void PlaybackLoop::copy_stream(const Stream& stream, LoopSnapshot& copy) const {
    play::DeadlineLedger& ledger = *ledgers_[stream.index];
    auto& copied = copy.ledgers[stream.plan];
    if (copied == nullptr) copied = ledger.empty_copy(copy.stats.series);
    ledger.catch_up(*copied);
    stream.player->copy_overdue(*copied);
}

/// Wakes the thread that waits for a copy.
void PlaybackLoop::end_copies() {
    std::shared_ptr<LoopSnapshot> copy;
    {
        const MutexLock lock(mutex_);
        ended_ = true;
        copy = std::move(copy_);
    }
    if (copy == nullptr) return;
    const std::lock_guard talking(copy->mutex);
    copy->loop_ended = true;
    copy->changed.notify_all();
}

void PlaybackLoop::drain_timed_out() {
    stuck_ = true;
    if (!finishing_) stats_.traffic = made_.storage->traffic();
    made_.loop->stop();
}

void PlaybackLoop::end_play() {
    const MutexLock lock(mutex_);
    if (loop_ != nullptr) loop_->post([this] { end_here(); });
}

void PlaybackLoop::end_here() {
    if (interrupting_ || finishing_) return;
    for (auto& stream : streams_) {
        made_.loop->cancel(stream->begin_timer);
        if (!stream->player->finished()) end_alone(*stream);
    }
    for (auto& meter : meters_) meter->interrupt();
}

/// Tells the watch what was missed, at intervals of the loop's clock.
void PlaybackLoop::watch_claim() {
    claim_timer_ = 0;
    if (interrupting_ || finishing_) return;
    tell_claim(false);
    if (options_.claim->is_decided()) return end_here();
    claim_timer_ = made_.loop->at(made_.loop->now() + options_.claim->interval(),
                                  Callback::of<&PlaybackLoop::watch_claim>(this));
}

/// A stream has settled all slots up to the last one that was due, or up to the first one that is overdue; an
/// end of play adds what is left.
void PlaybackLoop::tell_claim(bool ended) {
    ClaimWatch::News news;
    for (const auto& stream : streams_) {
        const play::DeadlineLedger& ledger = *ledgers_[stream->index];
        if (ledger.play_start() == Instant::never()) continue;
        for (; stream->drops_told < ledger.drops().size(); ++stream->drops_told) {
            const FrameOutcome& drop = ledger.drops()[stream->drops_told];
            const Instant at = drop.deadline != Instant::never() ? drop.deadline : drop.completed;
            if (at == Instant::never() || ledger.is_startup_drop(drop)) continue;
            news.misses.push_back(at);
        }
        for (; stream->stalls_told < ledger.stalls().size(); ++stream->stalls_told)
            news.misses.push_back(ledger.stalls()[stream->stalls_told].deadline);
        // Behind the tables it is known only that something was missed since the last news.
        const std::uint64_t omitted = ledger.drops_omitted() + ledger.counts().stalls - ledger.stalls().size();
        if (omitted > stream->omitted_told) news.misses.push_back(ledger.last_due());
        stream->omitted_told = omitted;
        news.last = std::max(news.last, ledger.last_due());
        if (!stream->player->finished())
            news.settled = std::min({news.settled, ledger.last_due(), stream->player->overdue_since()});
    }
    news.settled = std::min(news.settled, news.last);
    news.ended = ended;
    options_.claim->tell(options_.number, origin_, news);
}

void PlaybackLoop::finish() {
    if (options_.claim != nullptr) tell_claim(true);
    finishing_ = true;
    made_.loop->cancel(claim_timer_);
    stats_.traffic = made_.storage->traffic();
    // The storage closes its files; a server that does not answer must not delay the result for ever.
    made_.loop->at(made_.loop->now() + options_.drain_timeout,
                   Callback::of<&PlaybackLoop::drain_timed_out>(this));
    made_.storage->shutdown(Callback::of<&EventLoop::stop>(made_.loop.get()));
}

}  // namespace streamsim::run
