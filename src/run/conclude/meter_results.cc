#include "run/conclude/meter_results.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/system/errno_name.h"
#include "base/units.h"

namespace streamsim::run {
namespace {

struct Totals {
    std::uint64_t done = 0;
    std::uint64_t failed = 0;
    std::uint64_t blocks = 0;
    const MeterResult::Error* first = nullptr;
    const MeterResult* unanswered = nullptr;  // one that asked and had no answer by its end
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

/// What is wrong; empty: nothing.
std::string wrong_with(const Totals& totals) {
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

void fill_meters(const RunFacts& facts, RunResult& result) {
    for (const LoopStats* playback_loop : facts.playback_loops) {
        result.meters.insert(result.meters.end(), playback_loop->meters.begin(), playback_loop->meters.end());
        result.operations.insert(result.operations.end(), playback_loop->operations.begin(),
                                 playback_loop->operations.end());
    }
    const auto by_seat = [](const auto& a, const auto& b) { return a.seat < b.seat; };
    std::stable_sort(result.meters.begin(), result.meters.end(), by_seat);
    std::stable_sort(result.operations.begin(), result.operations.end(), by_seat);
    if (!result.streams.empty()) return;
    for (const MeterResult& meter : result.meters) result.wall_ns = std::max(result.wall_ns, meter.wall_ns);
}

void judge_meters(RunResult& result) {
    if (result.meters.empty()) return;
    const Totals totals = totals_of(result.meters);
    const std::string wrong = result.interrupted && totals.failed == 0 ? "" : wrong_with(totals);
    const bool alone = result.streams.empty();
    if (wrong.empty()) {
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
        result.verdict.reason = alone ? wrong : "the streams played, but " + wrong;
    } else {
        result.verdict.reason += "; " + wrong;
    }
}

}  // namespace streamsim::run
