// The smallest value of a function without derivatives, within bounds: Rowan's Subplex by NLopt ("Functional
// Stability Analysis of Numerical Algorithms", 1990), which bears the small steps that a simulation has.
#pragma once

#include <functional>
#include <vector>

namespace streamsim::fit {

struct FreeParameter {
    double start = 0, low = 0, high = 0;
    double step = 0.1;  // of the first tries
};

struct Minimum {
    std::vector<double> at;
    double value = 0;
    int evaluations = 0;
};

/// Ends after `evaluations_max`, or when no parameter moves by more than `precision`. The smallest value that
/// was seen; the start where nothing is smaller. REQUIRES: low <= start <= high.
Minimum minimise(const std::vector<FreeParameter>& parameters,
                 const std::function<double(const std::vector<double>& at)>& function,
                 int evaluations_max,
                 double precision = 1e-3);

}  // namespace streamsim::fit
