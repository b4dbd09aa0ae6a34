// PlaybackLoop: one event loop with its storage and players, on one thread in real time, or in virtual time. It
// leads its players from preroll to the last frame. Loops share the instant at which their streams begin.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/system/mutex.h"
#include "load/meter.h"
#include "metrics/time_series.h"
#include "play/frame_stream.h"
#include "run/backends/backends.h"
#include "run/plan/stream_plan.h"
#include "run/playback/claim_watch.h"
#include "run/playback/content_verifier.h"
#include "storage/fault/fault_storage.h"

namespace streamsim::run {

/// Statistics of a loop, besides the ledgers of its streams.
struct LoopStats {
    metrics::TimeSeries series;
    LoopLateness lateness;
    StorageCapabilities capabilities;
    std::vector<MeterResult> meters;  // in the order of the options; after the run, and in copies
    std::vector<OperationRow> operations;
    std::vector<ServerTraffic> traffic;   // up to the end of play
    storage::InjectedFaults faults;       // up to the end of play
    std::optional<ContentCheck> content;  // where contents are verified
    Instant origin;                       // the zero of the series, and of the streams' offsets
    Instant interrupted = Instant::never();
    bool timing_is_exact = false;  // virtual time
    bool realtime = false;         // real-time scheduling was asked for and granted
};

/// A copy of a loop's statistics and ledgers, which PlaybackLoop::copy updates while the loop plays.
struct LoopSnapshot {
    LoopStats stats;
    std::map<const StreamPlan*, std::unique_ptr<play::DeadlineLedger>> ledgers;

    // Between the loop's thread and the thread that asks. A std::mutex: MutexLock has no wait with a predicate.
    std::mutex mutex;
    std::condition_variable changed;
    std::uint64_t asked = 0;          // number of the last request; this and the following: protected by mutex
    std::uint64_t answered = 0;       // number of the last request that is complete
    std::size_t next = 0;             // the stream to copy next, and behind the streams the meter
    std::vector<MeterResult> meters;  // copied so far; in `stats` once all are
    bool loop_ended = false;
};

/// After an interruption the storage has no more time than this to give back its operations.
inline constexpr Duration kInterruptedTimeout = milliseconds(800);

struct PlaybackLoopOptions {
    StorageSpec storage;
    std::vector<LoopStream> streams;
    std::vector<const load::MeterPlan*> meters;  // outlive the loop; begin with the streams of offset 0
    Duration meter_time;                         // how long the meters play
    std::span<std::byte> memory;  // for the streams' frames and the meters' blocks, in this order
    bool shared_memory = false;   // the storage never touches buffers: all have the same
    Duration preroll_timeout = seconds(10);
    bool sync = false;                        // the streams of a seat run on one clock
    bool staggered = false;                   // streams begin at their own offsets, not all at once
    bool origin_of_faults = false;            // stalls count from the beginning, not from the first operation
    Duration decode_cpu;                      // processor time of each frame
    std::optional<Duration> wall_limit;       // without deadlines: when all end, also those that were added
    std::optional<Duration> interrupt_after;  // from the beginning: as interrupt()
    Duration drain_timeout = seconds(2);      // for the storage to give back its operations
    std::uint64_t drops_kept = 0;             // rows of each stream's drop table
    bool keep_frames = false;
    bool realtime = false;
    NoticeSink notice;
    ClaimWatch* claim = nullptr;  // is told of misses while play goes on; null: nothing is to be proved
    std::size_t number = 0;       // of this loop, for the watch
};

/// Constructed on any thread; run() makes its thread the loop's; requests come from any thread.
class PlaybackLoop {
public:
    explicit PlaybackLoop(PlaybackLoopOptions options);
    ~PlaybackLoop();

    /// Called on the loop's thread when every player with this offset is ready, and with offset 0 every meter.
    /// The receiver calls start(), at once or later.
    std::function<void(PlaybackLoop&, Duration offset)> on_ready;
    /// Called on the loop's thread when the loop cannot play: other loops need not wait for it.
    std::function<void()> on_failed;

    /// Builds, prerolls, plays, drains. Returns when every player has finished, or after interrupt(). Errors:
    /// the storage is not available, or preroll took too long.
    Result<void> run();

    /// The players with this offset begin; slot 0 of each is due at `play_start`, or now. From any thread, or
    /// inside on_ready.
    void start(Duration offset, std::optional<Instant> play_start);
    /// Settles what is due and cancels the rest; run() returns soon. Any thread, any time.
    void interrupt();

    /// The interruption of PlaybackLoopOptions::interrupt_after comes so long from now instead. On the loop's
    /// thread.
    void interrupt_after(Duration time);

    /// Ends play as if the streams had no more slots: settles what is due, cancels the rest. Any thread.
    void end_play();

    /// Adds one stream, with memory of its own, while the others play: it prerolls and begins when it is ready.
    /// A stream that is not ready within the preroll timeout is given up, with a notice. Any thread, once play
    /// has begun. False: the loop has ended. If the loop ends meanwhile, ledger_of() returns null.
    bool add(const LoopStream& stream, std::span<std::byte> memory);
    /// Ends one stream alone: settles its due slots, cancels the rest. Does nothing for a stream that neither
    /// plays nor was added. Any thread.
    void remove(const StreamPlan& plan);

    /// Updates `copy`, a snapshot of this loop alone: on the loop's thread, a few streams or a meter a turn.
    /// False: no answer within `timeout`, or the loop ended meanwhile, or has not begun. Any thread but the
    /// loop's, one at a time.
    bool copy(const std::shared_ptr<LoopSnapshot>& copy, Duration timeout);

    // After run().
    std::vector<std::unique_ptr<play::DeadlineLedger>>& ledgers() { return ledgers_; }
    /// The ledger of a stream of this loop, also of an added one; null: another loop plays it.
    const play::DeadlineLedger* ledger_of(const StreamPlan& plan) const;
    const LoopStats& stats() const { return stats_; }
    /// Statistics of a modelled cluster's parts between two instants of the loop's clock; empty: no model.
    std::vector<PartStats> parts(Instant from, Instant to) const {
        return made_.cluster != nullptr ? made_.cluster->stats(from, to) : std::vector<PartStats>{};
    }
    /// interrupt() came before every player had finished.
    bool interrupted() const { return interrupting_ && !error_; }
    /// run() failed because not every stream had filled its read-ahead in time.
    bool preroll_took_too_long() const { return preroll_took_too_long_; }
    /// The storage did not give back its outstanding operations: nothing of this loop may be destroyed.
    bool stuck() const { return stuck_; }

private:
    struct Stream;
    /// Streams that begin together.
    struct StartGroup {
        std::vector<Stream*> streams;
        std::size_t not_ready = 0;
    };

    Result<void> build();
    Stream& make_stream(const LoopStream& stream);
    play::StreamParts parts_of(const Stream& stream);
    void make_player(Stream& stream, std::span<std::byte> memory);
    Result<void> make_recorder(Stream& stream, std::span<std::byte> memory);
    void add_here(const LoopStream& stream, std::span<std::byte> memory);
    void remove_here(const StreamPlan& plan);
    void end_alone(Stream& stream);
    void end_here();
    void watch_claim();
    void tell_claim(bool ended);
    void update_stats();
    void begin();
    void begin_stream(Stream& stream);
    void begin_meters();
    void note_ready_meters(std::vector<std::int64_t>& ready_groups);
    void player_changed();
    void note_ready();
    bool all_finished();
    void play(Duration offset, Instant play_start);
    void preroll_timed_out();
    void wall_limit_reached();
    void interrupt_here();
    void drain_timed_out();
    void finish();
    void copy_some(const std::shared_ptr<LoopSnapshot>& copy, std::uint64_t asked);
    void copy_stream(const Stream& stream, LoopSnapshot& copy) const;
    void end_copies();

    PlaybackLoopOptions options_;
    LoopAndStorage made_;
    std::unique_ptr<ContentVerifier> verifier_;  // null: no stream asks for it
    LoopStats stats_;  // origin, lateness and capabilities: of the last copy, or after the run
    std::vector<std::unique_ptr<play::DeadlineLedger>> ledgers_;
    std::map<std::uint32_t, std::unique_ptr<play::PlayClock>> clocks_;  // by seat, where streams share one
    std::map<std::int64_t, StartGroup> start_groups_;                   // by offset
    std::vector<std::unique_ptr<Stream>> streams_;
    std::vector<Stream*> preparing_;  // begun and not ready yet, as they are planned
    std::vector<std::unique_ptr<load::Meter>> meters_;
    std::vector<load::Meter*> preparing_meters_;
    TimerId meters_timeout_ = 0;
    std::size_t finished_ = 0;  // streams from the first one on that have finished
    Instant origin_;
    std::optional<Error> error_;
    TimerId claim_timer_ = 0;
    TimerId interrupt_timer_ = 0;
    bool finishing_ = false;
    bool interrupting_ = false;
    bool stuck_ = false;
    bool preroll_took_too_long_ = false;
    Mutex mutex_;
    EventLoop* loop_ GUARDED_BY(mutex_) = nullptr;  // where requests go; null before run() and after it
    bool interrupt_requested_ GUARDED_BY(mutex_) = false;
    bool ended_ GUARDED_BY(mutex_) = false;                  // the ledgers are closed
    std::shared_ptr<LoopSnapshot> copy_ GUARDED_BY(mutex_);  // requested last
};

}  // namespace streamsim::run
