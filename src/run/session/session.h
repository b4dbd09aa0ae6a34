// Session: a request, its media found, becomes a result. It sizes memory and threads, runs the worlds, and puts
// their books together.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/growing_list.h"
#include "base/result.h"
#include "host/host.h"
#include "play/ledger.h"
#include "run/session/play_part.h"
#include "run/session/play_request.h"
#include "run/session/stream_plan.h"
#include "seats/start_barrier.h"
#include "streamsim/progress.h"
#include "streamsim/run_result.h"

namespace streamsim::run {

class Recordings;
class PlaybackLoop;
struct RunFacts;
struct LoopSnapshot;
struct PlaybackLoopOptions;

/// What is known about the program, not about the run.
struct ProgramFacts {
    std::string version;
    std::string revision;
    std::vector<std::string> command;
};

/// Threads of the pool for closing and hinting, and the most that libuv makes.
inline constexpr std::uint64_t kPoolThreadsSpare = 4;
inline constexpr std::uint64_t kPoolThreadsMax = 1024;

/// Whether there is memory for the streams of these formats, before their media are written. Errors:
/// environment.
Result<void> memory_suffices(const PlayRequest& request);
/// The thread pool of this process has the size that the first run gave it. Where several runs follow each
/// other it is made for the largest: so many streams.
void reserve_threads(const PlayRequest& request, std::uint64_t streams);

/// For how many times these streams there is memory; nullopt: it does not matter. Without media: as if they
/// were prepared. Errors: bad input, as when they are played.
Result<std::optional<std::uint64_t>> times_in_memory(const PlayRequest& request, const FoundMedia& media);
/// The same as memory_suffices for parts, whose media need not have been found.
Result<void> memory_suffices(const std::vector<PlayPart>& parts);

/// One run. execute() blocks, on a thread of the caller's choice; the other calls are for other threads
/// meanwhile.
class Session {
public:
    /// `media` is what find_media gave for the same request.
    Session(const PlayRequest& request, FoundMedia media, ProgramFacts program, const NoticeSink& notice);
    /// `request` says what all parts have in common: target, seed, how it is read. Its own streams do not
    /// count. `faults` are those of the document that need the streams: delays and errors in a span of time.
    Session(PlayRequest request,
            std::vector<PlayPart> parts,
            std::vector<ScenarioFault> faults,
            ProgramFacts program,
            const NoticeSink& notice);
    ~Session();

    /// Its streams begin when those of other computers do; to be called before execute(), which it outlives.
    void wait_for(seats::StartBarrier& gate) { gate_ = &gate; }

    /// Plays to the end, or until interrupt(). Errors: no memory, storage that cannot be had, a preroll that
    /// took too long. An interrupted run has a result.
    Result<RunResult> execute();

    /// Any thread, any time, also before execute().
    void interrupt();

    /// What would be the result if the run were interrupted now, without what is in flight: only slots that are
    /// settled are scheduled. Play is not disturbed: its books are copied on its own threads, some streams at a
    /// time. Not in it: rows of frames, what a model's parts did, measurements after play. nullopt: play has
    /// not begun, or a loop did not answer within 2 s. Any thread, while execute() runs.
    std::optional<RunResult> snapshot();

    /// One stream more, like the last one, while the others play: on a clip that none plays, if there is one,
    /// else on that of another stream; until the others end. It fills its read-ahead first. A sentence about
    /// what it plays. Errors: a sentence about why not. Any thread; it may take as long as its memory takes.
    Result<std::string> add_stream();
    /// Ends one stream; `index` is its place in Watch. What it played stays in the result. Says so in a
    /// sentence. Errors: a sentence about why not. Any thread.
    Result<std::string> remove_stream(std::size_t index);

    /// The streams as they will play, and those that were added since. Null before execute() has planned them.
    /// Read the size of `streams` once: each below it has its progress.
    struct Watch {
        const GrowingList<StreamPlan>* streams = nullptr;
        const GrowingList<StreamProgress>* progress = nullptr;
        std::int64_t started_ns = 0;  // CLOCK_MONOTONIC of the first play_start; 0: still in preroll
        bool virtual_time = false;
        bool looking_for_cause = false;                        // play has ended, and failed
        const std::vector<load::MeterPlan>* meters = nullptr;  // with their progress
        Duration play_time;                                    // of the meters
        bool faults_injected = false;
    };
    Watch watch() const;

    /// A result that says only that nothing was played: the run was interrupted before.
    static RunResult not_played(const PlayRequest& request, const ProgramFacts& program);
    /// Play has ended, and what is left to do is arithmetic on what was measured. Any thread.
    bool storage_is_over() const { return storage_is_over_.load(std::memory_order_relaxed); }
    /// The storage kept something: the process has to end by _exit once the result is written.
    bool stuck() const { return stuck_; }
    /// execute() failed because the storage did not fill all read-aheads in time: it answers, but so many are
    /// too many for it.
    bool preroll_took_too_long() const { return preroll_took_too_long_; }

private:
    /// More reads at once than this wait in the backend: no storage answers faster for being asked more.
    static constexpr std::uint64_t kParallelReadsMax = 1024;

    struct Memory;

    Result<void> plan();
    bool in_phases() const { return !parts_.empty() && parts_.front().place.has_value(); }
    void look_for_cause(RunFacts& facts);
    void find_model_rate(RunFacts& facts);
    Result<void> make_recordings(std::uint32_t& alignment);
    std::string place_of_files() const;
    void plan_model();
    void evict_clips();
    Result<void> reserve_memory();
    std::size_t loops_needed() const;
    PlaybackLoopOptions playback_loop_options(std::size_t playback_loop,
                                              std::size_t playback_loops,
                                              std::uint64_t& used);
    std::uint32_t alignment_of_files();
    void add_meters(std::size_t playback_loop,
                    std::size_t playback_loops,
                    std::span<std::byte> memory,
                    std::uint64_t& used,
                    PlaybackLoopOptions& options) const;
    Duration play_time() const;
    Result<void> run_playback_loops();
    void size_pool();
    Result<void> wait_for_others();
    void playback_loop_ready(PlaybackLoop& playback_loop, Duration offset);
    void begin_everywhere(Duration offset, Instant play_start);
    void stop_playback_loops();
    Result<void> may_add() const;
    Result<StreamPlan> plan_further(std::string& whose) const;
    std::vector<Clip> clips_for_further(const StreamPlan& like, std::string& whose) const;
    Result<std::span<std::byte>> memory_for(const StreamPlan& plan);
    /// What played, in the order of the result.
    struct Played {
        std::vector<StreamPlan> plans;
        std::vector<const play::DeadlineLedger*> ledgers;
        std::size_t added = 0, removed = 0;
    };
    template <typename LedgerOf>
    Played played_streams(LedgerOf ledger_of) const;
    void collect_streams(RunFacts& facts);
    bool copy_playback_loops(Duration patience);
    void fill_common(RunFacts& facts) const;
    RunResult nothing_to_play() const;
    std::string stream_name(const StreamPlan& plan) const;

    PlayRequest request_;
    std::vector<PlayPart> parts_;
    std::vector<ScenarioFault> faults_;
    ProgramFacts program_;
    NoticeSink notice_;
    seats::StartBarrier* gate_ = nullptr;  // null: there is nobody to wait for
    std::mutex notice_mutex_;
    std::vector<std::string> notices_;  // protected by notice_mutex_
    StorageSpec spec_;
    std::vector<load::MeterPlan> meters_;
    GrowingList<StreamPlan> streams_;
    GrowingList<StreamProgress> progress_;
    Played played_;  // for the result, after play
    std::unique_ptr<Memory> memory_;
    std::unique_ptr<Recordings> recordings_;  // null: nothing is recorded to files
    std::mutex adding_mutex_;
    std::map<std::size_t, PlaybackLoop*> added_;  // by place in streams_; protected by adding_mutex_
    std::set<std::size_t> removed_;               // protected by adding_mutex_
    std::mutex snapshot_mutex_;
    std::vector<std::shared_ptr<LoopSnapshot>> copies_;  // as worlds_; protected by snapshot_mutex_
    RunResult begun_;                                    // what of the result is known before play
    host::ProcessUsage usage_before_;
    std::optional<MountFacts> mount_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<PlaybackLoop>>
        playback_loops_;                             // protected by mutex_ while they are being made
    PlaybackLoop* probing_ = nullptr;                // protected by mutex_: measures why play failed
    bool interrupted_ = false;                       // protected by mutex_
    std::map<std::int64_t, std::size_t> not_ready_;  // worlds, by start offset; protected by mutex_
    std::atomic<std::int64_t> started_ns_{0};
    std::atomic<bool> planned_{false};
    std::atomic<bool> looking_{false};
    std::atomic<bool> storage_is_over_{false};
    bool stuck_ = false;
    bool preroll_took_too_long_ = false;
    bool cut_short_ = false;  // interrupted while there was something left to play
};

}  // namespace streamsim::run
