#include "sim/model/model_draws.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/prng.h"
#include "sim/model/calibration_facts.h"
#include "sim/model/document_values.h"
#include "sim/model/model_document.h"
#include "sim/model/model_numbers.h"
#include "sim/model/number_reader.h"

namespace streamsim::sim {
namespace {

constexpr double kNsPerS = 1e9;
constexpr int kHalvings = 12;
constexpr double kNeverFull = 1000;
constexpr std::uint64_t kModelErrorPart = 0x6d6f64656c;

std::uint64_t part_of(const std::string& pointer) {
    std::uint64_t part = 0;
    for (const char c : pointer) part = mix64(part ^ static_cast<unsigned char>(c));
    return part;
}

double score_of(std::uint64_t seed, std::uint64_t part) {
    return Prng(derive_seed(seed, part)).bell();
}

/// The number at this normal score.
double drawn(const UncertainNumber& number, double score) {
    const double bound = score < 0 ? *number.low : *number.high;
    const double share = std::abs(score) / kScoreOf95;
    const bool ratio = number.value > 0 && bound > 0;
    const double value = ratio ? number.value * std::pow(bound / number.value, share)
                               : number.value + (bound - number.value) * share;
    return std::clamp(value, number.min, number.max);
}

bool is_rate(const std::string& pointer) {
    return pointer.ends_with("bits_per_s") || pointer.ends_with("bytes_per_s");
}

/// `value` in seconds, bytes or as it is. Whole where the entry has whole numbers only.
void put(OrderedJson& entry, double value) {
    const bool time = is_time(entry);
    bool whole = entry["value"].is_number_integer();
    for (const char* key : {"low", "high"}) {
        if (entry.contains(key)) whole = whole && entry[key].is_number_integer();
    }
    if (whole || time || entry["value"].is_string())
        set_value(entry["value"], value * (time ? kNsPerS : 1), time);
    else
        entry["value"] = value;
}

/// Numbers without intervals, and nothing of the calibration.
void make_certain(OrderedJson& value) {
    if (is_number(value)) {
        value.erase("low");
        value.erase("high");
    } else if (value.is_structured()) {
        for (auto& each : value) make_certain(each);
    }
}

/// Each quantile is no less than the one before it, also where they were drawn one by one.
void sort_quantiles(OrderedJson& value) {
    if (!value.is_structured() || is_number(value)) return;
    double least = 0;
    for (const char* key : {"p10", "p50", "p90", "p99", "p99_9", "max"}) {
        if (!value.is_object() || !value.contains(key) || !is_number(value[key])) continue;
        const double ns = plain_value(value[key]["value"]).value_or(0);
        if (ns < least) set_value(value[key]["value"], least, true);
        least = std::max(least, ns);
    }
    for (auto& each : value) sort_quantiles(each);
}

class Draws {
public:
    static Result<Draws> of(std::string_view text, const std::string& source, double model_error_factor) {
        const auto model = read_model_document(text, source);
        if (!model) return model.error();
        const auto numbers = model_numbers(text, source);
        if (!numbers) return numbers.error();
        Draws draws(source, OrderedJson::parse(text));
        for (const UncertainNumber& number : model->uncertain) {
            if (number.at_least()) continue;
            draws.uncertain_.push_back(number);
            OrderedJson& entry = *entry_at(draws.document_, number.pointer);
            if (entry["value"].is_number_integer() && !is_whole_at(text, source, number.pointer))
                take_fractions(entry);
        }
        for (const ModelNumber& number : *numbers) {
            if (is_rate(number.pointer)) draws.rates_.push_back(number.pointer);
            if (number.pointer.starts_with("/node/read_lines/access/") &&
                is_time(*entry_at(draws.document_, number.pointer)))
                draws.line_times_.push_back(number.pointer);
        }
        if (!model->calibration) return draws;
        draws.model_error_ = model->calibration->model_error * model_error_factor;
        draws.correlation_ = model->calibration->correlation;
        if (draws.correlation_) draws.lower_ = *cholesky(draws.correlation_->matrix);
        return draws;
    }

    /// The error of the model does not change these numbers.
    void keep(const std::vector<std::string>& exact) { exact_ = exact; }

    /// Draw number `index` of the seed.
    Result<ClusterModel> draw(std::uint64_t seed, std::uint32_t index) const {
        const std::uint64_t own = derive_seed(seed, index);
        return at(scores_of(own), score_of(own, kModelErrorPart));
    }

    Result<ClusterModel> at(const std::map<std::string, double>& scores,
                            double of_rates,
                            double rates_by = 1) const {
        const double error = model_error_ * of_rates;
        double share = 1;
        for (int i = 0; i < kHalvings; ++i, share /= 2) {
            if (auto model = model_at(scores, error, share, rates_by)) return model;
        }
        return model_at(scores, error, 0, rates_by);
    }

private:
    Draws(const std::string& source, OrderedJson document) : source_(source), document_(std::move(document)) {}

    std::map<std::string, double> scores_of(std::uint64_t seed) const {
        std::map<std::string, double> scores;
        for (const UncertainNumber& number : uncertain_)
            scores[number.pointer] = score_of(seed, part_of(number.pointer));
        if (!correlation_) return scores;
        const auto& numbers = correlation_->numbers;
        std::vector<double> alone;
        alone.reserve(numbers.size());
        for (const std::string& number : numbers) alone.push_back(score_of(seed, part_of(number)));
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            double score = 0;
            for (std::size_t j = 0; j <= i; ++j) score += lower_[i][j] * alone[j];
            scores[numbers[i]] = score;
        }
        return scores;
    }

    /// With `share` of the scores and of the error of the rates.
    Result<ClusterModel> model_at(const std::map<std::string, double>& scores,
                                  double error,
                                  double share,
                                  double rates_by) const {
        OrderedJson document = document_;
        for (const UncertainNumber& number : uncertain_) {
            OrderedJson* const entry = entry_at(document, number.pointer);
            if (const auto score = scores.find(number.pointer); score != scores.end())
                put(*entry, drawn(number, share * score->second));
        }
        multiply(document, std::exp(share * error), rates_by);
        document.erase("calibration");
        sort_quantiles(document);
        make_certain(document);
        return read_model_document(document.dump(), source_);
    }

    /// All rates, and with them the time that reads keep their lines; `error`: not of exact numbers.
    void multiply(OrderedJson& document, double error, double all) const {
        const auto factor = [&](const std::string& pointer) {
            return std::ranges::count(exact_, pointer) > 0 ? all : all * error;
        };
        for (const std::string& pointer : rates_) {
            if (factor(pointer) == 1) continue;
            OrderedJson* const entry = entry_at(document, pointer);
            put(*entry, std::clamp((*entry)["value"].get<double>() * factor(pointer), 1.0, kRateMax));
        }
        for (const std::string& pointer : line_times_) {
            if (factor(pointer) == 1) continue;
            OrderedJson& entry = *entry_at(document, pointer);
            put(entry, plain_value(entry["value"]).value_or(0) / kNsPerS / factor(pointer));
        }
    }

    std::string source_;
    OrderedJson document_;
    std::vector<UncertainNumber> uncertain_;
    std::vector<std::string> rates_;
    std::vector<std::string> line_times_;
    std::vector<std::string> exact_;
    double model_error_ = 0;
    std::optional<NumberCorrelation> correlation_;
    std::vector<std::vector<double>> lower_;
};

}  // namespace

Result<std::vector<ClusterModel>> model_draws(std::string_view text,
                                              const std::string& source,
                                              std::uint32_t count,
                                              std::uint64_t seed,
                                              double model_error_factor) {
    const auto draws = Draws::of(text, source, model_error_factor);
    if (!draws) return draws.error();
    std::vector<ClusterModel> all;
    for (std::uint32_t i = 0; i < count; ++i) {
        auto model = draws->draw(seed, i);
        if (!model) return model.error();
        all.push_back(std::move(*model));
    }
    return all;
}

Result<ClusterModel> model_at_scores(std::string_view text,
                                     const std::string& source,
                                     const std::map<std::string, double>& scores,
                                     double of_rates,
                                     const std::vector<std::string>& exact,
                                     double rates_by) {
    auto draws = Draws::of(text, source, 1);
    if (!draws) return draws.error();
    draws->keep(exact);
    return draws->at(scores, of_rates, rates_by);
}

Result<std::string> document_without_bounds(std::string_view text, const std::string& source) {
    const auto model = read_model_document(text, source);
    if (!model) return model.error();
    auto document = OrderedJson::parse(text);
    for (const UncertainNumber& number : model->uncertain) {
        if (!number.at_least()) continue;
        OrderedJson* const entry = entry_at(document, number.pointer);
        const bool of_seat = number.pointer.starts_with("/client/");
        put(*entry, of_seat ? *number.low : std::min(number.value * kNeverFull, number.max));
        entry->erase("low");
    }
    return document.dump();
}

Result<ClusterModel> without_bounds(std::string_view text, const std::string& source) {
    const auto document = document_without_bounds(text, source);
    if (!document) return document.error();
    return read_model_document(*document, source);
}

}  // namespace streamsim::sim
