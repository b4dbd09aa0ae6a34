// Logs of strace: read, selected, learnt, and written as a workload.
#include <algorithm>
#include <sstream>
#include <string>

#include "fuzz/profile_checks.h"
#include "profile/strace/strace_log.h"

STREAMSIM_FUZZ(strace) {
    using namespace streamsim;
    const std::string source = "log";
    std::istringstream text{std::string(fuzz::text_of(input))};
    const auto traffic =
        profile::read_strace_log(source, {{source, &text, std::nullopt}}, [](std::uint64_t) { return true; });
    if (!traffic) return fuzz::require_refusal(traffic.error(), source);
    fuzz::check_traffic(*traffic);
}
