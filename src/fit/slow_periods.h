// Finds periods in which a saturated storage delivers less: other load that comes and goes, or a pause.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace streamsim::fit {

/// An on/off process of other load.
struct SlowPeriods {
    double share = 0;          // of the rate that is missing while it is on
    double mean_length_s = 0;  // on
    double mean_gap_s = 0;     // between the end of one and the begin of the next
    std::size_t periods = 0;
    double level = 0;  // rate while it is off
};

/// Each series is the rates of one probe by intervals of `interval_s`; all of the same load, which fills the
/// storage. They are told into two levels where they have two (Otsu, "A threshold selection method from
/// gray-level histograms", 1979); nullopt: the levels differ by less than `share_min`, or nothing was slow. One
/// slow interval alone, of the shortest length, is no period: rates vary.
std::optional<SlowPeriods> slow_periods(std::span<const std::vector<double>> series,
                                        double interval_s,
                                        double share_min = 0.15);

}  // namespace streamsim::fit
