#include "run/published/published_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <utility>

#include "base/document/document.h"
#include "base/system/parallel_for.h"
#include "run/load_steps.h"
#include "run/plan/media_plan.h"
#include "run/plan/meters.h"
#include "run/published/published_fit.h"
#include "scenario/published_document.h"
#include "scenario/workload_steps.h"
#include "sim/model/model_document.h"
#include "target/named_documents.h"

namespace streamsim::run {
namespace {

/// As `max` on a model.
constexpr Duration kStep = seconds(20);
constexpr Duration kConfirm = seconds(60);
constexpr std::uint64_t kStreamsMax = 10'000;

std::string seats_text(const PublishedRow& row) {
    return fmt::format("{}: {} client{} on {} node{}, {}", row.model, row.seats, row.seats == 1 ? "" : "s",
                       row.nodes, row.nodes == 1 ? "" : "s", row.format);
}

class PublishedRun {
public:
    PublishedRun(const std::vector<PublishedPaper>& papers,
                 const PublishedOptions& options,
                 const media::Catalogue& catalogue)
        : papers_(papers), options_(options), player_(catalogue, options.program) {}

    Result<PublishedResult> run() {
        if (auto read = read_models(); !read) return read.error();
        plan();
        using Answers = std::vector<PublishedAnswer>;
        std::vector<Result<Answers>> answers(work_.size(), Result<Answers>(Answers()));
        std::atomic<std::size_t> done{0};
        parallel_for(
            work_.size(),
            [&](std::size_t i) {
                answers[i] = work_[i].answer();
                options_.progress(fmt::format("{} of {}: {}", ++done, work_.size(), work_[i].text));
            },
            computing_threads());
        PublishedResult result;
        for (auto& each : answers) {
            if (!each) return each.error();
            result.answers.insert(result.answers.end(), each->begin(), each->end());
        }
        for (const PublishedPaper& paper : papers_) {
            for (const PublishedOther& other : paper.others)
                result.unanswered.push_back({paper.name, other.printed, other.why});
            if (!options_.fit || paper.parameters.empty()) continue;
            auto fit = fit_again(paper, player_, options_);
            if (!fit) return fit.error();
            result.fits.push_back(std::move(*fit));
        }
        return result;
    }

private:
    struct Work {
        std::string text;
        std::function<Result<std::vector<PublishedAnswer>>()> answer;
    };

    Result<void> read_models() {
        for (const PublishedPaper& paper : papers_) {
            for (const PublishedRow& row : paper.rows) {
                if (models_.count(row.model) > 0) continue;
                const auto text = read_model_text(row.model, options_.formats);
                if (!text) return text.error();
                auto model = sim::read_model_document(text->text, text->path);
                if (!model) return model.error();
                models_[row.model] = std::make_shared<const ClusterModel>(std::move(*model));
            }
        }
        return {};
    }

    void plan() {
        for (const PublishedPaper& paper : papers_) {
            for (const PublishedRow& row : paper.rows)
                work_.push_back({row.id, [&] { return row_answer(paper, row); }});
            for (const PublishedFigure& figure : paper.figures)
                work_.push_back({figure.id, [&] { return figure_answer(paper, figure); }});
            for (const PublishedLoad& load : paper.loads)
                work_.push_back(
                    {load.workload + " on " + load.target, [&] { return load_answers(paper, load); }});
        }
    }

    judge::MaxSearchOptions search() const {
        judge::MaxSearchOptions options;
        options.step = kStep;
        options.confirm = kConfirm;
        options.repeatable = false;
        options.most = kStreamsMax;
        return options;
    }

    Result<std::vector<PublishedAnswer>> row_answer(const PublishedPaper& paper,
                                                    const PublishedRow& row) const {
        const auto& model = models_.at(row.model);
        const auto most = player_.most(model, row, search());
        if (!most) return most.error();
        const auto streams = static_cast<std::uint32_t>(most->streams) * step_of(row);
        const auto more = player_.play(model, row, streams + step_of(row), kConfirm);
        if (!more) return more.error();
        PublishedAnswer answer;
        answer.paper = paper.name;
        answer.id = row.id;
        answer.text = seats_text(row);
        answer.role = row.fit ? "fit" : "prediction";
        answer.command = fmt::format("streamsim max --format {} --seats {}{} '{}'", row.format, row.seats,
                                     row.equal ? " --find streams" : "", url_of(row));
        answer.printed = row.printed;
        answer.result = streams;
        answer.unit = "streams";
        answer.direct_agrees = player_.plays(model, row, streams, kConfirm) && !more->pass;
        answer.printed_limit = row.printed_limit;
        answer.limit = to_string(more->limit);
        answer.note = row.note;
        return std::vector{answer};
    }

    const PublishedRow& row_of(const PublishedPaper& paper, const std::string& id) const {
        return *std::find_if(paper.rows.begin(), paper.rows.end(),
                             [&id](const PublishedRow& row) { return row.id == id; });
    }

    Result<std::vector<PublishedAnswer>> figure_answer(const PublishedPaper& paper,
                                                       const PublishedFigure& figure) const {
        using Quantity = PublishedFigure::Quantity;
        PublishedAnswer answer;
        answer.paper = paper.name;
        answer.id = figure.id;
        answer.text = figure.text;
        answer.role = "figure";
        answer.printed = figure.printed;
        answer.unit = figure.unit;
        answer.note = figure.note;
        Result<double> rate = 0.0;
        if (figure.quantity == Quantity::format_rate) {
            rate = player_.rate_of(figure.format);
            answer.command = fmt::format("streamsim formats {}", figure.format);
        } else {
            const PublishedRow& row = row_of(paper, figure.row);
            rate = figure.quantity == Quantity::most_rate ? player_.most_rate(models_.at(row.model), row)
                                                          : required_by(row);
            answer.command = figure.quantity == Quantity::most_rate
                                 ? fmt::format("streamsim --format {} --streams 8 --seats {} '{}'", row.format,
                                               row.seats, url_of(row))
                                 : fmt::format("streamsim max --format {} --seats {} '{}'", row.format,
                                               row.seats, url_of(row));
        }
        if (!rate) return rate.error();
        answer.result = *rate / figure.unit_per_s;
        return std::vector{answer};
    }

    Result<double> required_by(const PublishedRow& row) const {
        const auto most = player_.most(models_.at(row.model), row, search());
        if (!most) return most.error();
        const auto rate = player_.rate_of(row.format);
        if (!rate) return rate.error();
        return *rate * static_cast<double>(most->streams) * step_of(row);
    }

    Result<std::vector<PublishedAnswer>> load_answers(const PublishedPaper& paper,
                                                      const PublishedLoad& load) const;

    const std::vector<PublishedPaper>& papers_;
    const PublishedOptions& options_;
    const ModelPlayer player_;
    std::map<std::string, std::shared_ptr<const ClusterModel>> models_;
    std::vector<Work> work_;
};

/// The unit of a quantity, and how much of the quantity one of it is.
std::pair<const char*, double> unit_of(const std::string& quantity) {
    if (quantity.find("bytes_per_s") != std::string::npos) return {"GB/s", 1e9};
    if (quantity.ends_with("_ms")) return {"ms", 1};
    if (quantity.find("operations_per_s") != std::string::npos) return {"operations/s", 1};
    return {"", 1};
}

/// The step has a printed figure of this model, or may be its peak.
bool is_wanted(const Workload& workload, const PublishedLoad& load, const std::string& model, double at) {
    const bool listed =
        load.steps.empty() || std::find(load.steps.begin(), load.steps.end(), at) != load.steps.end();
    return std::any_of(workload.printed.begin(), workload.printed.end(), [&](const PrintedFigure& figure) {
        if (!figure.model.empty() && figure.model != model) return false;
        return workload.sweep.over == Sweep::Over::none || (figure.peak ? listed : figure.at == at);
    });
}

Result<std::vector<PublishedAnswer>> PublishedRun::load_answers(const PublishedPaper& paper,
                                                                const PublishedLoad& load) const {
    auto workload = target::open_workload(load.workload, options_.formats + "/workload");
    if (!workload) return workload.error();
    auto target = target::parse_target(load.target);
    if (!target) return target.error();
    if (auto opened = target::open_model(*target, options_.formats + "/storage"); !opened)
        return opened.error();
    if (load.duration) workload->duration = *load.duration;
    PlayRequest base;
    base.target = std::move(*target);
    base.find_cause = false;
    std::vector<double> values = workload->sweep.values;
    if (workload->sweep.over == Sweep::Over::none) values = {0};
    std::vector<LoadStep> steps;
    std::erase_if(values, [&](double at) { return !is_wanted(*workload, load, base.target.model->name, at); });
    if (workload->sweep.over != Sweep::Over::none)
        workload->sweep.values = values;  // a peak is that of all steps
    for (const double at : values) {
        const Workload step = scenario::at_step(*workload, at);
        PlayRequest request = load_request(step, base);
        if (workload->sweep.over == Sweep::Over::cache) request.target.warm = at > 0;
        auto media = find_media(nullptr, request, nullptr);
        if (!media) return media.error();
        Session session(request, std::move(*media), options_.program, [](const std::string&) {});
        auto result = session.execute();
        if (!result) return result.error();
        steps.push_back(load_step(at, step, std::move(*result)));
    }
    std::vector<PublishedAnswer> answers;
    for (const PrintedComparison& each : compare_with_printed(*workload, steps)) {
        const auto [unit, size] = unit_of(each.printed.quantity);
        PublishedAnswer answer;
        answer.paper = paper.name;
        answer.id =
            fmt::format("{}{}{}", load.workload, each.printed.model.empty() ? "" : "-" + each.printed.model,
                        each.printed.peak                           ? "-peak"
                        : workload->sweep.over == Sweep::Over::none ? ""
                                                                    : fmt::format("-{:g}", each.printed.at));
        answer.text = each.printed.source;
        answer.role = "workload";
        answer.command = fmt::format("streamsim run {} '{}'", load.workload, load.target);
        answer.printed = each.printed.value / size;
        answer.result = each.measured / size;
        answer.unit = unit;
        answers.push_back(std::move(answer));
    }
    return answers;
}

}  // namespace

Result<std::vector<PublishedPaper>> read_papers(const std::string& formats) {
    std::vector<PublishedPaper> papers;
    Error problems{ErrorKind::bad_input, {}};
    const std::string directory = formats + "/published";
    for (const std::string& name : target::document_names(directory)) {
        const std::string path = fmt::format("{}/{}.json", directory, name);
        const auto text = read_document(path);
        auto paper = text ? scenario::read_published(*text, path) : Result<PublishedPaper>(text.error());
        if (paper) {
            papers.push_back(std::move(*paper));
        } else {
            for (const std::string& problem : paper.error().problems) problems.problems.push_back(problem);
        }
    }
    if (!problems.problems.empty()) return problems;
    if (papers.empty()) return environment_error(directory + ": there is no document of a paper");
    return papers;
}

Result<ModelText> read_model_text(const std::string& model, const std::string& formats) {
    ModelText out{target::names_a_file(model) ? model : fmt::format("{}/storage/{}.json", formats, model), ""};
    auto text = read_document(out.path);
    if (!text) return text.error();
    out.text = std::move(*text);
    return out;
}

Result<PublishedResult> play_published(const std::vector<PublishedPaper>& papers,
                                       const PublishedOptions& options) {
    const auto catalogue = media::Catalogue::load(options.formats + "/media");
    if (!catalogue) return catalogue.error();
    return PublishedRun(papers, options, *catalogue).run();
}

}  // namespace streamsim::run
