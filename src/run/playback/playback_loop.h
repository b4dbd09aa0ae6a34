// A world is one loop with its storage and its players: one thread in real time, or virtual time. It conducts
// its players from preroll to the last frame; what it shares with other worlds is the instant at which all
// begin.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "load/meter.h"
#include "metrics/time_series.h"
#include "play/frame_stream.h"
#include "play/play_clock.h"
#include "run/playback/backends.h"
#include "run/session/stream_plan.h"
#include "storage/fault/fault_storage.h"

namespace streamsim::run {

/// One stream of a world; both outlive it.
struct LoopStream {
    const StreamPlan* plan = nullptr;
    StreamProgress* progress = nullptr;
};

/// One meter of a world; the plan outlives it.
struct LoopMeter {
    const load::MeterPlan* plan = nullptr;
    std::span<std::byte> memory;
};

/// What a world knows besides the books of its streams.
struct LoopStats {
    metrics::TimeSeries series;
    LoopLateness lateness;
    StorageCapabilities capabilities;
    std::vector<MeterResult> meters;  // as they were given; at the end
    std::vector<OperationRow> operations;
    std::vector<ServerTraffic> traffic;  // up to the end of play
    storage::InjectedFaults faults;      // up to the end of play; nothing where none are injected
    Instant origin;                      // the zero of the series, and of the streams' offsets
    bool timing_is_exact = false;        // virtual time
    bool realtime = false;               // real-time scheduling was asked for and granted
};

/// A copy of a world's books, which is brought up to date while it plays (PlaybackLoop::copy).
struct LoopSnapshot {
    LoopStats stats;
    std::map<const StreamPlan*, std::unique_ptr<play::DeadlineLedger>> ledgers;

    // How the threads speak about it.
    std::mutex mutex;
    std::condition_variable changed;
    std::uint64_t asked = 0;     // the last time; below: protected by mutex
    std::uint64_t answered = 0;  // then all of it is up to date
    std::size_t next = 0;        // stream to be copied
    bool playback_loop_ended = false;
};

/// Whoever has interrupted a run is kept waiting no longer than this for the storage.
inline constexpr Duration kInterruptedTimeout = milliseconds(800);

struct PlaybackLoopOptions {
    StorageSpec storage;
    std::vector<LoopStream> streams;
    std::vector<LoopMeter> meters;  // begin with the streams of offset 0
    Duration meter_time;            // that they go on
    std::span<std::byte> memory;    // for the streams' frames, in this order
    bool shared_memory = false;     // true: the storage never touches buffers, all streams have the same
    Duration preroll_timeout = seconds(10);
    bool sync = false;                        // the streams of a seat run on one clock
    bool staggered = false;                   // streams begin at their own offsets, not all at once
    bool origin_of_faults = false;            // stalls count from the beginning, not from the first operation
    Duration decode_cpu;                      // that the client burns for each frame
    std::optional<Duration> wall_limit;       // rate `max`: how long to read
    std::optional<Duration> interrupt_after;  // of the beginning: as interrupt()
    Duration patience = seconds(2);           // with a storage that has to give back what it has
    std::uint64_t drops_kept = 0;             // a stream
    std::uint64_t seed = 0;
    bool keep_frames = false;
    bool realtime = false;
    NoticeSink notice;
};

/// Made on any thread; run() on the one that is to be the loop's; the requests from any thread.
class PlaybackLoop {
public:
    explicit PlaybackLoop(PlaybackLoopOptions options);
    ~PlaybackLoop();

    /// Is told, on the world's thread, that every player with this offset is ready, and with offset 0 every
    /// meter. The answer is start(), at once or later.
    std::function<void(PlaybackLoop&, Duration offset)> on_ready;
    /// Is told, on the world's thread, that it cannot play: the others need not wait for it.
    std::function<void()> on_failed;

    /// Builds, prerolls, plays, drains. Returns when every player has finished, or after interrupt(). Errors:
    /// the storage could not be made, or preroll took too long.
    Result<void> run();

    /// The players with this offset begin; slot 0 of each is due at `play_start`, or now where nothing is said.
    /// From any thread, or inside on_ready.
    void start(Duration offset, std::optional<Instant> play_start);
    /// Settles what is due and cancels the rest; run() returns soon. Any thread, any time.
    void interrupt();

    /// One stream more, with memory of its own, while the others play: it prerolls and begins when it is ready.
    /// Where it is not within the time of a preroll it is given up, with a notice, and the others go on. Any
    /// thread, once play has begun. False: this world has ended. True, and the world ends meanwhile:
    /// ledger_of() has none.
    bool add(const LoopStream& stream, std::span<std::byte> memory);
    /// Ends one stream alone: settles what was due, cancels the rest. Does nothing where the stream does not
    /// play, and was not added. Any thread.
    void remove(const StreamPlan& plan);

    /// Brings `copy`, which is of this world alone, up to date: on the world's thread, a few streams a turn.
    /// False: there was no answer within `patience`, or the world ended meanwhile, or has nothing yet. Any
    /// thread but the world's, one at a time.
    bool copy(const std::shared_ptr<LoopSnapshot>& copy, Duration patience);

    // After run().
    std::vector<std::unique_ptr<play::DeadlineLedger>>& ledgers() { return ledgers_; }
    /// Of a stream of this world, also of one that was added; null: it is none.
    const play::DeadlineLedger* ledger_of(const StreamPlan& plan) const;
    const LoopStats& stats() const { return stats_; }
    /// Of a modelled cluster, between two instants of its loop's clock; else none.
    std::vector<PartStats> parts(Instant from, Instant to) const;
    /// interrupt() came before every player had finished.
    bool interrupted() const { return interrupting_ && !error_; }
    /// Reads and opens that it may have outstanding.
    std::uint64_t operations_at_once() const {
        const storage::LocalOptions& local = options_.storage.local;
        return std::uint64_t{local.parallel_reads} + local.parallel_opens;
    }
    /// run() failed because not every stream had filled its read-ahead in time.
    bool preroll_took_too_long() const { return preroll_took_too_long_; }
    /// The storage did not give back what was outstanding: nothing of this world may be destroyed.
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
    void make_player(Stream& stream, const LoopStream& each, std::span<std::byte> memory);
    Result<void> make_recorder(Stream& stream, const LoopStream& each, std::span<std::byte> memory);
    void add_here(const LoopStream& stream, std::span<std::byte> memory);
    void remove_here(const StreamPlan& plan);
    void end_alone(Stream& stream);
    void begin();
    void begin_stream(Stream& stream);
    void begin_meters();
    void note_ready_meters(std::vector<std::int64_t>& cues);
    void player_changed();
    void note_ready();
    bool all_finished();
    void play(Duration offset, Instant play_start);
    void preroll_timed_out();
    void wall_limit_reached();
    void interrupt_here();
    void gave_up();
    void finish();
    void copy_some(const std::shared_ptr<LoopSnapshot>& copy, std::uint64_t asked);
    void copy_stream(const Stream& stream, LoopSnapshot& copy) const;
    void end_copies();

    PlaybackLoopOptions options_;
    LoopAndStorage made_;
    LoopStats stats_;  // its origin, lateness and capabilities as of the last look
    std::vector<std::unique_ptr<play::DeadlineLedger>> ledgers_;
    std::map<std::uint32_t, std::unique_ptr<play::PlayClock>> clocks_;  // by seat, where streams share one
    std::map<std::int64_t, StartGroup> cues_;                           // by offset
    std::vector<std::unique_ptr<Stream>> streams_;
    std::vector<Stream*> preparing_;  // begun and not ready yet, as they are planned
    std::vector<std::unique_ptr<load::Meter>> meters_;
    std::vector<load::Meter*> preparing_meters_;
    TimerId meters_timeout_ = 0;
    std::size_t finished_ = 0;  // so many streams, from the first one on, have finished
    Instant origin_;
    std::optional<Error> error_;
    bool finishing_ = false;
    bool interrupting_ = false;
    bool stuck_ = false;
    bool preroll_took_too_long_ = false;
    std::mutex mutex_;
    EventLoop* loop_ = nullptr;           // protected by mutex_: where requests go; null before run()
    bool interrupt_requested_ = false;    // protected by mutex_
    bool ended_ = false;                  // protected by mutex_: the books are closed
    std::shared_ptr<LoopSnapshot> copy_;  // protected by mutex_: that was asked for last
};

}  // namespace streamsim::run
