#include "run/published/sensitivity.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <utility>

#include "base/document/json.h"
#include "base/system/parallel_for.h"
#include "sim/model/document_values.h"
#include "sim/model/model_document.h"
#include "sim/model/model_numbers.h"

namespace streamsim::run {
namespace {

using Model = std::shared_ptr<const ClusterModel>;

/// A change is named by its percentage where it is that, but for this share of the value.
constexpr double kRounding = 0.005;

/// "+20 %"; "2 -> 3" where the changed document has another number than the value times `factor`.
std::string name_of_change(const ModelText& text,
                           const sim::ModelNumber& number,
                           double factor,
                           const std::string& changed) {
    auto before = OrderedJson::parse(text.text), after = OrderedJson::parse(changed);
    const OrderedJson& value = (*sim::entry_at(after, number.pointer))["value"];
    const double from = sim::plain_value((*sim::entry_at(before, number.pointer))["value"]).value_or(0);
    const double to = sim::plain_value(value).value_or(0);
    if (std::abs(to - from * factor) <= kRounding * from) return fmt::format("{:+.0f} %", 100 * (factor - 1));
    return fmt::format("{} -> {}", number.value, value.is_string() ? value.get<std::string>() : value.dump());
}

class Sensitivity {
public:
    Sensitivity(const ModelText& text,
                double percent,
                std::vector<PublishedRow> rows,
                const ModelPlayer& player,
                const PublishedOptions& options,
                std::uint64_t most)
        : text_(text),
          percent_(percent),
          rows_(std::move(rows)),
          player_(player),
          options_(options),
          limit_(most) {}

    Result<void> answer_as_it_is(const Model& model) {
        most_.resize(rows_.size());
        std::vector<Result<void>> done(rows_.size(), Result<void>());
        parallel_for(
            rows_.size(),
            [&](std::size_t i) {
                judge::MaxSearchOptions search;
                search.step = kFitPlay;
                search.confirm = {};
                search.repeatable = false;
                search.most = limit_;
                search.why_most = "no more were tried";
                const auto most = player_.most(model, rows_[i], search);
                if (!most) {
                    done[i] = most.error();
                    return;
                }
                // As the answers with a changed number, which run for longer where buffers empty.
                const bool bound = !most->at_least.empty();
                const std::uint64_t steps = most_near(model, i, most->streams, bound ? most->streams : limit_);
                most_[i] = {steps, steps == most->streams ? most->at_least : ""};
                options_.progress(fmt::format("{}: {} streams", rows_[i].id, shown(i, most_[i])));
            },
            computing_threads());
        for (const Result<void>& each : done) {
            if (!each) return each;
        }
        return {};
    }

    std::vector<NumberSensitivity> each_number(const std::vector<sim::ModelNumber>& numbers) {
        std::vector<NumberSensitivity> all(numbers.size());
        std::atomic<std::size_t> done{0};
        parallel_for(
            numbers.size(),
            [&](std::size_t i) {
                all[i] = of(numbers[i]);
                options_.progress(fmt::format("{} of {}: {}: {}", ++done, numbers.size(), all[i].pointer,
                                              all[i].changes.empty() ? all[i].not_changed : all[i].changes));
            },
            computing_threads());
        return all;
    }

    std::vector<PublishedAnswer> answers() const {
        std::vector<PublishedAnswer> all;
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            PublishedAnswer& answer = all.emplace_back();
            answer.id = rows_[i].id;
            answer.role = rows_[i].printed == 0 ? "question" : rows_[i].fit ? "fit" : "prediction";
            answer.text =
                fmt::format("{} seats on {} nodes, {}", rows_[i].seats, rows_[i].nodes, rows_[i].format);
            answer.printed = rows_[i].printed;
            answer.result = static_cast<double>(most_[i].steps * step_of(rows_[i]));
            answer.unit = "streams";
            if (!most_[i].at_least.empty()) answer.note = "at least: " + most_[i].at_least;
        }
        return all;
    }

private:
    NumberSensitivity of(const sim::ModelNumber& number) const {
        NumberSensitivity out{number.pointer, number.basis, number.value, "", false, ""};
        std::string changes;
        for (const double sign : {1.0, -1.0}) {
            const double factor = 1 + sign * percent_ / 100;
            const auto document =
                sim::changed_document(text_.text, text_.path, {{number.pointer, true, factor}});
            std::string by = fmt::format("{:+.0f} %", sign * percent_);
            if (document) by = name_of_change(text_, number, factor, *document);
            auto model = document ? sim::read_model_document(*document, text_.path) : document.error();
            if (!model) {
                const std::string& problem = model.error().problems.front();
                out.not_changed = fmt::format("{}: {}", by, problem.substr(problem.find(": /") + 2));
                continue;
            }
            const auto changed = std::make_shared<const ClusterModel>(std::move(*model));
            for (std::size_t i = 0; i < rows_.size(); ++i) {
                const std::string change = change_of(changed, i);
                if (!change.empty())
                    changes += fmt::format("{}{}: {} {}", changes.empty() ? "" : "; ", by, rows_[i].id, change);
            }
        }
        out.changes_any = !changes.empty();
        out.changes = changes.empty() ? "none" : changes;
        return out;
    }

    /// "15 -> 13", or "" where the answer is as before.
    std::string change_of(const Model& model, std::size_t i) const {
        const Answer& before = most_[i];
        const bool bound = !before.at_least.empty();
        const std::uint64_t limit = bound ? before.steps : 2 * before.steps + 4;
        const std::uint64_t steps = most_near(model, i, before.steps, limit);
        if (steps == before.steps) return "";
        return fmt::format("{} -> {}", shown(i, before), shown(i, {steps, steps == limit ? "more" : ""}));
    }

    /// The most that plays of a row, in its steps.
    std::uint64_t most_near(const Model& model, std::size_t i, std::uint64_t guess, std::uint64_t limit) const {
        return *judge::most_near(guess, limit, [&](std::uint64_t steps) -> Result<bool> {
            const auto streams = static_cast<std::uint32_t>(steps * step_of(rows_[i]));
            return player_.plays(model, rows_[i], streams, kFitPlay);
        });
    }

    /// In steps of the row.
    struct Answer {
        std::uint64_t steps = 0;
        std::string at_least = {};  // the reason for trying no more; empty: one more does not play
    };

    /// "at least 20": streams of a row.
    std::string shown(std::size_t row, const Answer& answer) const {
        return fmt::format("{}{}", answer.at_least.empty() ? "" : "at least ",
                           answer.steps * step_of(rows_[row]));
    }

    const ModelText& text_;
    const double percent_;
    const std::vector<PublishedRow> rows_;
    const ModelPlayer& player_;
    const PublishedOptions& options_;
    const std::uint64_t limit_;
    std::vector<Answer> most_;
};

}  // namespace

std::vector<PublishedRow> questions_to(const std::string& model,
                                       std::uint32_t nodes,
                                       const std::vector<PublishedPaper>& papers) {
    std::vector<PublishedRow> rows;
    for (const PublishedPaper& paper : papers) {
        for (const PublishedRow& row : paper.rows) {
            if (row.model == model) rows.push_back(row);
        }
    }
    if (!rows.empty()) return rows;
    for (const std::uint32_t seats : {1U, nodes}) {
        for (const char* format : {"prores-hd", "prores-uhd", "dpx10", "dpx12"}) {
            PublishedRow& row = rows.emplace_back();
            row.id = fmt::format("{}-on-{}-{}", seats, seats, format);
            row.model = model;
            row.nodes = row.seats = seats;
            row.format = format;
        }
        if (nodes == 1) break;
    }
    return rows;
}

Result<ModelSensitivity> sensitivity_of(const ModelText& text,
                                        const std::vector<PublishedPaper>& papers,
                                        double percent,
                                        const PublishedOptions& options,
                                        std::uint64_t most) {
    auto read = sim::read_model_document(text.text, text.path);
    if (!read) return read.error();
    const auto numbers = sim::model_numbers(text.text, text.path);
    if (!numbers) return numbers.error();
    const auto catalogue = media::Catalogue::load(options.formats + "/media");
    if (!catalogue) return catalogue.error();
    const auto model = std::make_shared<const ClusterModel>(std::move(*read));
    const ModelPlayer player(*catalogue, options.program);
    Sensitivity all(text, percent, questions_to(model->name, model->nodes, papers), player, options, most);
    if (auto answered = all.answer_as_it_is(model); !answered) return answered.error();
    ModelSensitivity out;
    out.model = model->name;
    out.title = model->title;
    out.percent = percent;
    out.answers = all.answers();
    out.numbers = all.each_number(*numbers);
    return out;
}

}  // namespace streamsim::run
