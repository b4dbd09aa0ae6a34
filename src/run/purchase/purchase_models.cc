#include "run/purchase/purchase_models.h"

#include <cmath>
#include <utility>

namespace streamsim::run {
namespace {

/// Standard deviations from the mean to the ends of a 90 % interval.
constexpr double kNinety = 1.645;

bool is_rate(const std::string& pointer) {
    return pointer.ends_with("bits_per_s") || pointer.ends_with("bytes_per_s");
}

/// The worse end of the interval of each number, and of the model's error: lower rates, longer times.
Result<ClusterModel> pessimistic(const std::string& text,
                                 const std::string& source,
                                 std::vector<sim::ModelChange> changes,
                                 const ClusterModel& nominal) {
    for (const UncertainNumber& number : nominal.uncertain) {
        const double end =
            is_rate(number.pointer) ? number.low.value_or(number.value) : number.high.value_or(number.value);
        if (number.value > 0 && end != number.value)
            changes.push_back({number.pointer, true, end / number.value});
    }
    if (nominal.calibration && nominal.calibration->model_error > 0) {
        const auto numbers = sim::model_numbers(text, source);
        if (!numbers) return numbers.error();
        const double factor = std::exp(-kNinety * nominal.calibration->model_error);
        for (const sim::ModelNumber& number : *numbers) {
            if (is_rate(number.pointer)) changes.push_back({number.pointer, true, factor});
        }
    }
    return sim::changed_model(text, source, changes);
}

}  // namespace

Result<std::vector<ClusterModel>> models_to_verify(const std::string& text,
                                                   const std::string& source,
                                                   const std::vector<sim::ModelChange>& changes) {
    auto nominal = sim::changed_model(text, source, changes);
    if (!nominal) return nominal.error();
    std::vector<ClusterModel> all = {*nominal};
    if (nominal->uncertain.empty() && !nominal->calibration) return all;
    auto worst = pessimistic(text, source, changes, *nominal);
    if (!worst) return worst.error();
    all.push_back(std::move(*worst));
    return all;
}

}  // namespace streamsim::run
