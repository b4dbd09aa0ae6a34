#include "fit/minimise.h"

#include <nlopt.h>

#include <memory>

#include "base/check.h"

namespace streamsim::fit {
namespace {

struct Search {
    const std::function<double(const std::vector<double>&)>* function;
    Minimum best;
};

double evaluate(unsigned count, const double* at, double* /*gradient*/, void* data) {
    auto& search = *static_cast<Search*>(data);
    const std::vector<double> point(at, at + count);
    const double value = (*search.function)(point);
    if (search.best.evaluations++ == 0 || value < search.best.value) {
        search.best.value = value;
        search.best.at = point;
    }
    return value;
}

}  // namespace

Minimum minimise(const std::vector<FreeParameter>& parameters,
                 const std::function<double(const std::vector<double>& at)>& function,
                 int evaluations_max,
                 double precision) {
    Search search{&function, {}};
    std::vector<double> start, low, high, step;
    for (const FreeParameter& each : parameters) {
        STREAMSIM_CHECK(each.low <= each.start && each.start <= each.high, "a start is within its bounds");
        start.push_back(each.start);
        low.push_back(each.low);
        high.push_back(each.high);
        step.push_back(each.step);
    }
    const auto count = static_cast<unsigned>(parameters.size());
    const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> optimiser(nlopt_create(NLOPT_LN_SBPLX, count),
                                                                           nlopt_destroy);
    nlopt_set_lower_bounds(optimiser.get(), low.data());
    nlopt_set_upper_bounds(optimiser.get(), high.data());
    nlopt_set_initial_step(optimiser.get(), step.data());
    nlopt_set_min_objective(optimiser.get(), evaluate, &search);
    nlopt_set_maxeval(optimiser.get(), evaluations_max);
    nlopt_set_xtol_abs1(optimiser.get(), precision);
    double value = 0;
    // Its result code only tells why it ended; the best point is kept by evaluate().
    nlopt_optimize(optimiser.get(), start.data(), &value);
    return search.best;
}

}  // namespace streamsim::fit
