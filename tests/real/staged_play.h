// A run in which something is wrong on purpose, and what its result has to say of it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/harness.h"

namespace streamsim::tests {

/// Programs that are started first, each with the next one as its argument: {"nsenter", "--net=/run/netns/a"}.
using Wrapper = std::vector<std::string>;

/// Plays, with something that happens `meanwhile` (given the program, once it has begun); the result must not
/// contradict itself, and its exit code must be as the contract has it.
Json play_staged(std::vector<std::string> options,
                 const std::string& target,
                 const std::function<void(const Process&)>& meanwhile = {},
                 const Wrapper& wrapper = {});

/// Stops a process `after_ms` from now, for `for_ms`.
void stop_for(pid_t pid, std::int64_t after_ms, std::int64_t for_ms);

/// The cause is the first of the result's, its limit is that of the verdict, a sentence of the verdict has the
/// words, and the drops are attributed to it. A noisy computer may add drops of its own.
void expect_named(const Json& result,
                  const std::string& limit,
                  const std::string& cause,
                  const std::string& words);

/// The causes of a result, in its order.
std::vector<std::string> causes_of(const Json& result);

/// Both sentences of the verdict.
std::string sentences_of(const Json& result);

}  // namespace streamsim::tests
