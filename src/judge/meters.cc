#include "judge/meters.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/system/errno_name.h"
#include "base/units.h"

namespace streamsim::judge {
namespace {

struct Totals {
    std::uint64_t done = 0;
    std::uint64_t failed = 0;
    std::uint64_t blocks = 0;
    const MeterResult::Error* first = nullptr;
    const MeterResult* unanswered = nullptr;  // a meter without a single answer by its end
};

Totals totals_of(const std::vector<MeterResult>& meters) {
    Totals out;
    for (const MeterResult& meter : meters) {
        out.done += meter.all.done;
        out.failed += meter.all.failed;
        out.blocks += meter.blocks_done;
        if (out.first == nullptr && !meter.errors.empty()) out.first = &meter.errors.front();
        const bool answered = meter.all.done + meter.all.failed + meter.blocks_done + meter.blocks_failed > 0;
        if (!answered && meter.unfinished > 0) out.unanswered = &meter;
    }
    return out;
}

/// Why the meters fail the verdict; empty: they do not.
std::string failure_of(const Totals& totals) {
    if (totals.failed == 0) {
        if (totals.unanswered == nullptr) return "";
        return fmt::format("meter {} had no answer to any of its {} operations before its end",
                           totals.unanswered->name, show_count(totals.unanswered->unfinished));
    }
    std::string text = fmt::format("{} of {} operations of the meters failed", show_count(totals.failed),
                                   show_count(totals.done + totals.failed));
    if (totals.first == nullptr) return text;
    const char* const name = errno_name(totals.first->error);
    return text + fmt::format(", the first with {} ({}) on {}", name != nullptr ? name : "an error",
                              to_string(totals.first->operation), totals.first->path);
}

}  // namespace

void judge_meters(RunResult& result) {
    if (result.meters.empty()) return;
    const Totals totals = totals_of(result.meters);
    const std::string failure = result.interrupted && totals.failed == 0 ? "" : failure_of(totals);
    const bool alone = result.streams.empty();
    if (failure.empty()) {
        if (!alone) return;
        result.verdict = {true,
                          fmt::format("the meters did {} operations; none failed", show_count(totals.done)),
                          Limit::none};
        if (totals.done == 0 && totals.blocks == 0)
            result.verdict = {false, "the meters did nothing: there is nothing to judge", Limit::unknown};
        else if (totals.done == 0)
            result.verdict.reason = fmt::format(
                "the meters did {} blocks of operations that were not complete at the end; none failed",
                show_count(totals.blocks));
        return;
    }
    const bool streams_passed = result.verdict.pass;
    result.verdict.pass = false;
    if (alone || streams_passed) {
        result.verdict.limit = Limit::storage;
        result.verdict.reason = alone ? failure : "the streams played, but " + failure;
    } else {
        result.verdict.reason += "; " + failure;
    }
}

}  // namespace streamsim::judge
