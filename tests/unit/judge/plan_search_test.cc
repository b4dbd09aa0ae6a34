// The search for plans against a list of all configurations, on spaces by chance.
#include "judge/search/plan_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "base/prng.h"

namespace streamsim::judge {
namespace {

using Rule = std::function<bool(const PlanLevels&)>;

PlanSpace space_of(const std::vector<std::vector<double>>& prices) {
    PlanSpace space;
    for (const auto& levels : prices) space.sizes.push_back(static_cast<std::uint32_t>(levels.size()));
    space.cost = [&prices](const PlanLevels& levels) {
        PlanCost cost;
        for (std::size_t i = 0; i < levels.size(); ++i) cost.price += prices[i][levels[i]];
        cost.watts = cost.price / 2;
        return cost;
    };
    return space;
}

std::vector<PlanLevels> all_of(const PlanSpace& space) {
    std::vector<PlanLevels> all = {PlanLevels()};
    for (const std::uint32_t size : space.sizes) {
        std::vector<PlanLevels> longer;
        for (const PlanLevels& each : all) {
            for (std::uint32_t level = 0; level < size; ++level) {
                longer.push_back(each);
                longer.back().push_back(level);
            }
        }
        all = std::move(longer);
    }
    return all;
}

/// Conditions of the kind that parts set: a sum of weighted levels, or the least of some, is enough.
Rule monotone_rule(Prng& chance, const std::vector<std::vector<double>>& prices) {
    std::vector<std::vector<double>> weights;
    std::vector<double> least;
    for (std::uint64_t i = 0; i < 1 + chance.below(4); ++i) {
        weights.emplace_back();
        double most = 0;
        for (const auto& levels : prices) {
            weights.back().push_back(chance.below(2) == 0 ? 0 : chance.unit());
            most += weights.back().back() * static_cast<double>(levels.size() - 1);
        }
        least.push_back(most * chance.unit());
    }
    return [weights, least](const PlanLevels& levels) {
        for (std::size_t i = 0; i < weights.size(); ++i) {
            double sum = 0;
            for (std::size_t j = 0; j < levels.size(); ++j) sum += weights[i][j] * levels[j];
            if (sum < least[i]) return false;
        }
        return true;
    };
}

std::vector<std::vector<double>> prices_by_chance(Prng& chance, std::size_t choices, std::uint64_t levels) {
    std::vector<std::vector<double>> prices(choices);
    for (auto& each : prices) {
        double price = 0;
        for (std::uint64_t i = 0; i < 1 + chance.below(levels); ++i) {
            each.push_back(price);
            price += static_cast<double>(chance.below(20));  // nothing, sometimes
        }
    }
    return prices;
}

/// By the definition: every configuration is played.
std::vector<PlanLevels> exhaustive(const PlanSpace& space, const Rule& plays, std::size_t most) {
    std::vector<PlanLevels> playing;
    for (PlanLevels& each : all_of(space)) {
        if (plays(each)) playing.push_back(std::move(each));
    }
    std::vector<PlanLevels> minimal;
    for (const PlanLevels& each : playing) {
        const bool more = std::any_of(playing.begin(), playing.end(), [&each](const PlanLevels& other) {
            return other != each && no_more_than(other, each);
        });
        if (!more) minimal.push_back(each);
    }
    const auto key = [&space](const PlanLevels& levels) {
        std::uint64_t sum = 0;
        for (const std::uint32_t level : levels) sum += level;
        return std::tuple(space.cost(levels).price, sum, levels);
    };
    std::sort(minimal.begin(), minimal.end(), [&key](const auto& a, const auto& b) { return key(a) < key(b); });
    if (minimal.size() > most) minimal.resize(most);
    return minimal;
}

Result<PlansFound> find(const PlanSpace& space,
                        const Rule& rule,
                        const PlanSearchOptions& options,
                        std::set<PlanLevels>* all_asked = nullptr) {
    std::set<PlanLevels> asked;
    auto found = find_plans(
        space, options,
        [&](const std::vector<PlanLevels>& all) -> Result<std::vector<bool>> {
            std::vector<bool> answers;
            for (const PlanLevels& each : all) {
                EXPECT_TRUE(asked.insert(each).second) << "asked twice";
                answers.push_back(rule(each));
            }
            return answers;
        },
        [&](const std::vector<PlanLevels>& all) -> Result<std::vector<bool>> {
            for (const PlanLevels& each : all) EXPECT_TRUE(rule(each));
            return std::vector<bool>(all.size(), true);
        });
    if (all_asked != nullptr) *all_asked = std::move(asked);
    return found;
}

TEST(PlanSearch, Finds50MonotoneSpacesAsExhaustiveSearchDoes) {
    std::size_t with_plans = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Prng chance(seed);
        const auto prices = prices_by_chance(chance, 2 + chance.below(3), 5);
        const PlanSpace space = space_of(prices);
        const Rule rule = monotone_rule(chance, prices);
        PlanSearchOptions options;
        options.at_once = 1 + seed % 3;
        options.checks = seed % 2 == 0 ? 0 : 5;  // checks change no answer here
        const auto found = find(space, rule, options);
        ASSERT_TRUE(found);
        EXPECT_EQ(found->plans, exhaustive(space, rule, options.plans)) << "seed " << seed;
        EXPECT_TRUE(found->contradictions.empty());
        with_plans += found->plans.empty() ? 0U : 1U;
    }
    EXPECT_GT(with_plans, 40U);
}

/// More of one choice is worse from some level on, whatever the others are.
TEST(PlanSearch, FindsTheCheapestOf50SpacesInWhichMoreIsWorse) {
    std::size_t told = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Prng chance(1000 + seed);
        auto prices = prices_by_chance(chance, 2 + chance.below(2), 4);
        const PlanSpace space = space_of(prices);
        const Rule monotone = monotone_rule(chance, prices);
        const std::size_t choice = chance.below(prices.size());
        const std::uint64_t worse = chance.below(prices[choice].size());
        const bool alone = chance.below(2) == 0;
        const Rule rule = [&](const PlanLevels& levels) {
            const bool others = alone || levels[(choice + 1) % levels.size()] > 0;
            return monotone(levels) && !(levels[choice] > worse && others);
        };
        PlanSearchOptions options;
        options.checks = 1000;  // the space has fewer
        const auto found = find(space, rule, options);
        ASSERT_TRUE(found);
        std::vector<PlanLevels> cheapest = exhaustive(space, rule, 1);
        ASSERT_EQ(found->plans.empty(), cheapest.empty()) << "seed " << seed;
        if (cheapest.empty()) continue;
        EXPECT_EQ(space.cost(found->plans.front()).price, space.cost(cheapest.front()).price)
            << "seed " << seed;
        for (const PlanContradiction& each : found->contradictions) {
            EXPECT_TRUE(rule(each.plays));
            EXPECT_FALSE(rule(each.fails));
            EXPECT_LT(each.plays[each.choice], each.fails[each.choice]);
        }
        told += found->contradictions.empty() ? 0U : 1U;
    }
    EXPECT_GT(told, 10U);
}

TEST(PlanSearch, TwelveChoicesWithFiveLevelsTakeAFewHundredPlays) {
    Prng chance(7);
    std::vector<std::vector<double>> prices(12);
    for (auto& each : prices) {
        const double step = static_cast<double>(1 + chance.below(50));
        for (int level = 0; level < 5; ++level) each.push_back(step * level);
    }
    const PlanSpace space = space_of(prices);
    // Three parts that need a least each, two sums of which one part can replace the other.
    const Rule rule = [](const PlanLevels& levels) {
        return levels[0] >= 2 && levels[3] >= 1 && levels[7] >= 3 && levels[1] + levels[2] >= 4 &&
               2 * levels[4] + levels[5] + levels[6] >= 7;
    };
    std::set<PlanLevels> asked;
    const auto found = find(space, rule, {}, &asked);
    ASSERT_TRUE(found);
    ASSERT_EQ(found->plans.size(), 4U);
    // Each condition by itself: choices are separate, so the cheapest is the sum of the cheapest.
    double least = prices[0][2] + prices[3][1] + prices[7][3];
    double pair = 1e9, three = 1e9;
    for (std::uint32_t a = 0; a < 5; ++a) {
        for (std::uint32_t b = 0; b < 5; ++b) {
            if (a + b >= 4) pair = std::min(pair, prices[1][a] + prices[2][b]);
            for (std::uint32_t c = 0; c < 5; ++c) {
                if (2 * a + b + c >= 7) three = std::min(three, prices[4][a] + prices[5][b] + prices[6][c]);
            }
        }
    }
    EXPECT_EQ(space.cost(found->plans.front()).price, least + pair + three);
    EXPECT_LT(asked.size(), 400U);
    RecordProperty("played", static_cast<int>(asked.size()));
    PlanSearchOptions unchecked;
    unchecked.checks = 0;
    std::set<PlanLevels> needed;
    ASSERT_TRUE(find(space, rule, unchecked, &needed));
    EXPECT_EQ(found->checked, PlanSearchOptions().checks);
    EXPECT_EQ(asked.size() - needed.size(), found->checked) << "each check is another one, not known before";
    for (const PlanLevels& each : asked) {
        if (needed.contains(each)) continue;
        EXPECT_LE(space.cost(each).price, space.cost(found->plans.front()).price);
    }
}

TEST(PlanSearch, GoesOnToTheNextWhereTheVerificationFails) {
    const std::vector<std::vector<double>> prices = {{0, 10, 20, 30}, {0, 1, 2, 3}};
    const PlanSpace space = space_of(prices);
    const auto short_run = [](const PlanLevels& levels) { return levels[0] + levels[1] >= 3; };
    std::vector<PlanLevels> verified;
    const auto found = find_plans(
        space, {},
        [&](const std::vector<PlanLevels>& all) -> Result<std::vector<bool>> {
            std::vector<bool> answers;
            for (const PlanLevels& each : all) answers.push_back(short_run(each));
            return answers;
        },
        [&](const std::vector<PlanLevels>& all) -> Result<std::vector<bool>> {
            std::vector<bool> answers;
            for (const PlanLevels& each : all) {
                verified.push_back(each);
                answers.push_back(each[0] >= 1);
            }
            return answers;
        });
    ASSERT_TRUE(found);
    ASSERT_FALSE(found->plans.empty());
    EXPECT_EQ(verified.front(), (PlanLevels{0, 3}));
    EXPECT_EQ(found->plans.front(), (PlanLevels{1, 2}));
}

TEST(PlanSearch, KeepsTheLimits) {
    const std::vector<std::vector<double>> prices = {{0, 10, 20, 30}, {0, 1, 2, 3}};
    const PlanSpace space = space_of(prices);
    const Rule rule = [](const PlanLevels& levels) { return levels[0] >= 2; };
    PlanSearchOptions options;
    options.most.price = 19;
    auto found = find(space, rule, options);
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->plans.empty());
    EXPECT_TRUE(found->most_plays);
    options.most = {1e9, 9};  // 10 W are needed
    found = find(space, rule, options);
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->plans.empty());
    found = find(space, [](const PlanLevels&) { return false; }, {});
    ASSERT_TRUE(found);
    EXPECT_FALSE(found->most_plays);
}

TEST(PlanSearch, EndsWithTheErrorOfThePlay) {
    const std::vector<std::vector<double>> prices = {{0, 1}};
    const auto found = find_plans(
        space_of(prices), {},
        [](const std::vector<PlanLevels>&) -> Result<std::vector<bool>> { return interrupted_error(); },
        [](const std::vector<PlanLevels>& all) -> Result<std::vector<bool>> {
            return std::vector<bool>(all.size(), true);
        });
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().kind, ErrorKind::interrupted);
}

TEST(PlanSearch, AsksAlongALineInEqualStepsAndThenBetweenThem) {
    std::vector<std::vector<double>> prices(1);
    for (int level = 0; level < 15; ++level) prices[0].push_back(level);
    PlanSearchOptions options;
    options.checks = 0;
    std::set<PlanLevels> asked;
    const auto found = find(
        space_of(prices), [](const PlanLevels& levels) { return levels[0] >= 13; }, options, &asked);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->plans, std::vector<PlanLevels>{{13}});
    EXPECT_EQ(asked, (std::set<PlanLevels>{{0}, {2}, {4}, {6}, {8}, {10}, {12}, {13}, {14}}));
    EXPECT_EQ(found->played, asked.size());
    EXPECT_EQ(found->verified, 1u);
}

TEST(PlanSearch, PlaysOneStepMoreAndOneStepLessOfEachPlan) {
    const std::vector<std::vector<double>> prices(3, {0, 3, 5, 9, 11, 12});
    const Rule rule = [](const PlanLevels& levels) {
        return levels[0] + levels[1] + levels[2] >= 7 && levels[2] >= 2;
    };
    PlanSearchOptions options;
    options.checks = 0;
    std::set<PlanLevels> asked;
    const auto found = find(space_of(prices), rule, options, &asked);
    ASSERT_TRUE(found);
    ASSERT_FALSE(found->plans.empty());
    for (const PlanLevels& plan : found->plans) {
        for (std::size_t choice = 0; choice < plan.size(); ++choice) {
            PlanLevels more = plan;
            if (++more[choice] < prices[choice].size()) EXPECT_TRUE(asked.contains(more)) << choice;
            PlanLevels less = plan;
            if (less[choice]-- > 0) EXPECT_TRUE(asked.contains(less)) << choice;
        }
    }
}

}  // namespace
}  // namespace streamsim::judge
