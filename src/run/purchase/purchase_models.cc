#include "run/purchase/purchase_models.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "judge/prediction_rules.h"
#include "sim/model/model_draws.h"

namespace streamsim::run {
namespace {

/// Times, and shares that others take, also of the links (bytes of the protocol); costs ("cpu_s_per_byte") are
/// known by their keys. Less is worse of all other numbers: rates, counts, sizes, and the pauses of other load.
constexpr std::string_view kMoreIsWorse[] = {
    "latency",       "median",
    "spread",        "tail_share",
    "tail_mean",     "p10",
    "p50",           "p90",
    "p99",           "p99_9",
    "max",           "share",
    "mean_length",   "line_share",
    "seek_track",    "seek_full",
    "filled",        "protection_drives",
    "message_bytes", "retransmit_after",
};

bool is_chosen(const UncertainNumber& number, const std::vector<sim::ModelChange>& chosen) {
    return std::ranges::count(chosen, number.pointer, &sim::ModelChange::pointer) > 0;
}

/// The worse end of each interval, but of the numbers that are chosen. Empty: no number has another value
/// there.
std::map<std::string, double> worse_ends(const ClusterModel& model,
                                         const std::vector<sim::ModelChange>& chosen) {
    std::map<std::string, double> scores;
    for (const UncertainNumber& number : model.uncertain) {
        if (number.at_least() || is_chosen(number, chosen)) continue;
        scores[number.pointer] = more_is_worse(number.pointer) ? sim::kScoreOf95 : -sim::kScoreOf95;
    }
    return scores;
}

/// Sets each number that is "at least" to what was measured, but those that are chosen.
std::vector<sim::ModelChange> lowest_bounds(const ClusterModel& model,
                                            const std::string& text,
                                            const std::string& source,
                                            const std::vector<sim::ModelChange>& chosen) {
    constexpr double kNsPerS = 1e9;
    std::vector<sim::ModelChange> lowest;
    for (const UncertainNumber& number : model.uncertain) {
        if (!number.at_least() || more_is_worse(number.pointer) || is_chosen(number, chosen)) continue;
        if (*number.low >= number.value) continue;
        const double unit = sim::is_time_at(text, source, number.pointer) ? kNsPerS : 1;
        lowest.push_back({number.pointer, false, *number.low * unit});
    }
    return lowest;
}

}  // namespace

bool more_is_worse(std::string_view pointer) {
    const std::string_view key = pointer.substr(pointer.rfind('/') + 1);
    const bool cost = key.starts_with("s_per_") || key.find("_s_per_") != std::string_view::npos;
    return cost || std::ranges::find(kMoreIsWorse, key) != std::end(kMoreIsWorse);
}

Result<std::vector<ClusterModel>> models_to_verify(const std::string& text,
                                                   const std::string& source,
                                                   const std::vector<sim::ModelChange>& changes,
                                                   double model_error_factor) {
    auto nominal = sim::changed_model(text, source, changes);
    if (!nominal) return nominal.error();
    const auto scores = worse_ends(*nominal, changes);
    std::vector<sim::ModelChange> to_worst = lowest_bounds(*nominal, text, source, changes);
    const double held_back = judge::held_back_share(*nominal);
    const bool exact = !nominal->calibration || (nominal->calibration->model_error == 0 && held_back == 1);
    std::vector<ClusterModel> all = {std::move(*nominal)};
    if (scores.empty() && to_worst.empty() && exact) return all;
    to_worst.insert(to_worst.end(), changes.begin(), changes.end());
    const auto document = sim::changed_document(text, source, to_worst);
    if (!document) return document.error();
    std::vector<std::string> chosen;
    chosen.reserve(changes.size());
    for (const sim::ModelChange& each : changes) chosen.push_back(each.pointer);
    const double of_rates = -sim::kScoreOf95 * model_error_factor;
    auto worst = sim::model_at_scores(*document, source, scores, of_rates, chosen, held_back);
    if (!worst) return worst.error();
    all.push_back(std::move(*worst));
    return all;
}

}  // namespace streamsim::run
