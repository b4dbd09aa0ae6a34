// A fit to counts: a row says that N streams play and that more do not. Each of the two holds for the values of
// a parameter on one side of a boundary, which is found by halving the interval in which it lies; the boundary
// of "N play" is one end of the row's interval, that of "more do not" the other. Rows together leave what their
// intervals have in common.
//
// The parameter takes the geometric middle of its interval. If no row gives the other end, the value lies 2 %
// inside the end that there is: a model promises no more than was seen, and no answer hangs on the last digit.
// If no value holds for all rows, it is the geometric middle between the ends that contradict each other.
//
// Pure: the caller plays. Assumption: streams that play with a value also play with every better one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "streamsim/published.h"

namespace streamsim::judge {

/// True: `streams` of a row play with this value of the parameter.
using PlaysWith = std::function<bool(double value, std::uint32_t streams)>;

/// The interval of a row. `more`: streams that the row says do not play. Ends are nullopt where no value from
/// least to most is too much, or too little.
FitInterval interval_of(const FitParameter& parameter,
                        const PublishedRow& row,
                        std::uint32_t more,
                        const PlaysWith& plays);

/// The parameter from the intervals of its rows; without the row `left_out`, where that is not empty.
FittedParameter parameter_of(const FitParameter& parameter,
                             const std::vector<FitInterval>& intervals,
                             const std::string& left_out = "");

}  // namespace streamsim::judge
