// How sure the parameters of a least-squares fit are, from how sure its observations are.
#pragma once

#include <vector>

namespace streamsim::fit {

struct Uncertainty {
    std::vector<double> deviations;                // standard, of each parameter
    std::vector<std::vector<double>> correlation;  // ones on the diagonal
};

/// `derivatives[i][k]`: of observation i by parameter k, at the fit; `spreads[i]`: the standard deviation of
/// observation i, each independent. The covariance of unweighted least squares: (J'J)^-1 J'SJ (J'J)^-1. A
/// parameter on which nothing depends has the largest deviation, 1.
Uncertainty uncertainty_of(const std::vector<std::vector<double>>& derivatives,
                           const std::vector<double>& spreads);

}  // namespace streamsim::fit
