// Collects the results of a time of play: rank 0 gets the result of all ranks as one, every other rank sends it
// its own part.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "seats/common_start.h"
#include "seats/rank_group.h"
#include "streamsim/run_result.h"

namespace streamsim::seats {

class ResultCollector {
public:
    struct Options {
        std::string journals;  // the directory of this rank's journals; empty: it keeps none
        /// Keeps this rank's part, before it is sent. May be empty.
        std::function<void(RunResult& part)> keep;
        bool virtual_time = false;
        bool preroll_took_too_long = false;  // the reason that this rank has no result
        /// In rank 0, gets all that is known when an interrupted run has waited for the others as long as it
        /// may: the process could be killed before it knows more.
        std::function<void(const RunResult&)> meanwhile;
        /// Makes a result in which nothing was played.
        std::function<RunResult()> nothing;
    };

    ResultCollector(RankGroup& group, CommonStart& start)
        : group_(group), start_(start), received_(group.size()) {}

    /// As Ranks::collect(). Blocks. `next_play` runs with the group's mutex held, when this time of play is
    /// over.
    Result<RunResult> collect(Result<RunResult> own,
                              const Options& options,
                              const std::function<void()>& next_play);
    void become_own_part(RunResult& result, const std::string& journal) const;
    bool preroll_took_too_long() const { return preroll_took_too_long_; }

    // REQUIRES: the group's mutex is held.
    /// True: the message was a part of a result, which wakes nobody.
    bool hear_part(std::uint32_t rank, const std::string& what, const Json& message);
    /// The rank has sent all parts of its result.
    void hear_played(std::uint32_t rank, Json& message, CommonStart::Due& due);
    void next_play();

private:
    /// Rows of --csv, which are in no document.
    struct Rows {
        std::vector<FrameRow> frames;
        std::vector<OperationRow> operations;
    };
    struct Received {
        std::shared_ptr<const Json> played;     // the message after the last part
        std::shared_ptr<std::string> document;  // the result
        std::shared_ptr<Rows> rows;
    };

    bool is_own_interruption(const Error& error) const;
    SeatResult own_seat(const RunResult& own, const std::string& journal) const;
    std::string journal_of(std::uint32_t rank, const Options& options) const;
    bool send_result(const RunResult& own) const;
    template <typename Row>
    bool send_rows(const char* what, const std::vector<Row>& all) const;
    void send_played(const Result<RunResult>& own, const Options& options) const;
    void wait_for_all(std::unique_lock<std::mutex>& lock, const Result<RunResult>& own, const Options& options);
    Result<RunResult> part_of(std::unique_lock<std::mutex>& lock, std::uint32_t rank) const;
    std::string why_incomplete(std::uint32_t rank, const std::string& journal) const;
    RunResult part_of_lost(std::uint32_t rank, const Options& options) const;
    Result<RunResult> merged(std::unique_lock<std::mutex>& lock,
                             const Result<RunResult>& own,
                             const Options& options);

    // Protected by the group's mutex.
    RankGroup& group_;
    CommonStart& start_;
    std::vector<Received> received_;  // rank 0: by rank
    bool virtual_time_ = false;
    bool preroll_took_too_long_ = false;
};

}  // namespace streamsim::seats
