#include "report/text/load_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "base/utf8.h"
#include "report/csv/csv_report.h"
#include "report/tables/load_tables.h"
#include "report/text/text_report.h"

namespace streamsim::report {
namespace {

/// With more of them the tables of each stand in the document alone.
constexpr std::size_t kClientsShown = 4;

std::string heading(const LoadResult& result) {
    const Workload& workload = result.workload;
    const bool pass = std::all_of(result.steps.begin(), result.steps.end(),
                                  [](const LoadStep& step) { return step.result.verdict.pass; });
    const char* const verdict = result.interrupted ? "INTERRUPTED" : pass ? "DONE" : "FAILED";
    std::string out = fmt::format("{}: {}: {}\n", verdict, printable(workload.name), printable(workload.title));
    if (!judges_storage(result.common))
        out = result.common.faults_injected
                  ? disclaimer(result.common) + ": " + out + "  " + disclaimer_text(result.common) + "\n"
                  : out + "  " + disclaimer_text(result.common) + "\n";
    if (!workload.description.empty()) out += fmt::format("  {}\n", printable(workload.description));
    if (!workload.basis.empty()) out += fmt::format("  from: {}\n", printable(workload.basis));
    out += fmt::format("  on {} ({}{})\n", printable(result.common.url), result.common.io,
                       result.common.direct ? ", direct" : "");
    if (result.scale != 1) {
        out += fmt::format(
            "  scaled by {:g}: users, rates and working sets are not those of the source, and its "
            "figures cannot be expected\n",
            result.scale);
    }
    if (result.common.model) out += "  modelled: this is no measurement, no storage was read or written\n";
    return out;
}

/// What the steps say that failed, once each.
std::string failures(const LoadResult& result) {
    std::string out;
    for (const LoadStep& step : result.steps) {
        if (step.result.verdict.pass) continue;
        const std::string at = show_step(result.workload, step.at);
        out += fmt::format("  {}{}{}\n", at, at.empty() ? "" : ": ", printable(step.result.verdict.reason));
    }
    return out.empty() ? out : "failed:\n" + out;
}

}  // namespace

std::string load_text_report(const LoadResult& result) {
    std::string out =
        heading(result) + "\n" + steps_table(result) + cache_sentences(result) + latency_definitions(result);
    if (result.workload.report == Workload::Report::modes) {
        out += "\n" + modes_tables(result, kClientsShown);
    } else if (!result.steps.empty()) {
        const std::string clients = clients_table(result.steps.back());
        if (!clients.empty() && result.steps.back().clients.size() <= kClientsShown)
            out += "\nby client, last step\n" + clients;
    }
    if (const std::string printed = printed_table(result); !printed.empty())
        out += "\nprinted by the source, and here\n" + printed;
    std::uint64_t substituted = 0;
    for (const LoadStep& step : result.steps) {
        for (const MeterResult& meter : step.result.meters) substituted += meter.substituted;
    }
    if (substituted > 0)
        out += fmt::format("{} removes and renames found no file left for them, and were done as creates\n",
                           show_count(substituted));
    return out + failures(result) + (result.interrupted ? "interrupted: the last step is not whole\n" : "");
}

std::string load_csv_report(const LoadResult& result) {
    std::string out =
        std::string(kLoadCsvBegins) + "mode,file,offset,bytes,intended_ns,submitted_ns,completed_ns,errno\r\n";
    for (const LoadStep& step : result.steps) {
        for (const OperationRow& row : step.result.operations) {
            const bool moves = row.operation == LoadOperation::read || row.operation == LoadOperation::write;
            out += fmt::format("{},{},", show_step(result.workload, step.at), row.seat);
            append_csv_text(result.workload.meters[row.meter].name, out);
            out += fmt::format(",{},{},{},{},{},{},{},{},{},{},{}\r\n", row.user, row.transfer,
                               streamsim::to_string(row.operation), moves ? streamsim::to_string(row.mode) : "",
                               row.file, row.offset, row.bytes, row.intended_ns, row.submitted_ns,
                               row.completed_ns, row.error);
        }
    }
    return out;
}

}  // namespace streamsim::report
