#include "sim/model/calibration_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/model/number_reader.h"

namespace streamsim::sim {
namespace {

constexpr std::int64_t kSeatsMax = 10'000;
constexpr std::int64_t kStreamsMax = 1'000'000;
constexpr double kModelErrorMax = 1;  // of ln rate: a factor of e
constexpr double kRounding = 1e-3;    // of the entries of a matrix
constexpr double kSymmetry = 1e-9;

bool has_number(const std::vector<std::string>& sources, const std::string& pointer) {
    return std::any_of(sources.begin(), sources.end(),
                       [&](const std::string& source) { return source.starts_with(pointer + ": "); });
}

/// The texts of a list; notes a problem for what is none.
std::vector<std::string> texts(JsonObject& object, const char* key, bool required, JsonProblems& problems) {
    std::vector<std::string> all;
    const Json* value = object.member(key, required);
    if (value == nullptr) return all;
    if (!value->is_array()) {
        object.problem(key, "expected a list of texts");
        return all;
    }
    for (std::size_t i = 0; i < value->size(); ++i) {
        const Json& each = (*value)[i];
        if (each.is_string() && !each.get_ref<const std::string&>().empty())
            all.push_back(each.get<std::string>());
        else
            problems.add(fmt::format("{}/{}", object.pointer_of(key), i),
                         fmt::format("expected a text, found {}", json_text(each)));
    }
    return all;
}

/// A row for each number. Nothing, with a problem noted, for anything else.
std::optional<std::vector<std::vector<double>>> read_matrix(JsonObject& object, std::size_t size) {
    const Json* value = object.member("matrix");
    if (value == nullptr) return std::nullopt;
    const auto is_row = [&](const Json& row) {
        return row.is_array() && row.size() == size &&
               std::all_of(row.begin(), row.end(), [](const Json& each) {
                   return each.is_number() && std::abs(each.get<double>()) <= 1;
               });
    };
    if (!value->is_array() || value->size() != size || !std::all_of(value->begin(), value->end(), is_row)) {
        object.problem("matrix", fmt::format("expected a row of {0} numbers from -1 to 1 for each of the {0} "
                                             "/calibration/correlation/numbers",
                                             size));
        return std::nullopt;
    }
    return value->get<std::vector<std::vector<double>>>();
}

void check_matrix(JsonObject& object, const std::vector<std::vector<double>>& matrix) {
    for (std::size_t i = 0; i < matrix.size(); ++i) {
        if (std::abs(matrix[i][i] - 1) > kSymmetry)
            return object.problem("matrix", "expected ones on the diagonal");
        for (std::size_t j = 0; j < i; ++j) {
            if (std::abs(matrix[i][j] - matrix[j][i]) > kSymmetry)
                return object.problem("matrix", fmt::format("expected a symmetric matrix: row {} column {} and "
                                                            "row {} column {} differ",
                                                            i, j, j, i));
        }
    }
    if (!cholesky(matrix))
        object.problem("matrix",
                       "expected the correlations of numbers: no numbers vary together like this (the "
                       "matrix is not positive semidefinite)");
}

std::optional<NumberCorrelation> read_correlation(JsonObject& from,
                                                  const std::vector<std::string>& sources,
                                                  JsonProblems& problems) {
    const Json* value = from.member("correlation", false);
    if (value == nullptr) return std::nullopt;
    JsonObject object(*value, from.pointer_of("correlation"), problems);
    NumberCorrelation correlation;
    correlation.numbers = texts(object, "numbers", true, problems);
    for (std::size_t i = 0; i < correlation.numbers.size(); ++i) {
        const std::string& number = correlation.numbers[i];
        if (!has_number(sources, number))
            problems.add(fmt::format("{}/{}", object.pointer_of("numbers"), i),
                         fmt::format("there is no number at {}", number));
        if (std::count(correlation.numbers.begin(), correlation.numbers.end(), number) > 1)
            problems.add(fmt::format("{}/{}", object.pointer_of("numbers"), i),
                         fmt::format("{} is given twice", number));
    }
    if (auto matrix = read_matrix(object, correlation.numbers.size())) {
        check_matrix(object, *matrix);
        correlation.matrix = std::move(*matrix);
    }
    object.finish();
    return correlation;
}

std::optional<HeldBackRun> read_held_back(JsonObject& from, JsonProblems& problems) {
    const Json* value = from.member("held_back", false);
    if (value == nullptr) return std::nullopt;
    JsonObject object(*value, from.pointer_of("held_back"), problems);
    const auto count = [&object](const char* key, std::int64_t min, std::int64_t max) {
        return static_cast<std::uint32_t>(object.integer(key, min, max).value_or(min));
    };
    HeldBackRun run;
    run.format = object.string("format").value_or("");
    run.seats = count("seats", 1, kSeatsMax);
    run.streams_measured = count("streams_measured", 0, kStreamsMax);
    run.predicted = count("predicted", 0, kStreamsMax);
    run.low = count("low", 0, kStreamsMax);
    run.high = count("high", 0, kStreamsMax);
    run.rejected = object.boolean("rejected").value_or(false);
    run.at_least = object.string("at_least", false).value_or("");
    if (object.has("low") && object.has("high") && run.low > run.high)
        object.problem("high", "expected no less than \"low\"");
    object.finish();
    return run;
}

}  // namespace

std::optional<CalibrationFacts> read_calibration(const Json& value,
                                                 const std::vector<std::string>& sources,
                                                 JsonProblems& problems) {
    JsonObject object(value, "/calibration", problems);
    CalibrationFacts facts;
    facts.target = object.string("target").value_or("");
    facts.measured_at = object.string("measured_at").value_or("");
    facts.seats = static_cast<std::uint32_t>(object.integer("seats", 1, kSeatsMax).value_or(1));
    facts.links_bits_per_s = object.number("links_bits_per_s", 1, kRateMax, false);
    facts.formats = texts(object, "formats", false, problems);
    facts.told_apart = object.boolean("told_apart", false).value_or(false);
    facts.other_load = object.boolean("other_load", false).value_or(false);
    facts.raw = object.string("raw", false).value_or("");
    facts.correlation = read_correlation(object, sources, problems);
    facts.model_error = object.number("model_error", 0, kModelErrorMax, false).value_or(0);
    facts.held_back = read_held_back(object, problems);
    object.finish();
    return facts;
}

std::optional<std::vector<std::vector<double>>> cholesky(const std::vector<std::vector<double>>& matrix) {
    const std::size_t size = matrix.size();
    std::vector<std::vector<double>> lower(size, std::vector<double>(size, 0));
    for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            double rest = i == j ? 1 : (1 - kRounding) * matrix[i][j];
            for (std::size_t k = 0; k < j; ++k) rest -= lower[i][k] * lower[j][k];
            if (i == j && rest <= 0) return std::nullopt;
            lower[i][j] = i == j ? std::sqrt(rest) : rest / lower[j][j];
        }
    }
    return lower;
}

}  // namespace streamsim::sim
