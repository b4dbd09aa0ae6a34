// When a meter's operations begin, and what its latencies count from.
#include <cmath>

#include "base/prng.h"
#include "unit/load/meter_rig.h"

namespace streamsim::test {
namespace {

using testing::ElementsAre;

/// Milliseconds after the start of play at which each read was submitted.
std::vector<double> begins(const Rig& rig) {
    std::vector<double> out;
    for (const Asked& each : rig.asked(Asked::read))
        out.push_back(static_cast<double>((each.at - rig.start()).ns) / 1e6);
    return out;
}

Rig& reads(Rig& rig, double per_s = 0, MeterSpec::Loop loop = MeterSpec::Loop::closed) {
    rig.weigh(LoadOperation::read, 1);
    rig.spec.operations_per_s = per_s;
    rig.spec.loop = loop;
    return rig;
}
Rig& arriving(Rig& rig, double per_s) {
    return reads(rig, per_s, MeterSpec::Loop::open);
}

TEST(MeterSchedule, AClosedLoopBeginsWhenTheLastIsComplete) {
    Rig rig;
    reads(rig).spec.inflight = 3;
    rig.run(seconds(10));
    EXPECT_EQ(rig.result.all.done, 3000u) << "the last three are complete at the end itself";
    EXPECT_EQ(rig.result.unfinished, 0u);
    EXPECT_EQ(rig.storage.most_outstanding, 3u);
    EXPECT_EQ(rig.result.wall_ns, seconds(10).ns);
    EXPECT_EQ(rig.result.all.service_sum_ns, 3000 * milliseconds(10).ns);
    EXPECT_EQ(rig.result.all.response_sum_ns, rig.result.all.service_sum_ns);
    EXPECT_EQ(rig.result.all.service_ns->p50, rig.result.all.service_ns->max);
}

TEST(MeterSchedule, ThinkTimeComesAfterEachOperation) {
    Rig rig;
    reads(rig).spec.think_time = milliseconds(40);
    rig.run(milliseconds(210));
    EXPECT_THAT(begins(rig), ElementsAre(0, 50, 100, 150, 200));
    EXPECT_EQ(rig.result.all.done, 5u);
}

TEST(MeterSchedule, AClosedLoopKeepsBelowItsLimitAndDoesNotCatchUp) {
    Rig rig;
    reads(rig, 10).storage.stall_from = rig.start() + milliseconds(200);
    rig.storage.stall_to = rig.start() + milliseconds(420);
    rig.run(milliseconds(700));
    EXPECT_THAT(begins(rig), ElementsAre(0, 100, 200, 430, 530, 630));
}

TEST(MeterSchedule, ALimitIsSpreadOverTheUsers) {
    Rig rig;
    reads(rig, 10).spec.users = 4;
    rig.run(milliseconds(200));
    EXPECT_THAT(begins(rig), ElementsAre(0, 25, 50, 75, 100, 125, 150, 175));
}

TEST(MeterSchedule, ConstantArrivalsDoNotDependOnCompletions) {
    Rig rig;
    arriving(rig, 100).spec.inflight = 50;
    rig.storage.fixed = milliseconds(95);
    rig.run(seconds(10));
    EXPECT_EQ(rig.result.arrived, 1000u);
    EXPECT_EQ(rig.result.all.done, 991u);
    EXPECT_EQ(rig.result.unfinished, 9u) << "95 ms at the end";
    const auto at = begins(rig);
    for (std::size_t i = 0; i < at.size(); ++i) ASSERT_EQ(at[i], static_cast<double>(i) * 10);
    EXPECT_EQ(rig.storage.most_outstanding, 10u);
}

TEST(MeterSchedule, ArrivalsOfUsersOnAllSeatsAreSpreadEvenly) {
    Rig rig;
    arriving(rig, 10).spec.users = 2;
    rig.plan.seats = 2;
    rig.plan.first_user = 2;
    rig.run(milliseconds(200));
    EXPECT_THAT(begins(rig), ElementsAre(50, 75, 150, 175)) << "the other seat has 0, 25, 100, 125";
}

TEST(MeterSchedule, AStallShowsInFullInTheLatencyFromTheIntendedTime) {
    Rig rig;
    arriving(rig, 100).storage.fixed = milliseconds(1);
    rig.storage.stall_from = rig.start() + seconds(1);
    rig.storage.stall_to = rig.start() + seconds(2);
    rig.run(seconds(5));
    EXPECT_EQ(rig.result.all.done, 500u);
    EXPECT_EQ(rig.result.all.response_ns->max, milliseconds(1001).ns);
    // The k-th after the stall began is complete at 2 s + (1 + k) ms and was intended at 1 s + 10 k ms: 112 of
    // them take 1001 - 9 k ms, the 388 others 1 ms.
    std::int64_t sum = 388;
    for (int k = 0; k < 112; ++k) sum += 1001 - 9 * k;
    EXPECT_EQ(rig.result.all.response_sum_ns, milliseconds(sum).ns);
    EXPECT_EQ(rig.result.all.service_sum_ns, milliseconds(1001 + 499).ns) << "in one operation alone";
    EXPECT_NEAR(static_cast<double>(rig.result.all.service_ns->p99), 1e6, 1e6 / 256);
    EXPECT_GT(rig.result.all.response_ns->p90, milliseconds(500).ns);
    std::int64_t worst = 0;
    for (const auto& point : rig.result.series) worst = std::max(worst, point.response_max_ns);
    EXPECT_EQ(worst, milliseconds(1001).ns);
}

TEST(MeterSchedule, WhatStandsInLineAtTheEndIsUnfinished) {
    Rig rig;
    arriving(rig, 1000).run(seconds(1));
    EXPECT_EQ(rig.result.arrived, 1000u);
    EXPECT_EQ(rig.result.all.done, 100u) << "10 ms each, one at once";
    EXPECT_EQ(rig.result.unfinished, 900u);
    EXPECT_EQ(rig.asked(Asked::read).size(), 100u);
}

TEST(MeterSchedule, ALongLineAtTheEndIsCountedWithoutALoop) {
    Rig rig;
    arriving(rig, 1e8).storage.fixed = seconds(1000);
    rig.run(seconds(10'000));
    EXPECT_EQ(rig.result.arrived, 1'000'000'000'000u);
    EXPECT_EQ(rig.result.all.done, 9u) << "the open took the first 1000 s";
}

TEST(MeterSchedule, ALongLineOfPoissonArrivalsIsCountedInManyTurnsOfTheLoop) {
    struct Ender {
        Rig rig;
        std::uint64_t at_once = 0;
        void end() {
            rig.meter->interrupt();
            at_once = rig.meter->result_so_far()->arrived;
        }
    } ender;
    arriving(ender.rig, 1e6).spec.arrival = MeterSpec::Arrival::poisson;
    ender.rig.loop.at(ender.rig.start() + milliseconds(100), Callback::of<&Ender::end>(&ender));
    const std::uint64_t arrived = ender.rig.run(seconds(10)).arrived;
    load::PoissonTimes times(derive_seed(derive_seed(ender.rig.plan.seed, 0), 1), 1e6);
    std::uint64_t all = 0;
    while (times.next() < milliseconds(100)) ++all;
    EXPECT_EQ(arrived, all);
    EXPECT_LT(ender.at_once, all / 2);
}

TEST(MeterSchedule, PoissonArrivalsHaveTheRateAndItsSpread) {
    Rig rig;
    arriving(rig, 50).spec.arrival = MeterSpec::Arrival::poisson;
    rig.spec.users = 40;
    rig.spec.inflight = 100;
    rig.run(seconds(20));
    // 40,000 are expected, with a standard deviation of 200; in each 10 ms 20, with a variance of 20.
    EXPECT_NEAR(static_cast<double>(rig.result.arrived), 40'000, 4 * 200);
    std::vector<double> counts(2000);
    for (const double at : begins(rig)) ++counts[static_cast<std::size_t>(at / 10)];
    double sum = 0, squares = 0;
    for (const double count : counts) sum += count, squares += count * count;
    const double mean = sum / 2000, variance = squares / 2000 - mean * mean;
    EXPECT_NEAR(variance / mean, 1, 4 * std::sqrt(2.0 / 2000)) << "four standard errors of 2000 counts";
    EXPECT_EQ(rig.result.all.response_sum_ns, rig.result.all.service_sum_ns)
        << "an in-flight slot was always free";
}

TEST(MeterSchedule, UsersBeginOneAfterTheOther) {
    Rig rig;
    reads(rig).spec.users = 3;
    rig.spec.one_more_every = milliseconds(1500);
    rig.spec.start = seconds(1);
    rig.plan.first_user = 1;
    rig.run(seconds(7));
    std::vector<Instant> first(3, Instant::never());
    for (const Asked& each : rig.asked(Asked::read)) first[each.user] = std::min(first[each.user], each.at);
    EXPECT_EQ(first[0], rig.start() + milliseconds(2500));
    EXPECT_EQ(first[1], rig.start() + milliseconds(4000));
    EXPECT_EQ(first[2], rig.start() + milliseconds(5500));
    EXPECT_EQ(rig.result.all.done, 450u + 300 + 150);
    EXPECT_EQ(rig.result.wall_ns, seconds(6).ns);
    std::vector<std::uint64_t> users, done;
    for (const auto& point : rig.result.series) users.push_back(point.users), done.push_back(point.operations);
    EXPECT_EQ(rig.result.interval_ns, seconds(1).ns);
    EXPECT_THAT(users, ElementsAre(0, 1, 1, 2, 3, 3, 3)) << "at the end of each second";
    EXPECT_THAT(done, ElementsAre(0, 49, 100, 199, 249, 300, 3)) << "what completes at 6 s belongs to the next";
}

TEST(MeterSchedule, ItEndsAtItsOwnEndOrAtThatOfTheRun) {
    for (const bool own : {true, false}) {
        Rig rig;
        reads(rig).spec.end = own ? seconds(2) : seconds(9);
        rig.spec.start = milliseconds(500);
        rig.run(own ? seconds(5) : seconds(2));
        EXPECT_EQ(rig.result.all.done, 150u);
        EXPECT_EQ(rig.result.wall_ns, milliseconds(1500).ns);
    }
}

TEST(MeterSchedule, ABurstComesFirstAndTheRestWhenItIsComplete) {
    Rig rig;
    arriving(rig, 10).spec.burst = 5;
    rig.spec.inflight = 2;
    rig.run(milliseconds(300));
    EXPECT_THAT(begins(rig), ElementsAre(0, 0, 10, 10, 20, 30, 130, 230));
    EXPECT_EQ(rig.result.arrived, 8u);
    EXPECT_EQ(rig.result.all.done, 8u);
    EXPECT_EQ(rig.result.all.response_sum_ns, milliseconds(80).ns);
}

TEST(MeterSchedule, ABurstBeforeAClosedLoopHasNoThinkTime) {
    Rig rig;
    reads(rig).spec.burst = 3;
    rig.spec.think_time = milliseconds(50);
    rig.run(milliseconds(200));
    EXPECT_THAT(begins(rig), ElementsAre(0, 10, 20, 80, 140));
}

TEST(MeterSchedule, OneSeedGivesOneRun) {
    const auto rows = [](std::uint64_t seed) {
        Rig rig;
        reads(rig).weigh(LoadOperation::write, 1);
        rig.plan.seed = seed;
        rig.spec.random_share = 0.5;
        rig.spec.users = 3;
        rig.spec.inflight = 2;
        rig.run(milliseconds(500));
        std::vector<std::vector<std::uint64_t>> out;
        for (const OperationRow& row : rig.meter->rows())
            out.push_back({row.user, row.transfer, static_cast<std::uint64_t>(row.operation), row.offset});
        return out;
    };
    EXPECT_EQ(rows(1), rows(1));
    EXPECT_NE(rows(1), rows(2));
}

}  // namespace
}  // namespace streamsim::test
