#include "run/playback/playback.h"

#include <fmt/format.h>
#include <uv.h>

#include <set>
#include <utility>

#include "base/system/thread_group.h"
#include "run/playback/loop_options.h"

namespace streamsim::run {
namespace {

/// Loops on several threads begin this long after the last one is ready, so that none of them begins late.
constexpr Duration kStartLead = milliseconds(20);

}  // namespace

void Playback::prepare() {
    const std::size_t count = loops_needed(plan_);
    std::set<std::pair<std::int64_t, std::size_t>> waits;  // for the streams of one offset on one loop
    for (std::size_t i = 0; i < plan_.streams().size(); ++i)
        waits.emplace(plan_.streams()[i].start_offset.ns, i % count);
    for (std::size_t i = 0; i < plan_.meters().size(); ++i) waits.emplace(0, i % count);
    for (const auto& [offset_ns, loop] : waits) ++not_ready_[offset_ns];
    make_loops(count);
    plan_.finish_memory();
}

Result<void> Playback::run() {
    if (auto go = wait_for_others(); !go) return go;
    return run_loops();
}

void Playback::make_loops(std::size_t count) {
    std::vector<PlaybackLoopOptions> all = loop_options(plan_, count);
    size_io_threads(plan_.request(), all);
    const MutexLock lock(mutex_);
    if (const auto& wanted = plan_.request().prove_per_day) {
        claim_ = std::make_unique<ClaimWatch>(*wanted, count);
        claim_->on_decided = [this] { end_play(); };
    }
    for (PlaybackLoopOptions& options : all) {
        options.claim = claim_.get();
        options.number = loops_.size();
        auto& made = loops_.emplace_back(std::make_unique<PlaybackLoop>(std::move(options)));
        made->on_ready = [this](PlaybackLoop& loop, Duration offset) { loop_ready(loop, offset); };
        made->on_failed = [this] { stop_loops(); };
        if (interrupted_) made->interrupt();
    }
}

Result<void> Playback::run_loops() {
    const std::size_t count = loops_.size();
    std::vector<Result<void>> results(count);
    ThreadGroup threads;
    bool all = true;
    for (std::size_t i = 1; i < count && all; ++i)
        all = threads.add([this, &results, i] { results[i] = loops_[i]->run(); });
    if (!all) {  // the others would wait for a loop that does not run
        stop_loops();
        return environment_error(fmt::format("the system gives no {} threads to play on (`ulimit -u`)", count));
    }
    results[0] = loops_[0]->run();
    threads.join();
    for (const auto& loop : loops_) {
        is_stuck_ |= loop->stuck();
        preroll_took_too_long_ |= loop->preroll_took_too_long();
        was_cut_short_ |= loop->interrupted() || loop->preroll_took_too_long();
    }
    for (const auto& result : results) {
        if (!result) return result;
    }
    return {};
}

Result<void> Playback::wait_for_others() {
    if (barrier_ == nullptr) return {};
    std::vector<Duration> offsets;
    for (const auto& [offset_ns, loops] : not_ready_) offsets.push_back({offset_ns});
    return barrier_->planned(plan_.request().target.is_virtual_time() ? std::vector<Duration>() : offsets);
}

/// Streams that begin together play from one instant, on whichever loop they are.
void Playback::loop_ready(PlaybackLoop& loop, Duration offset) {
    MutexLock lock(mutex_);
    if (--not_ready_[offset.ns] > 0) return;
    if (barrier_ != nullptr && !plan_.request().target.is_virtual_time()) {
        lock.unlock();
        return barrier_->ready(offset, [this, offset](Instant at) { begin_everywhere(offset, at); });
    }
    const Instant now{static_cast<std::int64_t>(uv_hrtime())};  // the clock of every real loop
    if (loops_.size() > 1) {
        lock.unlock();
        return begin_everywhere(offset, now + kStartLead);
    }
    if (started_ns_.load() == 0) started_ns_.store(now.ns, std::memory_order_relaxed);
    loop.start(offset, std::nullopt);
}

void Playback::begin_everywhere(Duration offset, Instant play_start) {
    const MutexLock lock(mutex_);
    if (started_ns_.load() == 0) started_ns_.store(play_start.ns, std::memory_order_relaxed);
    for (auto& loop : loops_) loop->start(offset, play_start);
}

void Playback::stop_loops() {
    const MutexLock lock(mutex_);
    for (auto& loop : loops_) loop->interrupt();
}

void Playback::end_play() {
    const MutexLock lock(mutex_);
    for (auto& loop : loops_) loop->end_play();
}

void Playback::interrupt() {
    {
        const MutexLock lock(mutex_);
        interrupted_ = true;
    }
    stop_loops();
}

std::vector<PlaybackLoop*> Playback::loops() const {
    const MutexLock lock(mutex_);
    std::vector<PlaybackLoop*> loops;
    for (const auto& loop : loops_) loops.push_back(loop.get());
    return loops;
}

std::vector<std::shared_ptr<LoopSnapshot>> Playback::copy_loops(Duration timeout) {
    const std::vector<PlaybackLoop*> all = loops();
    while (copies_.size() < all.size()) copies_.push_back(std::make_shared<LoopSnapshot>());
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!all[i]->copy(copies_[i], timeout)) return {};
    }
    return copies_;
}

}  // namespace streamsim::run
