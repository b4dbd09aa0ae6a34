#include "judge/claims/claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace streamsim::judge {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr double kHourNs = 3.6e12;
constexpr std::int64_t kSecondNs = 1'000'000'000;

/// Events at these hours, each of no length.
ClaimPlay play_of(const std::vector<double>& hours,
                  std::uint64_t streams,
                  double run_hours,
                  std::uint64_t hit = 1) {
    ClaimPlay play;
    for (const double hour : hours) {
        const auto at_ns = static_cast<std::int64_t>(hour * kHourNs);
        play.events.push_back({at_ns, at_ns, hit});
    }
    play.streams = streams;
    play.run_hours = run_hours;
    play.stream_hours = run_hours * static_cast<double>(streams);
    return play;
}

/// Events in the middle of equal parts of the time: they come neither in groups nor at its ends.
std::vector<double> spread(int count, double hours) {
    std::vector<double> out;
    for (int i = 0; i < count; ++i) out.push_back(hours * (i + 0.5) / count);
    return out;
}

TEST(Claims, AreThoseOfTheRuleOfThreeWithoutAnEvent) {
    const Claims claims = claims_of(play_of({}, 1, 4));
    EXPECT_NEAR(claims.per_stream_day.high, std::log(20) / 4 * 24, 1e-9);
    EXPECT_EQ(claims.per_stream_day.low, 0);
    EXPECT_EQ(claims.sentence, "no drop event in 4 stream-hours: at 95 %, fewer than 18 a day and stream");
}

TEST(Claims, GiveTheBoundOfStreamsThatDropTogether) {
    const Claims claims = claims_of(play_of({}, 4, 1));
    EXPECT_NEAR(claims.per_stream_day.high, std::log(20) / 4 * 24, 1e-9);
    EXPECT_NEAR(claims.per_stream_day_together.high, std::log(20) * 24, 1e-9);
    EXPECT_EQ(claims.sentence,
              "no drop event in 4 stream-hours: at 95 %, fewer than 18 a day and stream if streams drop "
              "independently, 72 if they drop together");
}

// The 95 % limits of a Poisson mean in Garwood's table (Biometrika 28, 1936), to the digits that tables print.
TEST(Claims, HaveGarwoodsIntervals) {
    struct Row {
        int events;
        double low, high;
    };
    for (const auto& [events, low, high] :
         {Row{1, 0.03, 5.57}, Row{3, 0.62, 8.77}, Row{10, 4.80, 18.39}, Row{50, 37.11, 65.92}}) {
        const Claims claims = claims_of(play_of(spread(events, 24), 1, 24));
        EXPECT_FALSE(claims.grouped);
        EXPECT_NEAR(claims.per_stream_day.low, low, 0.005) << events;
        EXPECT_NEAR(claims.per_stream_day.high, high, 0.005) << events;
    }
}

TEST(Claims, SayTheIntervalOfEvents) {
    EXPECT_EQ(claims_of(play_of(spread(3, 4), 1, 4)).sentence,
              "3 drop events in 4 stream-hours: at 95 %, 4 to 53 a day and stream");
}

TEST(Claims, CountAnEventForEachStreamThatItHits) {
    const Claims claims = claims_of(play_of(spread(3, 1), 8, 1, 8));
    const Claims one = claims_of(play_of(spread(3, 1), 1, 1));
    EXPECT_EQ(claims.drop_events, 3u);
    EXPECT_EQ(claims.stream_drop_events, 24u);
    // Eight streams that always drop together say no more about a stream than one.
    EXPECT_NEAR(claims.per_stream_day.low, one.per_stream_day.low, 1e-9);
    EXPECT_NEAR(claims.per_stream_day.high, one.per_stream_day.high, 1e-9);
}

TEST(Claims, TakeEventsThatOverlapAsOne) {
    ClaimPlay play = play_of({}, 4, 1);
    play.events = {{10 * kSecondNs, 12 * kSecondNs, 2}, {11 * kSecondNs, 13 * kSecondNs, 3}};
    const Claims claims = claims_of(play);
    EXPECT_EQ(claims.drop_events, 1u);
    EXPECT_EQ(claims.stream_drop_events, 4u);
}

TEST(Claims, FindEventsThatComeInGroups) {
    std::vector<double> hours;
    for (const double group : {0.6, 1.7, 3.1}) {
        for (int i = 0; i < 4; ++i) hours.push_back(group + i * 0.003);
    }
    const Claims claims = claims_of(play_of(hours, 1, 4));
    EXPECT_TRUE(claims.grouped);
    EXPECT_EQ(claims.drop_events, 12u);
    EXPECT_EQ(claims.groups, 3u);
    EXPECT_NEAR(claims.per_stream_day.estimate, 18, 1);
    EXPECT_THAT(claims.sentence,
                StartsWith("the events come in groups: 12 drop events in 3 groups in 4 stream-hours"));
    EXPECT_THAT(claims.sentence, HasSubstr("groups a day and stream"));
}

TEST(Claims, RejectEventsAtRandomAboutAsOftenAsTheTestSays) {
    std::mt19937_64 random(7);
    std::exponential_distribution<double> wait(1e-12);
    int rejected = 0;
    constexpr int kRuns = 2000;
    for (int run = 0; run < kRuns; ++run) {
        std::vector<std::int64_t> waits;
        for (int i = 0; i < 8; ++i) waits.push_back(static_cast<std::int64_t>(wait(random)));
        rejected += *dispersion_p(waits) < 0.05;
    }
    EXPECT_NEAR(static_cast<double>(rejected) / kRuns, 0.05, 0.02);
}

TEST(Claims, NameTheModel) {
    ClaimPlay play = play_of({}, 1, 4);
    play.of_model = true;
    EXPECT_THAT(claims_of(play).sentence, HasSubstr("4 stream-hours of the model"));
}

TEST(Claims, GiveNoRateWhereDroppingLasts) {
    ClaimPlay play = play_of({}, 1, 1);
    play.events = {{kSecondNs, 3000 * kSecondNs, 1}};
    EXPECT_EQ(claims_of(play).sentence, "1 drop event in 1 stream-hour: dropping lasts for 83 % of the time");
}

RunResult result_of(std::uint64_t startup_frames) {
    RunResult result;
    StreamResult stream;
    stream.last_due_ns = 3600 * kSecondNs;
    result.streams = {stream, stream};
    result.streams[1].play_start_ns = 60 * kSecondNs;
    MissEvent event;
    event.from_ns = event.to_ns = kSecondNs / 2;
    event.frames = 3;
    event.startup_frames = startup_frames;
    event.streams = 1;
    result.events = {event};
    return result;
}

TEST(Claims, LeaveOutDropsOfTheFirstSecondAsTheVerdictDoes) {
    EXPECT_EQ(claims_of(result_of(3))->drop_events, 0u);
    EXPECT_EQ(claims_of(result_of(2))->drop_events, 1u);
}

TEST(Claims, HaveTheHoursOfTheStreamsAndOfTheRun) {
    const auto claims = claims_of(result_of(3));
    EXPECT_NEAR(claims->stream_hours, 2, 1e-9);
    EXPECT_NEAR(claims->run_hours, 1 + 60.0 / 3600, 1e-9);
}

TEST(Claims, CountNoHoursInWhichNoStreamPlays) {
    RunResult result = result_of(2);
    result.streams[1].play_start_ns = 36'000 * kSecondNs;
    MissEvent second = result.events[0];
    second.from_ns = second.to_ns = 36'010 * kSecondNs;
    result.events.push_back(second);
    const auto claims = claims_of(result);
    EXPECT_NEAR(claims->run_hours, 2, 1e-9);
    RunResult without = result;
    without.streams[1].play_start_ns = 3600 * kSecondNs;
    without.events[1].from_ns = without.events[1].to_ns = 3610 * kSecondNs;
    EXPECT_DOUBLE_EQ(claims->per_stream_day_together.high, claims_of(without)->per_stream_day_together.high);
    EXPECT_EQ(claims->dispersion_p, claims_of(without)->dispersion_p);
    EXPECT_EQ(claims->sentence, claims_of(without)->sentence);
}

TEST(Claims, AreNotMadeWithoutDeadlines) {
    RunResult result = result_of(0);
    for (StreamResult& stream : result.streams) stream.paced = false;
    EXPECT_FALSE(claims_of(result));
    EXPECT_FALSE(claims_of(RunResult()));
}

TEST(Claims, GiveNoRateWhereMissedFramesAreNotListed) {
    RunResult result = result_of(0);
    result.drops_omitted = 5;
    EXPECT_EQ(claims_of(result)->per_stream_day.high, 0);
    EXPECT_EQ(claims_of(result)->sentence, "1 drop event listed, and 5 missed frames not: no rate is claimed");
    result.drops_omitted = 0;
    result.totals.stalls = 7;
    result.events[0].stalls = 4;
    EXPECT_EQ(claims_of(result)->sentence, "1 drop event listed, and 3 missed frames not: no rate is claimed");
}

TEST(Claims, WeighAGroupByItsEventThatHitMostStreams) {
    ClaimPlay some = play_of({}, 4, 4), all = play_of({}, 4, 4);
    for (const double group : {0.6, 1.7, 3.1}) {
        for (int i = 0; i < 4; ++i) {
            const auto at_ns = static_cast<std::int64_t>((group + i * 0.003) * kHourNs);
            some.events.push_back({at_ns, at_ns, i == 2 ? 4U : 1U});
            all.events.push_back({at_ns, at_ns, 4});
        }
    }
    EXPECT_TRUE(claims_of(some).grouped);
    EXPECT_DOUBLE_EQ(claims_of(some).per_stream_day.estimate, claims_of(all).per_stream_day.estimate);
}

TEST(Claims, DoNotDependOnWhenTheRunBegan) {
    RunResult early = result_of(0);
    early.events[0].to_ns = early.events[0].from_ns + 600 * kSecondNs;
    RunResult late = early;
    for (StreamResult& stream : late.streams) stream.play_start_ns += 36'000 * kSecondNs;
    late.events[0].from_ns += 36'000 * kSecondNs;
    late.events[0].to_ns += 36'000 * kSecondNs;
    EXPECT_EQ(claims_of(late)->sentence, claims_of(early)->sentence);
    EXPECT_DOUBLE_EQ(claims_of(late)->per_stream_day.high, claims_of(early)->per_stream_day.high);
}

}  // namespace
}  // namespace streamsim::judge
