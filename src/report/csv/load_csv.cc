#include "report/csv/load_csv.h"

#include <fmt/format.h>

#include "report/csv/csv_report.h"
#include "report/tables/load_tables.h"

namespace streamsim::report {

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
