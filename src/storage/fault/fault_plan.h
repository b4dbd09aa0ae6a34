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

    /// How many numbers these are; UINT64_MAX: no end to them.
    std::uint64_t count() const {
        return last == UINT64_MAX ? last : last < first ? 0 : (last - first) / every + 1;
    }
    bool contains(std::uint64_t number) const {
        return number >= first && number <= last && (number - first) % every == 0;
    }
};

/// An operation that matches every condition suffers every effect. Several rules may match one operation:
/// delays add up, the first error and the smallest length count.
struct FaultRule {
    enum class Operation { any, open, read, write, sync };  // what is done by name has no frame, and no faults

    // Conditions.
    std::string file = "*";  // `*` and `?`; against the last part of the path, or all of it when it has a "/"
    std::optional<std::uint32_t> seat;
    std::optional<std::uint32_t> stream;
    FaultSelection slots;
    FaultSelection clip_frames;
    Operation operation = Operation::any;
    double probability = 1;  // of a slot of a stream; all operations of one slot are decided alike

    // Effects.
    Duration delay;                            // once a slot: to its first operation that matches
    int error = 0;                             // errno
    std::optional<std::uint64_t> short_bytes;  // the file ends here, for who reads it
    bool missing = false;                      // ENOENT
};

/// Everything that would complete in [at, at + length) completes at its end. `at` counts from the storage's
/// origin.
struct FaultStall {
    Duration at;
    Duration length;
};

struct FaultPlan {
    std::vector<FaultRule> rules;    // at most kMaxRules, with at most kMaxNames different `file` patterns
    std::vector<FaultStall> stalls;  // by time, apart from one another

    static constexpr std::size_t kMaxRules = 100'000;
    static constexpr std::size_t kMaxNames = 64;
};

/// Errors: bad input, every problem with `source` and its JSON pointer.
Result<FaultPlan> read_fault_plan(std::string_view text, const std::string& source);

/// By time, those that touch or overlap made one: as a plan has them.
void put_in_order(std::vector<FaultStall>& stalls);

/// True when `pattern` (`*`: any characters, `?`: any one) matches all of `name`.
bool glob_matches(std::string_view pattern, std::string_view name);

}  // namespace streamsim::storage
