// `predict`: the answers of a calibrated model, with their intervals.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "cli/commands/commands.h"
#include "cli/media/background_work.h"
#include "cli/options/documents.h"
#include "cli/output/output_documents.h"
#include "judge/prediction_rules.h"
#include "report/html/html_report.h"
#include "report/text/text_report.h"
#include "result/json_report.h"
#include "run/prediction/prediction.h"

namespace streamsim::cli {
namespace {

using PredictionDocuments = OutputDocuments<PredictionResult>;

/// Errors: bad input where the target is no model whose answers vary.
Result<void> check_target(const target::Target& target) {
    if (target.kind != target::Target::Kind::model)
        return bad_input(
            fmt::format("'{}': predict is for a model: give sim:NAME, a NAME of formats/storage/ or a document",
                        target.url));
    if (run::is_uncertain(*target.model)) return {};
    return bad_input(
        fmt::format("'{}': no number of this model has \"low\" and \"high\", so that no answer varies: predict "
                    "is for a model "
                    "that was calibrated (`streamsim max` finds the one answer)",
                    target.url));
}

/// The streams are given, so that the question is whether they play.
bool asks_whether_they_play(const CliOptions& options) {
    return options.given("--streams") || options.given("--total-streams") || options.play.record.streams > 0 ||
           options.play.cuts || options.play.streams == 0;
}

}  // namespace

run::PredictionOptions prediction_options(CommandContext& context, std::uint32_t standard) {
    run::PredictionOptions options;
    options.draws = context.options.draws.value_or(standard);
    options.headroom_percent = context.options.headroom_percent;
    options.program = context.program;
    options.progress = [&context](const std::string& text) {
        if (!context.options.quiet) context.log.info(text);
    };
    return options;
}

namespace {

/// Predicts in the background; an interruption keeps the draws that are done. Errors: of `predict`;
/// interrupted.
template <typename Predict>
Result<Prediction> predict_in_background(BackgroundWork& work,
                                         run::PredictionOptions options,
                                         Predict predict) {
    const auto stop = std::make_shared<std::atomic<bool>>(false);
    options.stop = stop;
    return work.run_until_stopped([options, predict = std::move(predict)] { return predict(options); },
                                  [stop] { *stop = true; });
}

/// The prediction of another command, in the background. `predict` takes the text of the model's document and
/// the options.
template <typename Predict>
std::optional<Prediction> predict_beside(CommandContext& context,
                                         BackgroundWork& work,
                                         const target::Target& target,
                                         Predict predict) {
    const run::PredictionOptions options = prediction_options(context, run::kPlayDraws);
    if (target.model == nullptr || !run::is_uncertain(*target.model) || options.draws == 0) return std::nullopt;
    const auto formats = formats_directory();
    const auto text =
        formats ? run::read_model_text(target.path, *formats) : Result<run::ModelText>(formats.error());
    if (!text) {
        context.log.warn(text.error().problems.front());
        return std::nullopt;
    }
    work.suppress_messages();
    if (!context.options.quiet)
        context.log.info(fmt::format("{} draws of the model's uncertain numbers (--draws 0 leaves them out)",
                                     options.draws));
    auto prediction = predict_in_background(
        work, options,
        [text = *text, predict](const run::PredictionOptions& each) { return predict(text, each); });
    if (prediction) return std::move(*prediction);
    if (prediction.error().kind != ErrorKind::interrupted)
        context.log.warn(prediction.error().problems.front());
    return std::nullopt;
}

}  // namespace

std::optional<Prediction> predict_whether_it_plays(CommandContext& context,
                                                   BackgroundWork& work,
                                                   run::PartsToPlay what) {
    const target::Target target = what.request.target;
    return predict_beside(
        context, work, target,
        [what = std::move(what)](const run::ModelText& text, const run::PredictionOptions& options) {
            return run::predict_plays(text, what, options);
        });
}

std::optional<Prediction> predict_most_streams(CommandContext& context,
                                               BackgroundWork& work,
                                               const run::PlayRequest& request,
                                               std::optional<std::uint64_t> nominal) {
    return predict_beside(
        context, work, request.target,
        [request, nominal](const run::ModelText& text, const run::PredictionOptions& options) {
            return run::predict_most(text, request, nominal, options);
        });
}

namespace {

/// One prediction command.
class PredictCommand {
public:
    explicit PredictCommand(CommandContext& context) : context_(context), work_(context) {}

    int run() {
        CliOptions& options = context_.options;
        if (context_.ranks != nullptr) return report_error(context_, bad_input("predict is for one computer"));
        if (auto checked = check_target(options.play.target); !checked)
            return report_error(context_, checked.error());
        auto documents = PredictionDocuments::prepare(
            options.files,
            {{&ResultFiles::json, result::kPredictionReportBegins, result::prediction_json_report},
             {&ResultFiles::html, report::kPredictionHtmlBegins, report::prediction_html_report}});
        if (!documents) return report_error(context_, documents.error());
        if (options.play.formats.empty() && !options.play.cuts && options.play.streams > 0)
            options.play.formats.push_back(options.default_format);
        for (const std::string& remark : options.play.remarks) {
            if (!options.quiet) context_.log.warn(remark);
        }
        result_.common = run::not_played(options.play, context_.program);
        result_.draws = prediction_options(context_, run::kPredictDraws).draws;
        work_.suppress_messages();
        const auto predicted = predict();
        if (!predicted && predicted.error().kind != ErrorKind::interrupted)
            return end_command(work_, report_error(context_, predicted.error()));
        result_.interrupted = !predicted || context_.control.interrupted();
        return end_command(work_, finish(*documents));
    }

private:
    Result<void> predict() {
        const auto formats = formats_directory();
        if (!formats) return formats.error();
        const auto text = run::read_model_text(context_.options.play.target.path, *formats);
        if (!text) return text.error();
        const run::PredictionOptions options = prediction_options(context_, run::kPredictDraws);
        if (options.draws == 0) return bad_input("--draws: 0 predicts nothing: give 20 or more");
        if (asks_whether_they_play(context_.options)) return predict_these(*text, options);
        for (const MediaFormat& format : context_.options.play.formats) {
            run::PlayRequest request = context_.options.play;
            request.formats = {format};
            if (!context_.options.quiet)
                context_.log.info(fmt::format("{}: searching for the most streams that play", format.name));
            auto one = predict_in_background(work_, options,
                                             [text = *text, request](const run::PredictionOptions& each) {
                                                 return run::predict_most(text, request, std::nullopt, each);
                                             });
            if (!one) return one.error();
            result_.predictions.push_back(std::move(*one));
            if (context_.control.interrupted()) return interrupted_error();
        }
        return {};
    }

    Result<void> predict_these(const run::ModelText& text, const run::PredictionOptions& options) {
        const run::PlayRequest request = context_.options.play;
        const auto predict = [text, request](const run::PredictionOptions& each) -> Result<Prediction> {
            auto media = run::find_media(nullptr, request, nullptr);
            if (!media) return media.error();
            return run::predict_plays(text, {request, run::one_part(request, std::move(*media)), {}}, each);
        };
        auto one = predict_in_background(work_, options, predict);
        if (!one) return one.error();
        result_.predictions.push_back(std::move(*one));
        return {};
    }

    int finish(PredictionDocuments& documents) {
        if (result_.predictions.empty()) documents.keep_earlier(context_.log);
        const auto written = documents.write(result_);
        if (!context_.options.quiet)
            print_text(documents.standard_output() ? stderr : stdout,
                       report::prediction_text_report(result_, context_.options.text_detail()));
        if (!written) return report_error(context_, written.error());
        if (result_.interrupted) return kExitInterrupted;
        const bool plays = std::ranges::all_of(result_.predictions, judge::predicts_play);
        return plays ? kExitPass : kExitMissed;
    }

    CommandContext& context_;
    BackgroundWork work_;
    PredictionResult result_;
};

}  // namespace

int predict_command(CommandContext& context) {
    return PredictCommand(context).run();
}

}  // namespace streamsim::cli
