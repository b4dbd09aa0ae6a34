#include <cstdio>
#include <utility>
#include <vector>

#include "base/document/document.h"
#include "cli/commands/commands.h"
#include "cli/output/output_documents.h"
#include "report/compare/compare_report.h"
#include "report/csv/csv_report.h"
#include "report/html/html_report.h"
#include "report/junit/junit_report.h"
#include "report/text/text_report.h"
#include "result/json_report.h"
#include "result/merge.h"
#include "result/result_reader.h"
#include "view/live_view.h"

namespace streamsim::cli {
namespace {

Result<report::NamedResult> open_result(const std::string& path) {
    const auto text = read_document(path, kResultBytesMax);
    if (!text) return text.error();
    auto result = result::read_result(*text, path);
    if (!result) return result.error();
    return report::NamedResult{path, std::move(*result)};
}

/// Errors: every problem of every document.
Result<std::vector<report::NamedResult>> open_results(const std::vector<std::string>& paths) {
    std::vector<report::NamedResult> out;
    std::vector<std::string> problems;
    for (const std::string& path : paths) {
        auto one = open_result(path);
        if (one) {
            out.push_back(std::move(*one));
        } else {
            problems.insert(problems.end(), one.error().problems.begin(), one.error().problems.end());
        }
    }
    if (!problems.empty()) return Error{ErrorKind::bad_input, std::move(problems)};
    return out;
}

/// One result of the parts of a run. Errors: every problem.
Result<std::vector<report::NamedResult>> merged(std::vector<report::NamedResult> parts) {
    std::vector<RunResult> results;
    std::vector<std::string> names;
    for (report::NamedResult& part : parts) {
        results.push_back(std::move(part.result));
        names.push_back(part.name);
    }
    auto whole = result::merge_results(std::move(results), names);
    if (!whole) return whole.error();
    return std::vector{report::NamedResult{parts.front().name, std::move(*whole)}};
}

/// Writes the documents that were asked for, and none when one of them cannot be written.
template <typename Of>
Result<void> write_documents(const ResultFiles& files,
                             const Of& of,
                             const std::vector<typename OutputDocuments<Of>::Kind>& kinds) {
    auto documents = OutputDocuments<Of>::prepare(files, kinds);
    return documents ? documents->write(of) : documents.error();
}

Result<void> write_one(const ResultFiles& files, const RunResult& result) {
    return write_documents<RunResult>(
        files, result,
        {{&ResultFiles::json, result::kJsonReportBegins, result::json_report},
         {&ResultFiles::csv, report::kStreamsCsvBegins, report::streams_csv},
         {&ResultFiles::html, report::kHtmlReportBegins, report::html_report},
         {&ResultFiles::junit, report::kJunitReportBegins, report::junit_report}});
}

Result<void> write_comparison(const ResultFiles& files, const report::Comparison& comparison) {
    return write_documents<report::Comparison>(
        files, comparison,
        {{&ResultFiles::json, report::kComparisonJsonBegins, report::comparison_json},
         {&ResultFiles::csv, report::kComparisonCsvBegins, report::comparison_csv},
         {&ResultFiles::html, report::kComparisonHtmlBegins, report::comparison_html}});
}

}  // namespace

int report_command(CommandContext& context) {
    const CliOptions& options = context.options;
    auto results = open_results(options.results);
    if (results && options.merge) results = merged(std::move(*results));
    if (!results) return report_error(context, results.error());
    const ResultFiles& files = options.files;
    std::FILE* const out = files.take_standard_output() ? stderr : stdout;
    std::string text;
    Result<void> written;
    if (results->size() == 1) {
        const RunResult& result = results->front().result;
        text = report::text_report(result, options.text_detail(), view::LiveView::colours_wanted(fileno(out)));
        written = write_one(files, result);
    } else {
        const report::Comparison comparison = report::compare(*results);
        text = report::comparison_text(comparison);
        written = write_comparison(files, comparison);
    }
    if (!options.quiet) print_text(out, text);
    return written ? kExitPass : report_error(context, written.error());
}

}  // namespace streamsim::cli
