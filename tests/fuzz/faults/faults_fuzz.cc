// Schedules of faults, and the patterns of file names in them.
#include <string>

#include "fuzz/fuzz.h"
#include "storage/fault/fault_plan.h"

namespace streamsim::fuzz {
namespace {

/// The same as glob_matches, as its sentence says it: slow and plain.
bool matches(std::string_view pattern, std::string_view name) {
    if (pattern.empty()) return name.empty();
    if (pattern.front() == '*') {
        return matches(pattern.substr(1), name) || (!name.empty() && matches(pattern, name.substr(1)));
    }
    return !name.empty() && (pattern.front() == '?' || pattern.front() == name.front()) &&
           matches(pattern.substr(1), name.substr(1));
}

}  // namespace
}  // namespace streamsim::fuzz

STREAMSIM_FUZZ(faults) {
    using namespace streamsim;
    using fuzz::require;
    const std::string source = "faults.json";
    fuzz::Taker lines(input);
    const std::string_view pattern = lines.line().substr(0, 8), name = lines.line().substr(0, 12);
    require(storage::glob_matches(pattern, name) == fuzz::matches(pattern, name), "patterns match as they say");
    const auto plan = storage::read_fault_plan(fuzz::text_of(input), source);
    if (!plan) return fuzz::require_refusal(plan.error(), source);
    require(plan->rules.size() <= storage::FaultPlan::kMaxRules, "no plan has more rules than it may");
    for (const storage::FaultRule& rule : plan->rules) {
        require(rule.slots.every > 0 && rule.clip_frames.every > 0, "a selection goes on");
        require(rule.probability >= 0 && rule.probability <= 1, "a probability is one");
        require(rule.delay >= Duration{}, "a delay is no haste");
        (void)rule.slots.count();
    }
    Duration end;
    for (const storage::FaultStall& stall : plan->stalls) {
        require(stall.at >= end && stall.length > Duration{}, "stalls are sorted and do not touch");
        end = stall.at + stall.length;
    }
}
