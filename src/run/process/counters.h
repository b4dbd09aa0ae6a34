// Counters that a command printed: read strictly enough that no other number is taken for one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "streamsim/step_commands.h"

namespace streamsim::run {

struct Counter {
    std::string name;
    double value = 0;
    std::optional<std::int64_t> whole;  // the exact value of a whole number
};

struct CounterReading {
    std::vector<Counter> counters;
    std::uint64_t other_lines = 0;  // lines that hold no counter; empty lines and comments (#) do not count
    std::string first_other;        // the first of them
};

/// Reads "NAME NUMBER", "NAME: NUMBER" or "NAME=NUMBER" lines, or one JSON object of numbers. A NAME begins
/// with a letter or "_" and has no blank; labels in braces, as of Prometheus, belong to it, and a second NUMBER
/// behind them is the time of the first. A NUMBER is decimal. Errors: environment, where there is no counter,
/// one has two values, or there are more than 1,000.
Result<CounterReading> read_counters(std::string_view text);

/// The counters of both readings, in the order of the first.
std::vector<CounterChange> changes_between(const CounterReading& before, const CounterReading& after);
/// The names of the counters that only one reading has.
std::vector<std::string> not_in_both(const CounterReading& before, const CounterReading& after);

}  // namespace streamsim::run
