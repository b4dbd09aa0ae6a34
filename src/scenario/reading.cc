#include "scenario/reading.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "scenario/workload_steps.h"

namespace streamsim::scenario {

std::optional<Duration> read_scenario_time(JsonObject& object, const std::string& key, bool required) {
    const auto time = object.duration(key, required);
    if (!time || *time <= kScenarioLongest) return time;
    object.problem(key, fmt::format("expected at most {}", show_duration(kScenarioLongest)));
    return std::nullopt;
}

std::optional<Duration> read_scenario_length(JsonObject& object, const std::string& key, bool required) {
    const auto length = read_scenario_time(object, key, required);
    if (length && length->ns == 0) object.problem(key, "expected more than no time");
    return length;
}

std::uint32_t read_count(
    JsonObject& object, const char* key, std::int64_t max, std::uint32_t fallback, std::int64_t min) {
    return static_cast<std::uint32_t>(object.integer(key, min, max, false).value_or(fallback));
}

std::optional<MemberProblem> begin_problem(
    const Phase& phase, std::uint64_t count, Duration end, const char* plays, const char* users) {
    if (end.ns <= 0) return std::nullopt;  // a problem of its own
    const Duration start = phase.start, every = phase.one_more_every;
    const auto others = static_cast<std::int64_t>(std::min<std::uint64_t>(count, kWorkloadUsersMax)) - 1;
    if (start >= end) {
        return MemberProblem{"start", fmt::format("never {}: it begins at {} and ends at {}", plays,
                                                  show_duration(start), show_duration(end))};
    }
    if (others > 0 && every.ns > (end - start).ns / others) {
        return MemberProblem{"one_more_every",
                             fmt::format("the last of {}{} would begin after all has ended, at {}", count,
                                         users, show_duration(end))};
    }
    if (start.ns + every.ns * others >= end.ns) {
        return MemberProblem{"one_more_every", fmt::format("the last of {}{} would begin when all ends, at {}",
                                                           count, users, show_duration(end))};
    }
    return std::nullopt;
}

void check_begins(JsonObject& object,
                  const Phase& phase,
                  std::uint64_t count,
                  Duration end,
                  const char* plays,
                  const char* users) {
    const auto problem = begin_problem(phase, count, end, plays, users);
    if (problem) object.problem(problem->key, problem->text);
}

}  // namespace streamsim::scenario
