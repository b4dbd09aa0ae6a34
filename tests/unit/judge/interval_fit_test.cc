#include "judge/interval_fit.h"

#include <gtest/gtest.h>

#include <cmath>

namespace streamsim::judge {
namespace {

/// A processor of one second a second: so many streams of a cost play.
PlaysWith processor() {
    return [](double cost, std::uint32_t streams) { return streams * cost <= 1; };
}
/// A link.
PlaysWith link() {
    return [](double rate, std::uint32_t streams) { return streams <= rate; };
}

FitParameter parameter(bool rate) {
    FitParameter out;
    out.name = "p";
    out.rate = rate;
    out.least = rate ? 0.1 : 0.001;
    out.most = rate ? 1000 : 10;
    return out;
}

PublishedRow row(const char* id, std::uint32_t printed) {
    PublishedRow out;
    out.id = id;
    out.printed = printed;
    return out;
}

TEST(IntervalFit, ACostLiesBetweenOneMoreAndThePrinted) {
    const FitInterval interval = interval_of(parameter(false), row("a", 4), 5, processor());
    ASSERT_TRUE(interval.low && interval.high);
    EXPECT_NEAR(*interval.low, 0.2, 0.001);
    EXPECT_GT(*interval.low, 0.2) << "five do not play with it";
    EXPECT_NEAR(*interval.high, 0.25, 0.001);
    EXPECT_LE(*interval.high, 0.25) << "four do";
}

TEST(IntervalFit, ARateTheOtherWayAround) {
    const FitInterval interval = interval_of(parameter(true), row("a", 4), 5, link());
    ASSERT_TRUE(interval.low && interval.high);
    EXPECT_GE(*interval.low, 4);
    EXPECT_NEAR(*interval.low, 4, 0.02);
    EXPECT_LT(*interval.high, 5);
    EXPECT_NEAR(*interval.high, 5, 0.02);
}

TEST(IntervalFit, AnEndThatNothingShowsIsOpen) {
    const auto something_else = [](double cost, std::uint32_t streams) {
        return streams <= 4 && streams * cost <= 1;
    };
    const FitInterval interval = interval_of(parameter(false), row("a", 4), 5, something_else);
    EXPECT_FALSE(interval.low) << "five play with no cost";
    ASSERT_TRUE(interval.high);
    EXPECT_NEAR(*interval.high, 0.25, 0.001);
    const FitInterval nothing =
        interval_of(parameter(true), row("a", 4), 5, [](double, std::uint32_t) { return true; });
    EXPECT_FALSE(nothing.low || nothing.high);
}

TEST(IntervalFit, RowsTogetherLeaveTheirCommonPartAndItsMiddle) {
    const std::vector<FitInterval> rows = {{"a", 0.2, 0.25}, {"b", 0.22, 0.5}};
    const FittedParameter both = parameter_of(parameter(false), rows);
    EXPECT_EQ(both.low, 0.22);
    EXPECT_EQ(both.high, 0.25);
    EXPECT_FALSE(both.contradicted);
    EXPECT_DOUBLE_EQ(both.value, 0.2346) << "sqrt(0.22 * 0.25), in four digits";
    const FittedParameter without = parameter_of(parameter(false), rows, "a");
    EXPECT_EQ(without.low, 0.22);
    EXPECT_EQ(without.high, 0.5);
}

TEST(IntervalFit, OneEndIsNotReachedByTwoPercent) {
    EXPECT_NEAR(parameter_of(parameter(false), {{"a", std::nullopt, 0.25}}).value, 0.245, 1e-4);
    EXPECT_NEAR(parameter_of(parameter(true), {{"a", 100.0, std::nullopt}}).value, 102, 0.1);
}

TEST(IntervalFit, RowsThatContradictAreSaidTo) {
    const FittedParameter both = parameter_of(parameter(false), {{"a", 0.4, 0.5}, {"b", 0.1, 0.2}});
    EXPECT_TRUE(both.contradicted);
    EXPECT_NEAR(both.value, std::sqrt(0.4 * 0.2), 1e-3);
}

}  // namespace
}  // namespace streamsim::judge
