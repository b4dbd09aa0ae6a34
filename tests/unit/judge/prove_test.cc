#include "judge/claims/prove.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace streamsim::judge {
namespace {

using testing::HasSubstr;

constexpr Duration kDay = seconds(86'400);

Duration days(double count) {
    return {std::llround(count * static_cast<double>(kDay.ns))};
}

TEST(Prove, ReadsRatesAsPeopleWriteThem) {
    EXPECT_EQ(*parse_prove("1 drop/day"), 1);
    EXPECT_EQ(*parse_prove("0.5 drops/day"), 0.5);
    EXPECT_EQ(*parse_prove("2 drops / hour"), 48);
    EXPECT_EQ(*parse_prove("7 drop events/week"), 1);
    EXPECT_EQ(*parse_prove("1drop/day"), 1);
    EXPECT_EQ(*parse_prove("0.05 drops/day"), 0.05);
    EXPECT_EQ(*parse_prove("100 drops/hour"), 2400);
    for (const char* text : {"0.049 drops/day", "2401 drops/day", "", "1", "1 drop", "-1 drop/day",
                             "0 drop/day", "1 drop/month", "1 frame/day", "9999 drops/day"})
        EXPECT_FALSE(parse_prove(text)) << text;
    // A document may hold a text of any length.
    const auto long_text = parse_prove(std::string(4'000'000, ' ') + "1 drop/day");
    ASSERT_FALSE(long_text);
    EXPECT_LT(long_text.error().problems.front().size(), 300u);
}

TEST(Prove, StandsAtTheEarliestWhenItSaid) {
    ProveTest test(1);
    const Duration needed = test.needed(0);
    EXPECT_NEAR(static_cast<double>(needed.ns) / static_cast<double>(kDay.ns), 3.3, 0.02);
    test.advance({}, needed - seconds(1));
    EXPECT_EQ(test.decided(), ProveDecision::undecided);
    test.advance({}, needed + kDay);
    EXPECT_EQ(test.decided(), ProveDecision::stands);
    EXPECT_NEAR(test.result().hours, static_cast<double>(needed.ns) / 3.6e12, 1e-6);
    EXPECT_EQ(prove_beginning(ProveTest(1)),
              "to prove fewer than 1 drop event a day at 95 % takes at least 3 days 8 h without a drop event");
}

TEST(Prove, TakesLongerWithEachEvent) {
    ProveTest test(1);
    test.advance({days(1)}, days(4));
    EXPECT_EQ(test.decided(), ProveDecision::undecided);
    EXPECT_GT(test.needed(1), days(5));
    test.advance({}, test.needed(1) + seconds(2));
    EXPECT_EQ(test.decided(), ProveDecision::stands);
    EXPECT_EQ(test.result().events, 1u);
}

TEST(Prove, FailsWithEventsThatComeTooOften) {
    ProveTest test(1);
    test.advance({days(0.01)}, days(0.02));
    EXPECT_EQ(test.decided(), ProveDecision::undecided) << "one event alone fails nothing";
    test.advance({days(0.05), days(0.1), days(0.2)}, days(1));
    EXPECT_EQ(test.decided(), ProveDecision::failed);
    EXPECT_THAT(test.result().sentence, HasSubstr("not fewer than 1 drop event a day at 95 %"));
}

TEST(Prove, TakesAStallOfAllStreamsAsOneEvent) {
    ProveTest test(1);
    std::vector<Duration> misses;
    for (int frame = 0; frame < 12; ++frame) {
        for (int stream = 0; stream < 8; ++stream) misses.push_back(days(0.1) + milliseconds(40 * frame));
    }
    test.advance(misses, days(0.2));
    EXPECT_EQ(test.result().events, 1u);
    EXPECT_EQ(test.decided(), ProveDecision::undecided);
}

TEST(Prove, TakesEventsWithinAMinuteAsOneGroup) {
    ProveTest test(1);
    std::vector<Duration> misses;
    for (int i = 0; i < 10; ++i) misses.push_back(days(0.1) + seconds(5 * i));
    test.advance(misses, days(0.2));
    EXPECT_EQ(test.result().events, 10u);
    EXPECT_EQ(test.result().groups, 1u);
    EXPECT_EQ(test.decided(), ProveDecision::undecided) << "one group is one observation";
    EXPECT_GT(test.result().needed_hours, 24 * 15) << "and each of its events makes the proof longer";
}

TEST(Prove, TakesTheTimeOfAnEventAsNoExposure) {
    std::vector<Duration> misses;
    for (int i = 0; i <= 100; ++i) misses.push_back(days(1) + milliseconds(500 * i));
    ProveTest lasting(1), brief(1);
    lasting.advance(misses, days(2));
    brief.advance({days(1)}, days(2));
    EXPECT_EQ(lasting.result().events, 1u);
    EXPECT_NEAR(lasting.result().needed_hours - brief.result().needed_hours, 50.0 / 3600, 1e-9);
}

TEST(Prove, NeverStandsWhileFramesAreMissed) {
    ProveTest test(1);
    for (int second = 0; second < 300 && test.decided() == ProveDecision::undecided; ++second)
        test.advance({milliseconds(1000 * second), milliseconds(1000 * second + 500)},
                     seconds(second) + milliseconds(600));
    EXPECT_EQ(test.decided(), ProveDecision::failed);
    EXPECT_LT(test.result().hours, 0.1);
}

TEST(Prove, DecidesTheSameHoweverOftenItIsTold) {
    const std::vector<Duration> misses = {days(0.5), days(2), days(6)};
    ProveTest once(1), often(1);
    once.advance(misses, days(30));
    Duration last;
    for (Duration at = seconds(977); at < days(30); at += seconds(977)) {
        std::vector<Duration> now;
        for (const Duration miss : misses) {
            if (miss > last && miss <= at) now.push_back(miss);
        }
        often.advance(now, at);
        last = at;
    }
    EXPECT_EQ(once.decided(), often.decided());
    EXPECT_DOUBLE_EQ(once.result().hours, often.result().hours);
}

/// The share of tests that end with the decision, where events come at random with this rate a day.
double share_of(ProveDecision decision, double per_day, int runs) {
    std::mt19937_64 random(3);
    std::exponential_distribution<double> wait(per_day);
    int found = 0;
    for (int run = 0; run < runs; ++run) {
        ProveTest test(1);
        std::vector<Duration> misses;
        const double longest = static_cast<double>(test.longest().ns) / static_cast<double>(kDay.ns);
        for (double at = wait(random); at < longest; at += wait(random)) misses.push_back(days(at));
        test.advance(misses, test.longest());
        found += test.decided() == decision;
    }
    return static_cast<double>(found) / runs;
}

TEST(Prove, KeepsItsErrors) {
    constexpr int kRuns = 400;
    constexpr double kByChance = 0.034;  // three standard deviations of 5 % in so many runs
    EXPECT_LE(share_of(ProveDecision::stands, 1, kRuns), kProveAlpha + kByChance);
    EXPECT_LE(share_of(ProveDecision::failed, 1, kRuns), kProveBeta + kByChance);
    EXPECT_GE(share_of(ProveDecision::stands, 0.1, kRuns), 0.95);
    EXPECT_GE(share_of(ProveDecision::failed, 5, kRuns), 0.95);
}

}  // namespace
}  // namespace streamsim::judge
