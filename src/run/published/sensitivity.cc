#include "run/published/sensitivity.h"

#include <fmt/format.h>

#include <atomic>
#include <memory>
#include <utility>

#include "base/system/parallel_for.h"
#include "sim/model/model_document.h"
#include "sim/model/model_numbers.h"

namespace streamsim::run {
namespace {

using Model = std::shared_ptr<const ClusterModel>;

class Sensitivity {
public:
    Sensitivity(const ModelText& text,
                double percent,
                std::vector<PublishedRow> rows,
                const ModelPlayer& player,
                const PublishedOptions& options)
        : text_(text), percent_(percent), rows_(std::move(rows)), player_(player), options_(options) {}

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
                search.most = 1'000;
                const auto most = player_.most(model, rows_[i], search);
                if (!most) {
                    done[i] = most.error();
                    return;
                }
                most_[i] = static_cast<std::uint32_t>(most->streams) * step_of(rows_[i]);
                options_.progress(fmt::format("{}: {} streams", rows_[i].id, most_[i]));
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
            answer.result = most_[i];
            answer.unit = "streams";
        }
        return all;
    }

private:
    NumberSensitivity of(const sim::ModelNumber& number) const {
        NumberSensitivity out{number.pointer, number.basis, number.value, "", false, ""};
        std::string changes;
        for (const double sign : {1.0, -1.0}) {
            auto model =
                sim::changed_model(text_.text, text_.path, {{number.pointer, true, 1 + sign * percent_ / 100}});
            const std::string by = fmt::format("{:+.0f} %", sign * percent_);
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
        const PublishedRow& row = rows_[i];
        const std::uint32_t step = step_of(row);
        std::uint32_t most = most_[i];
        if (player_.plays(model, row, most, kFitPlay)) {
            const std::uint32_t limit = 2 * most + 4 * step;
            while (most < limit && player_.plays(model, row, most + step, kFitPlay)) most += step;
        } else {
            while (most > 0 && !player_.plays(model, row, most, kFitPlay)) most -= step;
        }
        const bool more = most > most_[i] && most >= 2 * most_[i] + 4 * step;
        return most == most_[i] ? "" : fmt::format("{} -> {}{}", most_[i], more ? "at least " : "", most);
    }

    const ModelText& text_;
    const double percent_;
    const std::vector<PublishedRow> rows_;
    const ModelPlayer& player_;
    const PublishedOptions& options_;
    std::vector<std::uint32_t> most_;
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
                                        const PublishedOptions& options) {
    auto read = sim::read_model_document(text.text, text.path);
    if (!read) return read.error();
    const auto numbers = sim::model_numbers(text.text, text.path);
    if (!numbers) return numbers.error();
    const auto catalogue = media::Catalogue::load(options.formats + "/media");
    if (!catalogue) return catalogue.error();
    const auto model = std::make_shared<const ClusterModel>(std::move(*read));
    const ModelPlayer player(*catalogue, options.program);
    Sensitivity all(text, percent, questions_to(model->name, model->nodes, papers), player, options);
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
