// The rate that the streams of a run need together, as steps over time.
#pragma once

#include <cstdint>
#include <vector>

#include "streamsim/run_result.h"

namespace streamsim::result {

/// A stream needs its rate from one instant to another.
struct RateSpan {
    std::int64_t from_ns = 0, to_ns = 0;
    double bytes_per_s = 0;
};

/// The sum at each instant at which it changes, the last one 0. At one instant, spans that end come before
/// spans that begin. Spans without a rate do not count.
std::vector<RequiredRate> rate_steps(const std::vector<RateSpan>& spans);

/// The highest step; 0: there is none.
double highest(const std::vector<RequiredRate>& steps);

/// The steps of the streams as they played, with recorders if `recorders`; empty where all begin and end
/// together, so that one number says it. Changes within a few frames count as one instant.
std::vector<RequiredRate> required_rates(const std::vector<StreamResult>& streams, bool recorders = false);

}  // namespace streamsim::result
