// The search for the cheapest configurations that play, over a lattice: each choice has levels, from the least
// to the most, and a price that grows with them. Pure: the caller plays.
//
// A configuration that fails is raised, choice by choice, as far as it still fails. All that is below the
// result fails, too, so every plan lies above the result in one of the choices that could not be raised: a
// clause. The next candidate is the cheapest configuration that satisfies all clauses (implicit hitting sets).
// Both conclusions need that more of a choice never plays worse. The search checks this: along each choice,
// beside each plan, and on some of the cheaper configurations that were inferred to fail. A choice that breaks
// the rule is searched level by level, without the conclusion.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "base/result.h"

namespace streamsim::judge {

/// The level of each choice, from 0.
using PlanLevels = std::vector<std::uint32_t>;

struct PlanCost {
    double price = 0;
    double watts = 0;
};

struct PlanSpace {
    PlanLevels sizes;  // levels of each choice; REQUIRES: 1 or more each
    /// REQUIRES: no level more costs less.
    std::function<PlanCost(const PlanLevels&)> cost;
};

struct PlanSearchOptions {
    std::size_t plans = 4;  // at most
    PlanCost most{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    std::size_t at_once = 2;  // configurations that the caller plays in parallel
    /// Cheaper configurations that were inferred to fail and are played all the same. A space with fewer is
    /// searched in full.
    std::size_t checks = 48;
};

/// Whether each of some configurations plays. Errors end the search.
using PlanPlays = std::function<Result<std::vector<bool>>(const std::vector<PlanLevels>&)>;

/// More of one choice is worse: `plays` plays, and `fails`, which has more of `choice` alone, does not.
struct PlanContradiction {
    std::size_t choice = 0;
    PlanLevels plays, fails;
};

struct PlansFound {
    /// Minimal: none is another one with more of some choices. By price, then power, then levels.
    std::vector<PlanLevels> plans;
    std::vector<PlanContradiction> contradictions;  // one for each choice that breaks the rule
    bool most_plays = false;                        // a configuration plays, within the limits or not
    std::size_t played = 0;                         // short runs
    std::size_t verified = 0;                       // verification runs
    std::size_t checked = 0;                        // of the short runs: configurations inferred to fail
};

/// `plays`: by a short run; `holds`: of configurations that play so, by a verification run. No configuration is
/// asked for twice.
Result<PlansFound> find_plans(const PlanSpace& space,
                              const PlanSearchOptions& options,
                              const PlanPlays& plays,
                              const PlanPlays& holds);

/// Whether each level of `a` is at most that of `b`.
bool no_more_than(const PlanLevels& a, const PlanLevels& b);

}  // namespace streamsim::judge
