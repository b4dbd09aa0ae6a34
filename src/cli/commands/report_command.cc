#include <fmt/format.h>

#include <cstddef>
#include <cstdio>
#include <string>
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
#include "result/max_reader.h"
#include "result/merge.h"
#include "result/result_reader.h"
#include "view/live_view.h"

namespace streamsim::cli {
namespace {

/// The documents that were named, each of which is read once: a pipe gives its text once.
class ResultTexts {
public:
    /// Reads the first one, which tells what all of them have to be.
    explicit ResultTexts(const std::vector<std::string>& paths)
        : paths_(paths), first_(read_document(paths.front(), kResultBytesMax)) {}

    const std::vector<std::string>& paths() const { return paths_; }
    bool are_searches() const { return first_ && result::is_max_document(*first_); }
    /// Each `i` once.
    Result<std::string> take(std::size_t i) {
        return i == 0 ? std::move(first_) : read_document(paths_[i], kResultBytesMax);
    }

private:
    const std::vector<std::string>& paths_;
    Result<std::string> first_;
};

Result<report::NamedResult> open_result(const std::string& path, const Result<std::string>& text) {
    if (!text) return text.error();
    auto result = result::read_result(*text, path);
    if (!result) return result.error();
    return report::NamedResult{path, std::move(*result)};
}

/// Errors: every problem of every document.
Result<std::vector<report::NamedResult>> open_results(ResultTexts& texts) {
    std::vector<report::NamedResult> out;
    std::vector<std::string> problems;
    for (std::size_t i = 0; i < texts.paths().size(); ++i) {
        auto one = open_result(texts.paths()[i], texts.take(i));
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
        {{&ResultFiles::json, result::kJsonReportBegins, result::write_json_report},
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

std::string first_search_json(const std::vector<MaxResult>& searches) {
    return result::max_json_report(searches.front());
}

/// The sheet of searches, one or several. Errors: every problem of every document.
int report_searches(CommandContext& context, ResultTexts& texts) {
    const CliOptions& options = context.options;
    std::vector<MaxResult> searches;
    std::vector<std::string> problems;
    for (std::size_t i = 0; i < texts.paths().size(); ++i) {
        const auto text = texts.take(i);
        auto search = text ? result::read_max(*text, texts.paths()[i]) : Result<MaxResult>(text.error());
        if (search) {
            searches.push_back(std::move(*search));
            continue;
        }
        problems.insert(problems.end(), search.error().problems.begin(), search.error().problems.end());
    }
    for (const auto& [file, option] :
         {std::pair(&ResultFiles::csv, "--csv"), {&ResultFiles::junit, "--junit"}}) {
        if (!(options.files.*file).empty())
            problems.push_back(fmt::format("{}: searches of max have none: give --html or --json", option));
    }
    if (options.merge) problems.emplace_back("--merge: searches of max are compared, not merged");
    if (searches.size() > 1 && !options.files.json.empty())
        problems.emplace_back("--json: several searches have no document of their own: give --html");
    for (const MaxResult& search : searches) {
        if (search.formats.empty())
            problems.push_back(search.common.url + ": the search was interrupted before its first answer");
    }
    if (!problems.empty()) return report_error(context, Error{ErrorKind::bad_input, std::move(problems)});
    if (options.project.is_named()) {
        for (MaxResult& search : searches) search.common.project = options.project;
    }
    const auto written = write_documents<std::vector<MaxResult>>(
        options.files, searches,
        {{&ResultFiles::json, result::kMaxReportBegins, first_search_json},
         {&ResultFiles::html, report::kMaxHtmlBegins, report::max_html_report}});
    std::FILE* const out = options.files.take_standard_output() ? stderr : stdout;
    for (const MaxResult& search : searches) {
        if (!options.quiet) print_text(out, report::max_text_report(search, options.text_detail()));
    }
    return written ? kExitPass : report_error(context, written.error());
}

}  // namespace

int report_command(CommandContext& context) {
    const CliOptions& options = context.options;
    ResultTexts texts(options.results);
    if (texts.are_searches()) return report_searches(context, texts);
    auto results = open_results(texts);
    if (results && options.merge) results = merged(std::move(*results));
    if (!results) return report_error(context, results.error());
    if (options.project.is_named()) {
        for (report::NamedResult& each : *results) each.result.project = options.project;
    }
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
