// `plan`: what to buy for a need.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "base/document/document.h"
#include "cli/commands/commands.h"
#include "cli/media/background_work.h"
#include "cli/options/documents.h"
#include "cli/output/output_documents.h"
#include "report/purchase/purchase_report.h"
#include "result/json_report.h"
#include "run/purchase/purchase_search.h"
#include "target/named_documents.h"

namespace streamsim::cli {
namespace {

using PlanDocuments = OutputDocuments<PurchaseResult>;

Result<PlanDocuments> documents_of(const CliOptions& options) {
    return PlanDocuments::prepare(
        options.files, {{&ResultFiles::json, result::kPlanReportBegins, result::plan_json_report},
                        {&ResultFiles::html, report::kPurchaseHtmlBegins, report::purchase_html_report}});
}

/// A FILE, or a NAME of formats/need/.
Result<std::string> file_of(const std::string& name, const std::string& formats) {
    if (target::names_a_file(name)) return name;
    const std::string directory = formats + "/need";
    const auto names = target::document_names(directory);
    if (std::find(names.begin(), names.end(), name) != names.end())
        return fmt::format("{}/{}.json", directory, name);
    return bad_input(fmt::format("there is no need '{}': expected a FILE.json, or one of these: {}", name,
                                 fmt::join(names, ", ")));
}

}  // namespace

int plan_command(CommandContext& context) {
    const auto formats = formats_directory();
    if (!formats) return report_error(context, formats.error());
    auto documents = documents_of(context.options);
    if (!documents) return report_error(context, documents.error());
    const auto file = file_of(context.options.name, *formats);
    if (!file) return report_error(context, file.error());
    const auto text = read_document(*file);
    if (!text) return report_error(context, text.error());
    const auto need = run::read_purchase_need(*text, *file, *formats);
    if (!need) return report_error(context, need.error());
    run::PurchaseOptions options;
    options.formats = *formats;
    options.program = context.program;
    options.progress = [&context](const std::string& line) {
        if (!context.options.quiet) context.log.info(line);
    };
    BackgroundWork work(context);
    work.suppress_messages();
    auto result = work.run([need = *need, options] { return run::plan_purchase(need, options); });
    if (!result) return end_command(work, report_error(context, result.error()));
    result->common = run::not_played(context.options.play, context.program);
    const auto written = documents->write(*result);
    if (!context.options.quiet)
        print_text(documents->standard_output() ? stderr : stdout,
                   report::purchase_text_report(*result, context.options.verbosity > 0));
    if (!written) return report_error(context, written.error());
    return result->plans.empty() ? kExitMissed : kExitPass;
}

}  // namespace streamsim::cli
