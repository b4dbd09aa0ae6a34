#include "run/published/published_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "base/system/parallel_for.h"
#include "judge/interval_fit.h"
#include "sim/model/model_numbers.h"

namespace streamsim::run {
namespace {

using Values = std::map<std::string, double>;  // by parameter

/// A value that changes by less has not changed.
constexpr double kSameShare = 0.005;
constexpr int kRoundsMax = 6;
constexpr int kDigitsOfNumbers = 6;

double six_digits(double value) {
    return value == 0 ? 0 : std::stod(fmt::format("{:.{}g}", value, kDigitsOfNumbers));
}

class Fit {
public:
    Fit(const PublishedPaper& paper, const ModelPlayer& player, const PublishedOptions& options)
        : paper_(paper), player_(player), options_(options) {
        for (const FitParameter& parameter : paper.parameters)
            values_[parameter.name] = std::sqrt(parameter.least * parameter.most);
    }

    Result<PublishedFit> run() {
        if (auto read = read_models(); !read) return read.error();
        PublishedFit fit;
        fit.paper = paper_.name;
        for (int round = 1; round <= kRoundsMax; ++round) {
            if (!fit_once(round, fit.parameters)) break;
        }
        for (const FittedNumber& number : paper_.numbers) {
            const ModelText& text = texts_.at(number.model);
            const auto shipped = sim::number_at(text.text, text.path, number.pointer);
            if (!shipped) return shipped.error();
            fit.values.push_back({number.model, number.pointer, value_of(number, values_), *shipped});
        }
        leave_out(fit);
        return fit;
    }

private:
    Result<void> read_models() {
        std::vector<std::string> names;
        for (const PublishedRow& row : paper_.rows) names.push_back(row.model);
        for (const FittedNumber& number : paper_.numbers) names.push_back(number.model);
        for (const std::string& name : names) {
            if (texts_.count(name) > 0) continue;
            auto text = read_model_text(name, options_.formats);
            if (!text) return text.error();
            texts_[name] = std::move(*text);
            if (const auto model = model_with(name, values_); !model) return model.error();
        }
        return {};
    }

    static double value_of(const FittedNumber& number, const Values& values) {
        double value = number.constant;
        for (const FittedNumber::Term& term : number.terms) value += term.factor * values.at(term.parameter);
        return six_digits(std::max(value, 0.0));
    }

    Result<std::shared_ptr<const ClusterModel>> model_with(const std::string& name,
                                                           const Values& values) const {
        std::vector<sim::ModelChange> changes;
        for (const FittedNumber& number : paper_.numbers) {
            if (number.model == name) changes.push_back({number.pointer, false, value_of(number, values)});
        }
        const ModelText& text = texts_.at(name);
        auto model = sim::changed_model(text.text, text.path, changes);
        if (!model) return model.error();
        return std::make_shared<const ClusterModel>(std::move(*model));
    }

    const PublishedRow& row_of(const std::string& id) const {
        return *std::find_if(paper_.rows.begin(), paper_.rows.end(),
                             [&id](const PublishedRow& row) { return row.id == id; });
    }

    bool plays(const PublishedRow& row, std::uint32_t streams, const Values& values) const {
        const auto model = model_with(row.model, values);  // a number out of its bounds: nothing plays
        return model && player_.plays(*model, row, streams, kFitPlay);
    }

    /// True: a parameter changed.
    bool fit_once(int round, std::vector<FittedParameter>& into) {
        bool changed = false;
        into.clear();
        for (const FitParameter& parameter : paper_.parameters) {
            std::vector<FitInterval> intervals(parameter.rows.size());
            parallel_for(
                intervals.size(),
                [&](std::size_t i) {
                    const PublishedRow& row = row_of(parameter.rows[i]);
                    intervals[i] = judge::interval_of(parameter, row, row.printed + step_of(row),
                                                      [&](double value, std::uint32_t streams) {
                                                          Values tried = values_;
                                                          tried[parameter.name] = value;
                                                          return plays(row, streams, tried);
                                                      });
                },
                computing_threads());
            into.push_back(judge::parameter_of(parameter, intervals));
            const double before = std::exchange(values_[parameter.name], into.back().value);
            changed |= std::abs(into.back().value / before - 1) > kSameShare;
            options_.progress(fmt::format("{}: fit, round {}: {} {:.4g}", paper_.name, round, parameter.name,
                                          values_[parameter.name]));
        }
        return changed;
    }

    /// Fits without one row after the other, by the intervals of the others, and predicts it.
    void leave_out(PublishedFit& fit) {
        std::vector<const PublishedRow*> rows;
        for (const PublishedRow& row : paper_.rows) {
            if (row.fit) rows.push_back(&row);
        }
        fit.left_out.resize(rows.size());
        parallel_for(
            rows.size(),
            [&](std::size_t i) {
                const PublishedRow& row = *rows[i];
                Values values = values_;
                for (std::size_t p = 0; p < paper_.parameters.size(); ++p) {
                    const FitParameter& parameter = paper_.parameters[p];
                    if (std::find(parameter.rows.begin(), parameter.rows.end(), row.id) == parameter.rows.end())
                        continue;
                    values[parameter.name] =
                        judge::parameter_of(parameter, fit.parameters[p].intervals, row.id).value;
                }
                std::uint32_t predicted = 0;
                if (const auto model = model_with(row.model, values)) {
                    judge::MaxSearchOptions search;
                    search.step = kFitPlay;
                    search.confirm = {};
                    search.repeatable = false;
                    search.most = 10'000;
                    if (const auto most = player_.most(*model, row, search))
                        predicted = static_cast<std::uint32_t>(most->streams) * step_of(row);
                }
                fit.left_out[i] = {row.id, row.printed, predicted};
                options_.progress(fmt::format("{}: left out {}: {} predicted, {} printed", paper_.name, row.id,
                                              predicted, row.printed));
            },
            computing_threads());
    }

    const PublishedPaper& paper_;
    const ModelPlayer& player_;
    const PublishedOptions& options_;
    std::map<std::string, ModelText> texts_;
    Values values_;
};

}  // namespace

Result<PublishedFit> fit_again(const PublishedPaper& paper,
                               const ModelPlayer& player,
                               const PublishedOptions& options) {
    return Fit(paper, player, options).run();
}

}  // namespace streamsim::run
