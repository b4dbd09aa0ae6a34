#include "run/calibration/measurement_notes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "run/calibration/direct_numbers.h"
#include "run/calibration/probes.h"

namespace streamsim::run {
namespace {

/// A reference that differs by more says that something else changed.
constexpr double kDrift = 1.1;
/// Files that are read again so many times as fast came from a cache.
constexpr double kCacheSeen = 1.2;

}  // namespace

std::vector<std::string> measurement_notes(const Measurement& measured) {
    std::vector<std::string> notes;
    for (const ProbeRow& row : measured.rows) {
        if (!row.remark.empty()) notes.push_back(row.probe.id + ": " + row.remark);
        if (row.failed == 0) continue;
        notes.push_back(fmt::format("{}: {} of {} operations failed; what it measured is of the others",
                                    row.probe.id, show_count(row.failed),
                                    show_count(row.operations + row.failed)));
    }
    if (const auto drift = drift_of(measured); drift && *drift > kDrift)
        notes.push_back(
            fmt::format("the same probe delivered {:.0f} % more at one time than at another: "
                        "other load was there, or the storage changed; the intervals are "
                        "wider for it",
                        100 * (*drift - 1)));
    const ProbeRow* const cold = find_row(measured, "cold");
    const ProbeRow* const again = find_row(measured, "again");
    if (cold != nullptr && again != nullptr &&
        steady_bytes_per_s(*again) > kCacheSeen * steady_bytes_per_s(*cold))
        notes.push_back(
            fmt::format("a cache was seen: files that were read before are delivered at {}, others at {}",
                        show_rate(steady_bytes_per_s(*again)), show_rate(steady_bytes_per_s(*cold))));
    notes.push_back(fmt::format(
        "the files of the probes take {}: where the server's memory holds that, its drives were not "
        "measured (--set-size)",
        show_bytes(measured.set_bytes)));
    if (find_row(measured, "writes-8") != nullptr && write_values(measured, 0).empty()) {
        const bool failed = std::ranges::any_of(measured.rows, [](const ProbeRow& row) {
            return row.probe.kind == ProbeKind::writes && row.failed > 0;
        });
        notes.push_back(
            fmt::format("{}: the model says nothing about synced writes",
                        failed ? "writes failed" : "no write was complete before the end of its probe"));
    }
    return notes;
}

}  // namespace streamsim::run
