// The start barrier of ranks: streams of one start group begin at one instant on all computers, and re-reads
// wait until every stream has ended everywhere.
//
// Rank 0 begins a start group when every rank that plays it is ready, at an instant by its own clock; each rank
// has measured its clock against rank 0's before. Once play has begun, a rank that is cut off holds nobody
// back: it begins late. After the loss of rank 0 during play, the others begin their start groups when they are
// ready themselves.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "seats/rank_clock.h"
#include "seats/rank_group.h"
#include "seats/start_barrier.h"

namespace streamsim::seats {

class CommonStart final : public StartBarrier {
public:
    explicit CommonStart(RankGroup& group) : group_(group), peers_(group.size()) {}

    Result<void> planned(const std::vector<Duration>& groups) override;
    void ready(Duration group, Begin begin) override;
    void ended() override;

    /// Begin callbacks that are due. They run without the lock: call() releases it meanwhile.
    using Due = std::vector<std::pair<Begin, Instant>>;
    /// Measures the clock a second time, after play. Blocks. REQUIRES: not rank 0; the mutex is not held.
    void measure_clock_again();

    // REQUIRES: the group's mutex is held.
    void hear(std::uint32_t rank, const std::string& what, const Json& message, Due& due);
    /// A rank was lost or has left.
    void rank_gone(Due& due);
    /// A rank is cut off, and awaited.
    void rank_away(Due& due);
    /// A rank has sent its result.
    void rank_played(std::uint32_t rank, Due& due);
    void call(std::unique_lock<std::mutex>& lock, const Due& due);
    /// Nobody plays on this time.
    void call_off();
    bool called_off() const { return called_off_; }
    /// Drops every start group that has not begun, and waits for callbacks that run.
    void drop_waiting(std::unique_lock<std::mutex>& lock);
    /// Fills the clock and the start of this rank. `plays_virtual`: a virtual clock starts at 0.
    void fill(SeatResult& seat, bool plays_virtual) const;
    void next_play();

private:
    struct Peer {
        std::optional<std::vector<std::int64_t>> groups;
        std::set<std::int64_t> ready;
        bool ended = false;
        bool played = false;
    };

    void measure_clock();
    bool ready_everywhere(std::int64_t group) const;
    void begin_ready_groups(Due& due);
    void begin_own(std::int64_t group, Instant at, Due& due);
    void begin_waiting(std::int64_t group, Due& due);
    void check_all_ended();

    // Protected by the group's mutex.
    RankGroup& group_;
    std::vector<Peer> peers_;
    bool called_off_ = false;
    bool all_planned_ = false;
    bool all_ended_ = false;
    std::size_t calling_ = 0;                // callbacks that run
    std::map<std::int64_t, Begin> waiting_;  // start groups that are ready here
    std::map<std::int64_t, Instant> begun_;  // start groups, and the agreed instants by its own clock
    Duration late_;                          // the most that one of them began here after its instant
    std::optional<Instant> origin_;          // the first agreed instant, by rank 0's clock
    std::optional<Instant> play_start_;      // the first of this rank, by its own clock
    ClockReading clock_;                     // before play
    Instant clock_at_;                       // the instant of that measurement
    std::optional<ClockReading> clock_after_;
    Instant clock_after_at_;
    Duration clock_bound_max_;  // of all ranks
};

}  // namespace streamsim::seats
