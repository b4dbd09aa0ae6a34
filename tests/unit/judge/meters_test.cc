#include <gmock/gmock.h>

#include <cerrno>

#include "judge/run_verdicts.h"

namespace streamsim::judge {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

MeterResult meter(const char* name, std::uint64_t done, std::uint64_t unfinished) {
    MeterResult out;
    out.name = name;
    out.all.done = done;
    out.unfinished = unfinished;
    return out;
}

Verdict verdict_on(std::vector<MeterResult> meters, bool beside_streams = false, bool interrupted = false) {
    RunResult result;
    result.meters = std::move(meters);
    result.interrupted = interrupted;
    if (beside_streams) result.streams.resize(1);
    result.verdict = {true, "0 of 48 frames were dropped", Limit::none};
    judge_meters(result);
    return result.verdict;
}

TEST(MeterResults, PassWhereAllOfThemHadAnswers) {
    const Verdict verdict = verdict_on({meter("a", 1000, 4), meter("b", 1, 0)});
    EXPECT_TRUE(verdict.pass);
    EXPECT_THAT(verdict.reason, HasSubstr("1,001 operations; none failed"));
    EXPECT_EQ(verdict_on({meter("a", 1, 0)}, true).reason, "0 of 48 frames were dropped");
}

TEST(MeterResults, NothingDoneIsNothingToJudge) {
    const Verdict nothing = verdict_on({meter("a", 0, 0)});
    EXPECT_FALSE(nothing.pass);
    EXPECT_EQ(nothing.limit, Limit::unknown);
    MeterResult waiting = meter("a", 0, 0);
    waiting.wall_ns = 1'000'000'000;
    EXPECT_TRUE(verdict_on({waiting}, true).pass);  // none of its operations was due
}

TEST(MeterResults, OneThatNeverRanFails) {
    for (const bool beside_streams : {false, true}) {
        const Verdict verdict = verdict_on({meter("a", 1000, 0), meter("b", 0, 0)}, beside_streams);
        EXPECT_FALSE(verdict.pass);
        EXPECT_EQ(verdict.limit, Limit::unknown) << "that is not the storage's";
        EXPECT_THAT(verdict.reason, HasSubstr("meter b never ran"));
    }
    EXPECT_TRUE(verdict_on({meter("a", 1000, 0), meter("b", 0, 0)}, true, true).pass);  // interrupted before
}

TEST(MeterResults, OneWithoutAnyAnswerFails) {
    for (const bool beside_streams : {false, true}) {
        const Verdict verdict = verdict_on({meter("a", 1000, 0), meter("b", 0, 3)}, beside_streams);
        EXPECT_FALSE(verdict.pass);
        EXPECT_EQ(verdict.limit, Limit::storage);
        EXPECT_THAT(verdict.reason, HasSubstr("meter b had no answer to any of its 3 operations"));
    }
    EXPECT_TRUE(
        verdict_on({meter("a", 1000, 0), meter("b", 0, 3)}, false, true).pass);  // it was not given the time
}

TEST(MeterResults, BlocksOfALongTransferAreAnswers) {
    MeterResult copying = meter("a", 0, 1);
    copying.blocks_done = 70;
    const Verdict verdict = verdict_on({copying});
    EXPECT_TRUE(verdict.pass);
    EXPECT_THAT(verdict.reason, HasSubstr("70 blocks"));
}

TEST(MeterResults, FailedOperationsFailTheVerdictAndAreNamed) {
    MeterResult full = meter("a", 90, 0);
    full.all.failed = 10;
    full.errors.push_back({LoadOperation::write, ENOSPC, 10, "/mnt/a/file"});
    EXPECT_EQ(verdict_on({full}).reason,
              "10 of 100 operations of the meters failed, the first with ENOSPC (write) on /mnt/a/file");
    EXPECT_THAT(verdict_on({full}, true).reason, HasSubstr("the streams played, but 10 of 100"));
}

TEST(MeterResults, ASyncOrAnOpenThatFailsBesideTheOperationsFailsTheVerdict) {
    MeterResult copied = meter("a", 100, 0);
    copied.errors.push_back({LoadOperation::write, ENOSPC, 1, "/mnt/a/file"});
    const Verdict verdict = verdict_on({meter("b", 7, 0), copied});
    EXPECT_FALSE(verdict.pass);
    EXPECT_EQ(verdict.limit, Limit::storage);
    EXPECT_EQ(verdict.reason, "the sync at the end of /mnt/a/file failed with ENOSPC");
    EXPECT_EQ(verdict_on({copied}, true).reason,
              "the streams played, but the sync at the end of /mnt/a/file failed with ENOSPC");
    copied.errors.front() = {LoadOperation::open, EACCES, 1, "/mnt/a/file"};
    EXPECT_EQ(verdict_on({copied}).reason, "the open before play of /mnt/a/file failed with EACCES");
    EXPECT_FALSE(verdict_on({copied}, false, true).pass);
}

TEST(MeterResults, OperationsThatFailAfterTheEndFailTheVerdict) {
    MeterResult hung = meter("a", 1000, 2);
    hung.failed_after_end = 2;
    hung.errors.push_back({LoadOperation::write, ETIMEDOUT, 2, "/mnt/a/file"});
    const Verdict verdict = verdict_on({meter("b", 7, 0), hung});
    EXPECT_FALSE(verdict.pass);
    EXPECT_EQ(verdict.limit, Limit::storage);
    EXPECT_EQ(
        verdict.reason,
        "2 operations of the meters failed after the end, the first with ETIMEDOUT (write) on /mnt/a/file");
    EXPECT_THAT(verdict_on({hung}, true).reason,
                HasSubstr("the streams played, but 2 operations of the meters failed after the end"));
    hung.all.failed = 1;
    EXPECT_THAT(verdict_on({hung}).reason, HasSubstr("1 of 1,001 operations of the meters failed, the first"));
}

/// The limit of a run of one meter with these errors, each so many times.
Limit limit_of_errors(const std::vector<std::pair<int, std::uint64_t>>& errors, const char* mount_type) {
    RunResult result;
    result.mount.emplace().type = mount_type;
    result.meters = {meter("a", 90, 0)};
    for (const auto& [error, times] : errors) {
        result.meters.front().all.failed += times;
        result.meters.front().errors.push_back({LoadOperation::read, error, times, "/mnt/a/file"});
    }
    judge_meters(result);
    EXPECT_FALSE(result.verdict.pass);
    return result.verdict.limit;
}

TEST(MeterResults, ErrorsOfThisComputerAndOfTheNetworkAreNotTheStorages) {
    for (const int error : {EMFILE, ENFILE, ENOMEM, ENOBUFS, EADDRNOTAVAIL})
        EXPECT_EQ(limit_of_errors({{error, 1}}, "ext4"), Limit::client_cpu) << error;
    for (const int error : {EHOSTUNREACH, ENETUNREACH, ENETDOWN})
        EXPECT_EQ(limit_of_errors({{error, 1}}, "nfs4"), Limit::network) << error;
    for (const int error : {ETIMEDOUT, EPIPE, ENOTCONN}) {
        EXPECT_EQ(limit_of_errors({{error, 1}}, "nfs4"), Limit::unknown) << error;
        EXPECT_EQ(limit_of_errors({{error, 1}}, "ext4"), Limit::storage) << error;
    }
    for (const int error : {EIO, ENOSPC, ECONNREFUSED, ECONNRESET})
        EXPECT_EQ(limit_of_errors({{error, 1}}, "nfs4"), Limit::storage) << error;
    EXPECT_EQ(limit_of_errors({{EMFILE, 2}, {EIO, 3}}, "ext4"), Limit::storage);
    EXPECT_EQ(limit_of_errors({{EMFILE, 4}, {EIO, 3}}, "ext4"), Limit::client_cpu);
}

TEST(MeterResults, ErrorsThatWereInjectedSayNothing) {
    RunResult result;
    result.faults_injected.emplace();
    result.meters = {meter("a", 90, 0)};
    result.meters.front().errors.push_back({LoadOperation::read, EMFILE, 1, "/mnt/a/file"});
    judge_meters(result);
    EXPECT_EQ(result.verdict.limit, Limit::unknown);
}

SeatResult seat_of(std::uint32_t rank, std::vector<std::uint32_t> seats, Verdict verdict) {
    SeatResult seat;
    seat.rank = rank;
    seat.seats = std::move(seats);
    seat.verdict = std::move(verdict);
    return seat;
}

Verdict verdict_of_ranks(RunResult result) {
    result.verdict = verdict_of_seats(result);
    judge_meters_of_seats(result);
    return result.verdict;
}

TEST(MeterResults, OfSeveralComputersAreJudgedTogetherWhereAllPass) {
    RunResult result;
    result.backend = "local";
    result.meters = {meter("a", 40, 0), meter("a", 60, 0)};
    result.seats = {seat_of(0, {0}, {true, "the meters did 40 operations; none failed", Limit::none}),
                    seat_of(1, {1}, {true, "the meters did 60 operations; none failed", Limit::none}),
                    seat_of(2, {}, nothing_assigned())};
    EXPECT_EQ(verdict_of_ranks(result).reason, "the meters did 100 operations; none failed");
    result.meters[1].all.failed = 1;
    result.seats[1].verdict = {false, "1 of 61 operations of the meters failed", Limit::storage};
    EXPECT_EQ(verdict_of_ranks(result).reason, "seat 1: 1 of 61 operations of the meters failed");
    EXPECT_EQ(verdict_of_ranks(result).limit, Limit::storage);
    result.backend = "null";
    EXPECT_EQ(verdict_of_ranks(result).limit, Limit::unknown);
    result.meters[1].all.failed = 0;
    result.seats[1].verdict.pass = true;
    result.seats[2].state = SeatResult::State::missing;
    result.seats[2].why = "its connection ended";
    EXPECT_FALSE(verdict_of_ranks(result).pass);
    EXPECT_THAT(verdict_of_ranks(result).reason, HasSubstr("rank 2: nothing is known of what it played"));
    result.seats[2].state = SeatResult::State::interrupted;
    result.seats[2].why = "it was interrupted";
    EXPECT_FALSE(verdict_of_ranks(result).pass) << "its load ended before that of the others";
    for (SeatResult& seat : result.seats) seat.state = SeatResult::State::interrupted;
    result.seats.pop_back();
    EXPECT_TRUE(verdict_of_ranks(result).pass) << "all worked as long as each other";
}

TEST(SeatVerdicts, AStallWeighsAsManyFramesAsItLasted) {
    RunResult result;
    result.streams.resize(1);  // 24 fps
    result.seats = {seat_of(0, {0}, {false, "packets were lost", Limit::network}),
                    seat_of(1, {1}, {false, "no data came", Limit::storage})};
    result.seats[0].totals.dropped = 10;
    result.seats[1].totals.stalls = 1;
    result.seats[1].totals.stall_ns = 2'000'000'000;
    EXPECT_EQ(verdict_of_seats(result).limit, Limit::storage);
    EXPECT_THAT(verdict_of_seats(result).reason, HasSubstr("as they should: seat 1: no data came; seat 0"));
    result.seats[1].totals.stall_ns = 300'000'000;
    EXPECT_EQ(verdict_of_seats(result).limit, Limit::network);
}

TEST(SeatVerdicts, WithoutMissedFramesHaveTheLimitThatAllAgreeOn) {
    RunResult result;
    const Verdict failed = {false, "a recording vanished", Limit::storage};
    result.seats = {seat_of(0, {0}, failed), seat_of(1, {1}, {true, "every frame was on time", Limit::none}),
                    seat_of(2, {2}, failed)};
    EXPECT_EQ(verdict_of_seats(result).limit, Limit::storage);
    result.seats[2].verdict.limit = Limit::client_cpu;
    EXPECT_EQ(verdict_of_seats(result).limit, Limit::unknown);
}

TEST(SeatVerdicts, ASeatThatBeganLongAfterTheOthersDidNotPlayWithThem) {
    RunResult result;
    result.seats = {seat_of(0, {0}, {true, "every frame was on time", Limit::none}),
                    seat_of(1, {1}, {true, "every frame was on time", Limit::none})};
    result.seats[1].start_late_ns = 500'000'000;
    judge_start(result.seats[1]);
    EXPECT_TRUE(verdict_of_seats(result).pass) << "clocks err, and computers are busy";
    result.seats[1].start_late_ns = 12'900'000'000;
    judge_start(result.seats[1]);
    EXPECT_FALSE(verdict_of_seats(result).pass);
    EXPECT_EQ(verdict_of_seats(result).reason, "seat 1: it began 12.9 s after the others");
    result.meters = {meter("a", 40, 0)};
    EXPECT_FALSE(verdict_of_ranks(result).pass) << "nor did its meters";
}

TEST(SeatVerdicts, TheReasonIsNotThatOfComputersWithoutStreams) {
    RunResult result;
    result.seats = {seat_of(0, {0}, {true, "every frame was on time", Limit::none}),
                    seat_of(1, {1}, nothing_assigned()), seat_of(2, {2}, nothing_assigned())};
    result.seats[0].totals.scheduled = 100;
    EXPECT_EQ(verdict_of_seats(result).reason, "every frame was on time");
    result.seats[0].totals.scheduled = 0;
    result.meters = {meter("a", 40, 0)};  // of seat 0
    EXPECT_EQ(verdict_of_seats(result).reason, "every frame was on time");
    result.seats.erase(result.seats.begin());
    EXPECT_EQ(verdict_of_seats(result).reason, nothing_assigned().reason);
}

TEST(SeatMounts, ThatAreOfADiskAndOfAServerAreNotOneStorage) {
    RunResult result;
    result.verdict = {true, "every frame was on time", Limit::none};
    for (std::uint32_t i = 0; i < 3; ++i) {
        MountFacts& mount = result.seats.emplace_back(seat_of(i, {i}, result.verdict)).mount.emplace();
        mount.type = "nfs4";
        mount.point = mount.target = "/mnt/x";
    }
    MountFacts& other = *result.seats[1].mount;
    judge_mounts(result);
    EXPECT_TRUE(result.verdict.pass);
    EXPECT_THAT(result.notices, testing::IsEmpty());
    other.type = "cifs";
    judge_mounts(result);
    EXPECT_TRUE(result.verdict.pass);
    EXPECT_THAT(result.notices, ElementsAre("seat 1 reads cifs on /mnt/x, and the others nfs4 on /mnt/x"));
    other.type = "tmpfs";
    other.target.clear();  // streams of a scenario on several targets
    judge_mounts(result);
    EXPECT_TRUE(result.verdict.pass);
    other.target = "/mnt/x";
    judge_mounts(result);
    EXPECT_FALSE(result.verdict.pass);
    EXPECT_THAT(result.verdict.reason, HasSubstr("not read one storage: seat 1 reads tmpfs on /mnt/x, and"));
}

TEST(SeatNames, ListFewSeatsAndCountMany) {
    EXPECT_EQ(seat_list({2}), "seat 2");
    EXPECT_EQ(seat_list({4, 5, 6}), "seats 4 to 6");
    EXPECT_EQ(seat_list({1, 5}), "seats 1 and 5");
    EXPECT_EQ(seat_list({0, 4, 8, 12, 16}), "seats 0, 4, 8, 12 and 16");
    EXPECT_EQ(seat_list({0, 4, 8, 12, 16, 20}), "seats 0, 4, 8, 12 and 2 more");
    EXPECT_EQ(seat_name(seat_of(3, {}, {})), "rank 3");
}

}  // namespace
}  // namespace streamsim::judge
