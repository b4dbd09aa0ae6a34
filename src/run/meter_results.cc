#include "run/meter_results.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/errno_name.h"
#include "base/units.h"

namespace streamsim {

void fill_meters(const RunFacts& facts, RunResult& result) {
    for (const WorldBooks* world : facts.worlds) {
        result.meters.insert(result.meters.end(), world->meters.begin(), world->meters.end());
        result.operations.insert(result.operations.end(), world->operations.begin(), world->operations.end());
    }
    const auto by_seat = [](const auto& a, const auto& b) { return a.seat < b.seat; };
    std::stable_sort(result.meters.begin(), result.meters.end(), by_seat);
    std::stable_sort(result.operations.begin(), result.operations.end(), by_seat);
}

void judge_meters(RunResult& result) {
    if (result.meters.empty()) return;
    std::uint64_t done = 0;
    std::uint64_t failed = 0;
    const MeterResult::Error* first = nullptr;
    for (const MeterResult& meter : result.meters) {
        done += meter.all.done;
        failed += meter.all.failed;
        if (first == nullptr && !meter.errors.empty()) first = &meter.errors.front();
    }
    if (failed == 0) {
        if (result.streams.empty())
            result.verdict = {true, fmt::format("the meters did {} operations; none failed", show_count(done)),
                              Limit::none};
        return;
    }
    const bool streams_passed = result.verdict.pass;
    result.verdict.pass = false;
    std::string text =
        fmt::format("{} of {} operations of the meters failed", show_count(failed), show_count(done + failed));
    if (first != nullptr) {
        const char* const name = errno_name(first->error);
        text += fmt::format(", the first with {} ({}) on {}", name != nullptr ? name : "an error",
                            to_string(first->operation), first->path);
    }
    if (result.streams.empty() || streams_passed) {
        result.verdict.limit = Limit::storage;
        result.verdict.reason = result.streams.empty() ? text : "the streams played, but " + text;
    } else {
        result.verdict.reason += "; " + text;
    }
}

}  // namespace streamsim
