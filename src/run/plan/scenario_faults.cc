#include "run/plan/scenario_faults.h"

#include <algorithm>
#include <cerrno>

#include "base/system/errno_name.h"
#include "run/backends/cluster_faults.h"
#include "run/plan/stream_plan.h"

namespace streamsim::run {
namespace {

using Kind = ScenarioFault::Kind;

/// The frames of one stream that are due while the fault lasts.
std::optional<storage::FaultSelection> slots_hit(const ScenarioFault& fault, const StreamPlan& plan) {
    const Duration from = fault.at - plan.start_offset;
    const Duration to = from + fault.length.value_or(Duration{});
    if (to.ns <= 0 || !plan.options.paced) return std::nullopt;
    storage::FaultSelection slots;
    slots.first = from.ns <= 0 ? 0 : plan.path->slots_in(from);  // the first that is not due before
    const std::uint64_t end = std::min(plan.path->slots_in(to), plan.options.slots);
    if (slots.first >= end) return std::nullopt;
    slots.last = end - 1;
    return slots;
}

/// A rule for each stream that is hit; one for all where it is the same. `chances`: as in FaultRule.
void add_rules(const ScenarioFault& fault,
               const std::vector<StreamPlan>& streams,
               std::uint64_t chances,
               storage::FaultPlan& plan) {
    std::vector<storage::FaultRule> rules;
    for (const StreamPlan& stream : streams) {
        if (fault.seat.value_or(stream.options.seat) != stream.options.seat) continue;
        if (fault.stream.value_or(stream.options.stream) != stream.options.stream) continue;
        const auto slots = slots_hit(fault, stream);
        if (!slots) continue;
        storage::FaultRule rule;
        rule.seat = stream.options.seat;
        rule.stream = stream.options.stream;
        rule.slots = *slots;
        rule.operation = stream.record != nullptr ? storage::FaultRule::Operation::write
                                                  : storage::FaultRule::Operation::read;
        rule.probability = fault.probability;
        rule.chances = chances;
        rule.delay = fault.delay;
        if (fault.kind == Kind::errors) rule.error = errno_from_name(fault.error).value_or(EIO);
        rules.push_back(rule);
    }
    const bool alike = rules.size() == streams.size() &&
                       std::all_of(rules.begin(), rules.end(), [&rules](const storage::FaultRule& rule) {
                           return rule.slots.first == rules.front().slots.first &&
                                  rule.slots.last == rules.front().slots.last &&
                                  rule.operation == rules.front().operation;
                       });
    if (alike) {
        rules.resize(1);
        rules.front().seat.reset();
        rules.front().stream.reset();
    }
    plan.rules.insert(plan.rules.end(), rules.begin(), rules.end());
}

}  // namespace

void add_faults(const std::vector<ScenarioFault>& faults,
                const std::vector<StreamPlan>& streams,
                std::optional<storage::FaultPlan>& plan) {
    // A computer that plays some of the seats has other rules than one that plays all. So that a fault hits the
    // same frames on both, its chances are those of its number.
    std::uint64_t chances = plan ? plan->rules.size() : 0;
    for (const ScenarioFault& fault : faults) {
        if (is_of_model(fault)) continue;
        if (!plan) plan.emplace();
        if (fault.kind == Kind::throughput_gap) {
            plan->stalls.push_back({fault.at, *fault.length});
        } else {
            add_rules(fault, streams, chances++, *plan);
        }
    }
    if (plan) storage::put_in_order(plan->stalls);
}

}  // namespace streamsim::run
