// The schedule of faults that a FaultStorage injects: plain data, and its JSON form (schema "streamsim.faults",
// formats/schema/faults.json).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace streamsim::storage {

/// The numbers first, first + every, first + 2 * every, ... up to and including last.
struct FaultSelection {
    std::uint64_t first = 0;
    std::uint64_t last = UINT64_MAX;
    std::uint64_t every = 1;

    /// The number of selected numbers; UINT64_MAX: without end.
    std::uint64_t count() const {
        return last == UINT64_MAX ? last : last < first ? 0 : (last - first) / every + 1;
    }
    bool contains(std::uint64_t number) const {
        return number >= first && number <= last && (number - first) % every == 0;
    }
};

/// An operation that matches every condition gets every effect. When several rules match one operation, delays
/// add up, and the first error and the smallest length count.
struct FaultRule {
    enum class Operation { any, open, read, write, sync };  // operations by name have no frame, and no faults

    // Conditions.
    std::string file = "*";  // `*` and `?`; against the last part of the path, or all of it when it has a "/"
    std::optional<std::uint32_t> seat;
    std::optional<std::uint32_t> stream;
    FaultSelection slots;
    FaultSelection clip_frames;
    Operation operation = Operation::any;
    double probability = 1;  // for one slot of a stream: all operations of a slot are decided alike
    /// Rules of one number share their chances. Nothing: the index of the rule.
    std::optional<std::uint64_t> chances;

    // Effects.
    Duration delay;                            // of the first matching operation of a slot
    int error = 0;                             // errno
    std::optional<std::uint64_t> short_bytes;  // reads find the end of the file here
    bool missing = false;                      // ENOENT
};

/// All operations that would complete in [at, at + length) complete at its end. `at` counts from the storage's
/// origin.
struct FaultStall {
    Duration at;
    Duration length;
};

struct FaultPlan {
    std::vector<FaultRule> rules;    // at most kMaxRules, with at most kMaxNames different `file` patterns
    std::vector<FaultStall> stalls;  // by time, disjoint

    static constexpr std::size_t kMaxRules = 100'000;
    static constexpr std::size_t kMaxNames = 64;
    /// A time of a document, and the delay of one operation by all rules, at most: a year.
    static constexpr Duration kMaxTime = seconds(std::int64_t{8760} * 3600);
};

/// Errors: bad input, every problem with `source` and its JSON pointer.
Result<FaultPlan> read_fault_plan(std::string_view text, const std::string& source);

/// Sorts stalls by time and merges those that touch or overlap, as a plan requires.
void put_in_order(std::vector<FaultStall>& stalls);

/// True when `pattern` (`*`: any characters, `?`: any one) matches all of `name`.
bool glob_matches(std::string_view pattern, std::string_view name);

}  // namespace streamsim::storage
