// `run published`: printed results of papers beside what the models give for them.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "cli/commands/commands.h"
#include "cli/media/background_work.h"
#include "cli/options/documents.h"
#include "cli/options/option_table.h"
#include "cli/output/output_documents.h"
#include "report/published/published_report.h"
#include "result/json_report.h"
#include "run/published/published_run.h"
#include "run/published/sensitivity.h"

namespace streamsim::cli {
namespace {

using PublishedDocuments = OutputDocuments<PublishedResult>;

run::PublishedOptions options_for(CommandContext& context, std::string formats) {
    run::PublishedOptions options;
    options.formats = std::move(formats);
    options.program = context.program;
    options.fit = context.options.fit;
    options.progress = [&context](const std::string& text) {
        if (!context.options.quiet) context.log.info(text);
    };
    return options;
}

Result<PublishedDocuments> documents_of(const CliOptions& options) {
    return PublishedDocuments::prepare(
        options.files, {{&ResultFiles::json, result::kPublishedReportBegins, result::published_json_report},
                        {&ResultFiles::csv, report::kPublishedCsvBegins, report::published_csv_report},
                        {&ResultFiles::html, report::kPublishedHtmlBegins, report::published_html_report}});
}

/// The options of `run` that mean something here.
constexpr const char* kOptions[] = {"--fit",    "--json", "--csv",  "--html",  "--title",
                                    "--client", "--note", "--logo", "--quiet", "--verbose"};

/// Errors: bad input for each other one, which would have no effect.
Result<void> check_options(const CliOptions& options) {
    Error problems{ErrorKind::bad_input, {}};
    for (const Option& option : option_table()) {
        const std::string name = option.name();
        if (options.given(name) && std::ranges::count(kOptions, name) == 0)
            problems.problems.push_back(fmt::format("{}: is not for run published: leave it out", name));
    }
    if (!problems.problems.empty()) return problems;
    return {};
}

}  // namespace

int published_command(CommandContext& context) {
    const auto formats = formats_directory();
    if (!formats) return report_error(context, formats.error());
    if (context.ranks != nullptr) return report_error(context, bad_input("run published is for one computer"));
    if (!context.options.target.empty())
        return report_error(context,
                            bad_input(fmt::format("'{}': run published plays on the models of its papers: "
                                                  "give no TARGET",
                                                  context.options.target)));
    if (auto checked = check_options(context.options); !checked) return report_error(context, checked.error());
    auto documents = documents_of(context.options);
    if (!documents) return report_error(context, documents.error());
    const auto papers = run::read_papers(*formats);
    if (!papers) return report_error(context, papers.error());
    BackgroundWork work(context);
    work.suppress_messages();
    const auto options = options_for(context, *formats);
    auto result = work.run([papers = *papers, options] { return run::play_published(papers, options); });
    if (!result) return end_command(work, report_error(context, result.error()));
    result->common = run::not_played(context.options.play, context.program);
    const auto written = documents->write(*result);
    if (!context.options.quiet)
        print_text(documents->standard_output() ? stderr : stdout, report::published_text_report(*result));
    return written ? kExitPass : report_error(context, written.error());
}

int sensitivity_command(CommandContext& context, const std::string& model) {
    const auto formats = formats_directory();
    if (!formats) return report_error(context, formats.error());
    const target::Target& target = context.options.play.target;
    const bool local = target.kind == target::Target::Kind::local;
    if ((!local && target.kind != target::Target::Kind::model) || context.options.frames)
        return report_error(context,
                            bad_input("--sensitivity is for a model, without --frames: give sim:NAME, a "
                                      "NAME of formats/storage/ or its document"));
    if (target.nodes || target.cluster || target.warm || target.strategy != AccessStrategy::as_media)
        return report_error(context,
                            bad_input(fmt::format("'{}': --sensitivity asks the questions of its papers: "
                                                  "leave out the options of the model",
                                                  target.url)));
    auto documents = OutputDocuments<ModelSensitivity>::prepare(
        context.options.files,
        {{&ResultFiles::json, result::kSensitivityReportBegins, result::sensitivity_json_report}});
    if (!documents) return report_error(context, documents.error());
    const auto papers = run::read_papers(*formats);
    if (!papers) return report_error(context, papers.error());
    const auto text = run::read_model_text(model, *formats);
    if (!text) return report_error(context, text.error());
    BackgroundWork work(context);
    work.suppress_messages();
    const auto options = options_for(context, *formats);
    constexpr double kPercent = 20;
    const auto result = work.run([text = *text, papers = *papers, options] {
        return run::sensitivity_of(text, papers, kPercent, options);
    });
    if (!result) return end_command(work, report_error(context, result.error()));
    const auto written = documents->write(*result);
    if (written && !context.options.files.json.empty()) return kExitPass;
    print_text(stdout, report::sensitivity_text_report(*result));
    return written ? kExitPass : report_error(context, written.error());
}

}  // namespace streamsim::cli
