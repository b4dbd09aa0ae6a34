#include "cli/play/result_outputs.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "report/csv/csv_report.h"
#include "report/html/html_report.h"
#include "report/junit/junit_report.h"
#include "report/trace/trace_report.h"
#include "result/json_report.h"

namespace streamsim::cli {
namespace {

struct Kind {
    const std::string ResultFiles::*name;
    std::string (*begins_with)();  // how an earlier file of this kind begins
    void (*write)(const RunResult& result, const report::TextSink& sink);
};

constexpr Kind kKinds[] = {
    {&ResultFiles::json, [] { return std::string(result::kJsonReportBegins); },
     [](const RunResult& result, const report::TextSink& sink) { sink(result::json_report(result)); }},
    {&ResultFiles::csv, report::csv_header, report::csv_report},
    {&ResultFiles::html, [] { return std::string(report::kHtmlReportBegins); },
     [](const RunResult& result, const report::TextSink& sink) { sink(report::html_report(result)); }},
    {&ResultFiles::trace, [] { return std::string(report::kTraceBegins); }, report::trace_report},
    {&ResultFiles::junit, [] { return std::string(report::kJunitReportBegins); },
     [](const RunResult& result, const report::TextSink& sink) { sink(report::junit_report(result)); }},
};

}  // namespace

Result<ResultOutputs> ResultOutputs::prepare(const ResultFiles& files) {
    ResultOutputs all;
    for (std::size_t i = 0; i < std::size(kKinds); ++i) {
        const std::string& name = files.*kKinds[i].name;
        if (name.empty()) continue;
        auto file = OutputFile::prepare(name, kKinds[i].begins_with());
        if (!file) return file.error();
        all.outputs_.push_back({std::move(*file), i});
    }
    return all;
}

bool ResultOutputs::standard_output() const {
    return std::any_of(outputs_.begin(), outputs_.end(),
                       [](const Output& output) { return output.file.standard_output(); });
}

Result<void> ResultOutputs::write(const RunResult& result,
                                  const std::function<void()>& before_blocking,
                                  const std::function<void()>& progress) {
    std::stable_partition(outputs_.begin(), outputs_.end(),
                          [](const Output& output) { return !output.file.in_place(); });
    Result<void> written;
    bool told = false;
    for (Output& output : outputs_) {
        if (output.file.in_place()) {
            if (!std::exchange(told, true)) before_blocking();
            output.file.on_progress(progress);
        }
        kKinds[output.kind].write(result, [&output](std::string_view piece) { output.file.write(piece); });
        if (auto done = output.file.finish(); !done) written = done;
    }
    return written;
}

Result<void> ResultOutputs::write_for_now(const RunResult& result) {
    Result<void> written;
    for (Output& output : outputs_) {
        if (output.file.in_place()) continue;
        std::string text;
        kKinds[output.kind].write(result, [&text](std::string_view piece) { text += piece; });
        if (auto done = output.file.write_for_now(text); !done) written = done;
    }
    return written;
}

}  // namespace streamsim::cli
