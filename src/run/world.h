// A world is one loop with its storage and its players: one thread in real time, or virtual time. It conducts
// its players from preroll to the last frame; what it shares with other worlds is the instant at which all
// begin.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "metrics/time_series.h"
#include "play/player.h"
#include "run/backends.h"
#include "run/stream_plan.h"

namespace streamsim {

/// One stream of a world; both outlive it.
struct WorldStream {
    const StreamPlan* plan = nullptr;
    StreamProgress* progress = nullptr;
};

struct WorldOptions {
    StorageSpec storage;
    std::vector<WorldStream> streams;
    std::span<std::byte> memory;  // for the streams' frames, in this order
    bool shared_memory = false;   // true: the storage never touches buffers, all streams have the same
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
class World {
public:
    explicit World(WorldOptions options);
    ~World();

    /// Is told, on the world's thread, that every player with this offset is ready. The answer is start(), at
    /// once or later.
    std::function<void(World&, Duration offset)> on_ready;
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
    bool add(const WorldStream& stream, std::span<std::byte> memory);
    /// Ends one stream alone: settles what was due, cancels the rest. Does nothing where the stream does not
    /// play, and was not added. Any thread.
    void remove(const StreamPlan& plan);

    // After run().
    std::vector<std::unique_ptr<DeadlineLedger>>& ledgers() { return ledgers_; }
    /// Of a stream of this world, also of one that was added; null: it is none.
    const DeadlineLedger* ledger_of(const StreamPlan& plan) const;
    const TimeSeries& series() const { return series_; }
    const LoopLateness& lateness() const { return lateness_; }
    const StorageCapabilities& capabilities() const { return capabilities_; }
    const std::vector<ServerTraffic>& traffic() const { return traffic_; }
    bool timing_is_exact() const { return timing_is_exact_; }
    /// The zero of the series, and of the streams' offsets.
    Instant origin() const { return origin_; }
    /// Of a modelled cluster, between two instants of its loop's clock; else none.
    std::vector<PartBooks> parts(Instant from, Instant to) const;
    /// interrupt() came before every player had finished.
    bool interrupted() const { return interrupting_ && !error_; }
    /// Reads and opens that it may have outstanding.
    std::uint64_t operations_at_once() const {
        const LocalOptions& local = options_.storage.local;
        return std::uint64_t{local.parallel_reads} + local.parallel_opens;
    }
    /// run() failed because not every stream had filled its read-ahead in time.
    bool preroll_took_too_long() const { return preroll_took_too_long_; }
    /// Real-time scheduling was asked for and granted.
    bool realtime() const { return realtime_; }
    /// The storage did not give back what was outstanding: nothing of this world may be destroyed.
    bool stuck() const { return stuck_; }

private:
    struct Stream;
    /// Streams that begin together.
    struct Cue {
        std::vector<Stream*> streams;
        std::size_t not_ready = 0;
    };

    Result<void> build();
    Stream& make_stream(const WorldStream& stream, std::span<std::byte> memory);
    void add_here(const WorldStream& stream, std::span<std::byte> memory);
    void remove_here(const StreamPlan& plan);
    void end_alone(Stream& stream);
    void begin();
    void begin_stream(Stream& stream);
    void player_changed();
    void note_ready();
    bool all_finished();
    void play(Duration offset, Instant play_start);
    void preroll_timed_out();
    void wall_limit_reached();
    void interrupt_here();
    void gave_up();
    void finish();

    WorldOptions options_;
    LoopAndStorage made_;
    TimeSeries series_;
    std::vector<std::unique_ptr<DeadlineLedger>> ledgers_;
    std::map<std::uint32_t, std::unique_ptr<PlayClock>> clocks_;  // by seat, where streams share one
    std::map<std::int64_t, Cue> cues_;                            // by offset
    std::vector<std::unique_ptr<Stream>> streams_;
    std::vector<Stream*> preparing_;  // begun and not ready yet, as they are planned
    std::size_t finished_ = 0;        // so many streams, from the first one on, have finished
    LoopLateness lateness_;
    StorageCapabilities capabilities_;
    std::vector<ServerTraffic> traffic_;  // up to the end of play
    Instant origin_;
    std::optional<Error> error_;
    bool finishing_ = false;
    bool interrupting_ = false;
    bool stuck_ = false;
    bool preroll_took_too_long_ = false;
    bool timing_is_exact_ = false;
    bool realtime_ = false;
    std::mutex mutex_;
    EventLoop* loop_ = nullptr;         // protected by mutex_: where requests go; null before run()
    bool interrupt_requested_ = false;  // protected by mutex_
};

}  // namespace streamsim
