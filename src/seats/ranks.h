// The processes of one run over several computers, as each of them sees it: rank 0 leads, the others follow.
// ranks_play.cc has what happens while they play.
//
// Each step in which they depend on each other is a call that all make in the same order: agree() and share()
// before play, then planned(), ready() and collect() for each time they play. A rank that dies is left out from
// then on, and its name is kept: the others go on without it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "seats/seat_channel.h"
#include "seats/start_barrier.h"
#include "streamsim/run_result.h"

namespace streamsim::seats {

/// How the streams of one rank stand, from its heartbeat.
struct RankNews {
    std::uint32_t streams = 0;  // that are not over
    std::uint64_t on_time = 0;
    std::uint64_t bad = 0;
    std::uint64_t bytes = 0;
    double required_bytes_per_s = 0;  // by those that play
};

class Ranks final : public StartBarrier {
public:
    /// Through MPI, with the ranks of the same mpirun. REQUIRES: mpi_place(). Errors: as begin_mpi;
    /// environment.
    static Result<std::unique_ptr<Ranks>> begin();
    /// Without MPI: rank 0, and another one.
    static Result<std::unique_ptr<Ranks>> host(std::uint32_t ranks);
    static Result<std::unique_ptr<Ranks>> join(std::uint32_t rank,
                                               std::uint32_t ranks,
                                               const JoinToken& join_token);
    /// Comes first of all calls: blocks until all are here that will come. `command` has to be the
    /// same in all. Errors: bad input where it differs.
    Result<void> gather(const std::vector<std::string>& command);
    ~Ranks() override;

    std::uint32_t rank() const { return rank_; }
    std::uint32_t size() const { return size_; }
    bool first() const { return rank_ == 0; }
    const JoinToken& join_token() const { return channel_->join_token(); }
    const std::string& run_id() const { return join_token().run_id; }

    /// So many seats are dealt to the ranks in blocks; before that each rank is one.
    void assign_seats(std::uint32_t all) { seats_ = all; }
    std::uint32_t first_seat() const { return first_seat_of(rank_); }
    std::uint32_t own_seats() const { return first_seat_of(rank_ + 1) - first_seat_of(rank_); }
    /// "seat 2 (host h3)", "seats 4-7 (host h3)"
    std::string name_of(std::uint32_t rank) const;

    /// Success once every rank has come here with success; else the errors of all that failed, each named, the
    /// same in every rank. Blocks. Errors besides: interrupted.
    Result<void> agree(const Result<void>& own);
    /// Rank 0's value in every rank; it does not wait for the others. Errors: interrupted; rank 0 is gone.
    Result<Json> share(const Json& value);

    // Play, the next time.
    /// All waits end, in every rank; what was played so far is collected all the same. Any thread.
    void stop();
    bool stopped() const;
    /// This time nobody plays on: another rank could not begin, or could not go on.
    bool play_is_off() const;
    Result<void> planned(const std::vector<Duration>& cues) override;
    void ready(Duration cue, Begin begin) override;
    void ended() override;
    struct Collecting {
        std::string journals;  // the directory where this rank keeps its own; empty: nowhere
        /// Is given this rank's part, to keep it, before anybody else gets it. May be empty.
        std::function<void(RunResult& part)> keep;
        bool virtual_time = false;
        bool preroll_took_too_long = false;  // that is why there is no result here
        /// Told, in rank 0, what is known when an interrupted run has waited for the others as long as it may:
        /// the process could be killed before it knows more.
        std::function<void(const RunResult&)> meanwhile;
        /// A result in which nothing was played.
        std::function<RunResult()> nothing;
    };
    /// Makes the result of this rank's session its part of the run; `journal` is where that is kept. Any
    /// thread.
    void become_own_part(RunResult& result, const std::string& journal) const;
    /// Ends a time of play: rank 0 gets the result of all; another rank its own part, once rank 0 has been sent
    /// it. Errors: where a rank had one, in rank 0 all of them, each named.
    Result<RunResult> collect(Result<RunResult> own, const Collecting& how);
    /// In rank 0, after collect() gave an error: read-aheads that were not filled in time were all there was.
    bool preroll_took_too_long() const { return preroll_took_too_long_; }

    /// What this rank's heartbeat says while it plays; empty: nothing. From the channel's thread.
    void tell(std::function<std::optional<RankNews>()> news);
    /// Of the other ranks, by rank; nullopt: none came since play began.
    std::vector<std::optional<RankNews>> told() const;
    /// Ranks that were lost, each with its name and why: "seat 2 (h3): its connection ended". Each once.
    std::vector<std::string> newly_lost();

    /// Waits until all have come to their end: the exit code of this process, which is 0 in all but rank 0, so
    /// that a launcher has no reason to kill any. Where rank 0 was lost it is `code`.
    int finish(int code);
    bool rank_0_is_lost() const;

private:
    struct Peer {
        bool here = false;  // it has introduced itself
        bool lost = false;
        bool left = false;
        bool said_lost = false;
        std::string why;
        HostFacts host;
        std::map<std::uint64_t, Result<void>> reports;  // of agree(), by step
        std::optional<RankNews> news;
        // Of this time of play.
        std::optional<std::vector<std::int64_t>> cues;
        std::set<std::int64_t> ready;
        bool ended = false;
        std::shared_ptr<const Json> played;           // as it came, when all parts of its result are here
        std::shared_ptr<std::string> result;          // the document
        std::shared_ptr<std::vector<FrameRow>> rows;  // of --csv

        bool gone() const { return lost || left; }
    };

    Ranks(std::uint32_t rank, std::uint32_t ranks);
    SeatChannelOptions channel_options();
    void heard(std::uint32_t rank, Json& message);
    void heard_of_play(std::uint32_t rank, const std::string& what, Json& message);
    void gone(std::uint32_t rank, const std::function<void(Peer&)>& note);
    void send_to_others(const Json& message);
    std::uint32_t first_seat_of(std::uint32_t rank) const {
        return static_cast<std::uint32_t>(std::uint64_t{seats_} * rank / size_);
    }
    bool all(const std::function<bool(const Peer&)>& holds) const;
    Error errors_of(const std::map<std::uint32_t, Error>& errors) const;

    // Play. Where `begun` is taken, the caller gives it to call(), which lets go of the lock meanwhile.
    using Begun = std::vector<std::pair<Begin, Instant>>;
    void next_play();
    void call_off_play();
    void begin_ready_cues(Begun& begun);
    void begin_own(std::int64_t cue, Instant at, Begun& begun);
    void all_may_have_ended();
    void call(std::unique_lock<std::mutex>& lock, const Begun& begun);
    void send_played(const Result<RunResult>& own, const Collecting& how);
    void send_result(const RunResult& own);
    void wait_for_played(std::unique_lock<std::mutex>& lock,
                         const Result<RunResult>& own,
                         const Collecting& how);
    SeatResult own_seat(const RunResult& own, const std::string& journal) const;
    RunResult nothing_of(std::uint32_t rank, const Collecting& how) const;
    Result<RunResult> merged(std::unique_lock<std::mutex>& lock,
                             const Result<RunResult>& own,
                             const Collecting& how);

    const std::uint32_t rank_;
    const std::uint32_t size_;
    std::uint32_t seats_;
    mutable std::mutex mutex_;  // protects everything below but the channel
    std::condition_variable changed_;
    std::vector<Peer> peers_;  // by rank; of a follower only rank 0's is kept
    std::uint64_t step_ = 0;   // of agree() and share()
    std::map<std::uint64_t, Result<void>> answers_;
    std::map<std::uint64_t, Json> shared_;
    bool stopped_ = false;
    bool ended_ = false;  // rank 0 said so
    std::function<std::optional<RankNews>()> news_;
    std::vector<std::pair<std::uint32_t, Json>> early_;  // of the next time of play, by who said it
    // This time of play.
    std::uint64_t play_ = 0;
    bool play_is_off_ = false;
    bool go_ = false;  // all have planned
    bool all_ended_ = false;
    bool is_virtual_ = false;  // no instant is agreed on
    bool preroll_took_too_long_ = false;
    std::size_t calling_ = 0;             // Begins that are being called
    std::map<std::int64_t, Begin> cues_;  // ready here, and not begun
    std::set<std::int64_t> begun_;        // cues
    std::optional<Instant> origin_;       // the first agreed instant, by rank 0's clock
    std::optional<Instant> play_start_;   // the first of this rank, by its own
    ClockReading clock_;                  // before play
    Instant clock_at_;                    // when that was
    std::optional<ClockReading> clock_after_;
    Instant clock_after_at_;
    Duration slowest_;                      // bound of all ranks' clocks
    std::unique_ptr<SeatChannel> channel_;  // the last: its thread speaks to all above
};

}  // namespace streamsim::seats
