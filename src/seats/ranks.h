// The processes of one run over several computers, as the command line and the session use them.
//
// Each step in which the ranks depend on each other is a call that all of them make in the same order: agree()
// and share() before play, then planned(), ready() and ended() (common_start.h) and
// collect() (result_collector.h) for each time they play.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "seats/common_start.h"
#include "seats/lobby.h"
#include "seats/rank_group.h"
#include "seats/rank_messages.h"
#include "seats/result_collector.h"
#include "seats/seat_channel.h"
#include "seats/start_barrier.h"
#include "streamsim/run_result.h"

namespace streamsim::seats {

class Ranks final : public StartBarrier {
public:
    /// Through MPI, with the ranks of the same mpirun. REQUIRES: mpi_place(). Errors: as begin_mpi;
    /// environment.
    static Result<std::unique_ptr<Ranks>> begin();
    /// A meeting of seats that are started by hand, or by anything: rank 0 listens there, and plays nothing.
    struct Meeting {
        std::uint32_t seats = 1;
        std::string address = "*";
        std::uint16_t port = 0;
        SeatKeys keys;
        std::string version;               // of streamsim: seats with another one are refused
        std::vector<std::string> targets;  // of the run, which each seat looks at when it comes
    };
    /// Rank 0 of a meeting. Returns at once; seats come from then on.
    static Result<std::unique_ptr<Ranks>> meet(const Meeting& meeting);
    struct SeatThatJoins {
        std::string name;                 // as it calls itself; empty: as its computer
        std::vector<std::string> allows;  // the places that it lets the run read and write
        LookAtTargets look;
    };
    /// Another rank of it: tries until `given_up`. Returns when it has looked at the targets and told rank 0.
    /// Errors: interrupted; environment: rank 0 has refused it.
    static Result<std::unique_ptr<Ranks>> join_meeting(const Meeting& meeting,
                                                       const SeatThatJoins& seat,
                                                       const std::function<bool()>& given_up,
                                                       const std::function<void(const std::string&)>& trouble);
    /// In rank 0 of a meeting: blocks until `begins` returns true or an error, or stop(). It is called at each
    /// change, and some times a second. Until then the place of a seat that is lost is free for another one;
    /// seats that are missing at the end are lost. Errors: interrupted; those of `begins`.
    Result<void> wait_for_seats(const std::function<Result<bool>(const Lobby& lobby)>& begins);

    /// Without MPI: rank 0, and another one.
    static Result<std::unique_ptr<Ranks>> host(std::uint32_t ranks);
    static Result<std::unique_ptr<Ranks>> join(std::uint32_t rank,
                                               std::uint32_t ranks,
                                               const JoinToken& join_token);
    /// Comes first of all calls: blocks until every rank is here, or is lost. `command` has to be the same in
    /// all ranks. Errors: bad input where it differs.
    Result<void> gather(const std::vector<std::string>& command);

    std::uint32_t rank() const { return group_.rank(); }
    std::uint32_t size() const { return group_.size(); }
    /// The number among the ranks that play, which is the rank in results and in the names of journals.
    std::uint32_t part() const { return group_.part_of(rank()); }
    bool first() const { return group_.first(); }
    const JoinToken& join_token() const { return channel_->join_token(); }
    const std::string& run_id() const { return group_.run_id(); }

    /// Assigns so many seats to the ranks, the same in all ranks; before that each rank is one seat. Not while
    /// it plays.
    void assign_seats(std::uint32_t seats, SeatOrder order = SeatOrder::blocks) {
        const std::lock_guard lock(group_.mutex);
        group_.assign_seats(seats, order);
    }
    std::uint32_t first_seat() const { return group_.first_seat_of(rank()); }
    std::uint32_t own_seats() const { return group_.seat_count_of(rank()); }
    std::uint32_t seat_step() const { return group_.seat_step(); }
    /// The ranks that play: all, or all but rank 0.
    std::uint32_t players() const { return group_.players(); }
    /// This rank makes the media that are missing, and removes them.
    bool makes_media() const {
        const std::lock_guard lock(group_.mutex);
        return rank() == group_.media_maker;
    }
    /// Seats came by themselves, and obey nothing but their own command line and the run.
    bool is_meeting() const { return group_.first_player() > 0; }
    /// This rank leads a meeting, and plays nothing.
    bool only_leads() const { return first() && is_meeting(); }
    std::string name_of(std::uint32_t rank) const { return group_.name_of(rank); }

    /// Names the next time of play, where a run has several whose results are not one: "step-2". The same in
    /// all ranks. Not while it plays.
    void name_play(std::string name) {
        const std::lock_guard lock(group_.mutex);
        group_.name_play(std::move(name));
    }
    /// Success when every rank has called it with success; else the errors of all that failed, each named, the
    /// same in every rank. Blocks. Errors besides: interrupted.
    Result<void> agree(const Result<void>& own);
    /// Rank 0's value in every rank; rank 0 does not wait for the others. Errors: interrupted; rank 0 is gone.
    Result<Json> share(const Json& value);

    // Play, the next time.
    /// All waits end, in every rank; the frames that were played so far are collected all the same. Any thread.
    void stop();
    bool stopped() const;
    /// Nobody plays on this time: another rank could not begin, or could not go on.
    bool play_is_off() const;
    Result<void> planned(const std::vector<Duration>& groups) override;
    void ready(Duration group, Begin begin) override { start_.ready(group, std::move(begin)); }
    void ended() override { start_.ended(); }
    using Collecting = ResultCollector::Options;
    /// Makes the result of this rank's session its part of the run; `journal` is the file that keeps it. Any
    /// thread.
    void become_own_part(RunResult& result, const std::string& journal) const {
        collector_.become_own_part(result, journal);
    }
    /// Ends a time of play: rank 0 gets the result of all; another rank its own part, once it has been sent to
    /// rank 0. Errors: where a rank had one, in rank 0 all of them, each named.
    Result<RunResult> collect(Result<RunResult> own, const Collecting& how);
    /// In another rank of a meeting, after collect(): rank 0 has its part. A lost connection is awaited.
    bool is_delivered() const { return delivered_; }
    /// In rank 0: this result of the last play is written. Each rank whose whole part it has hears so at the
    /// end.
    void note_written(const RunResult& result);
    /// In another rank of a meeting: the file of what it played; finish() removes it when rank 0 has written
    /// a result with this rank's part. Empty: there is none.
    void keep_journal(std::string path);
    /// After finish(): that file, where it is still needed. Empty: there is none.
    std::string kept_journal() const;
    /// In rank 0, after collect() gave an error: read-aheads that were not filled in time were the only
    /// problem.
    bool preroll_took_too_long() const { return collector_.preroll_took_too_long(); }

    /// The heartbeat of this rank carries what `progress` returns while it plays; empty: nothing. `progress`
    /// runs on the channel's thread.
    void report_progress(std::function<std::optional<RankProgress>()> progress);
    /// The progress of the other ranks, by rank; nullopt: none came since play began.
    std::vector<std::optional<RankProgress>> progress_of_others() const;
    /// Ranks that were lost, cut off or have come back, each with its name and the reason: "seat 2 (h3) was
    /// lost: its connection ended". Each once.
    std::vector<std::string> newly_lost();

    /// REQUIRES: another rank, whose waits have ended.
    Error why_rank_0_is_gone() const;
    /// Rank 0 was lost, and may come again: it has not said that it ends. REQUIRES: as above.
    bool may_rank_0_return() const;

    /// Waits until all ranks have ended. Returns the exit code of this process, which is 0 in all but rank 0,
    /// so that a launcher has no reason to kill any rank; where rank 0 was lost, and of a seat of a meeting
    /// that was interrupted itself or could not run, it is `code`. `why`: in rank 0, of an end before the run
    /// began.
    int finish(int code, const std::string& why = "");

private:
    Ranks(std::uint32_t rank, std::uint32_t ranks, bool first_plays = true);
    SeatEvents events();
    SeatChannelOptions channel_options();
    std::string arrival(std::uint32_t rank) const;
    Error gone_error() const;
    bool is_own_interruption(const Error& error) const;
    Lobby lobby();
    void hear_hello(std::uint32_t rank, const Json& introduction);
    void hear_report(std::uint32_t rank, const Json& message);
    void report_seat(const LookAtTargets& look);
    void hear(std::uint32_t rank, Json& message);
    Result<void> ask_first(std::unique_lock<std::mutex>& lock, std::uint64_t step, const Result<void>& own);
    void hear_of_play(std::uint32_t rank, const std::string& what, Json& message);
    void rank_gone(std::uint32_t rank, const std::function<void(RankGroup::Peer&)>& note);
    void next_play();

    using ByStep = std::map<std::uint64_t, Result<void>>;

    RankGroup group_;
    CommonStart start_;
    ResultCollector collector_;
    // Protected by the group's mutex.
    std::uint64_t step_ = 0;       // of agree() and share()
    std::vector<ByStep> reports_;  // rank 0: by rank
    ByStep answers_;
    std::map<std::uint64_t, Json> shared_;
    bool ended_ = false;             // rank 0 has said that the run ends
    bool part_is_written_ = false;   // in the result of rank 0, at that end
    std::string journal_;            // of keep_journal()
    std::string why_ended_;          // before it began
    bool stopped_by_first_ = false;  // rank 0 was interrupted
    std::string last_play_;          // rank 0: the id of the last time of play
    std::function<std::optional<RankProgress>()> own_progress_;
    std::vector<std::optional<RankProgress>> progress_;  // by rank
    std::vector<std::pair<std::uint32_t, Json>> early_;  // messages of the next time of play, by sender
    bool delivered_ = true;
    std::vector<std::string> happened_;                      // that newly_lost() and wait_for_seats() tell
    bool in_lobby_ = false;                                  // rank 0 of a meeting: it has not begun
    std::vector<std::string> targets_;                       // rank 0 of a meeting: of the run
    std::optional<std::vector<std::string>> asked_targets_;  // another rank: that it has to look at
    std::unique_ptr<SeatChannel> channel_;                   // the last member: its thread uses all the others
};

}  // namespace streamsim::seats
