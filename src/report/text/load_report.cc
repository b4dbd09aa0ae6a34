#include "report/text/load_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/document/json.h"
#include "base/units.h"
#include "base/utf8.h"
#include "report/csv/csv_report.h"
#include "report/tables/load_tables.h"
#include "report/text/text_report.h"
#include "result/json_report.h"

namespace streamsim::report {
namespace {

/// With more of them the tables of each stand in the document alone.
constexpr std::size_t kClientsShown = 4;

const char* to_string(Sweep::Over over) {
    switch (over) {
        case Sweep::Over::none: return "none";
        case Sweep::Over::clients: return "clients";
        case Sweep::Over::users: return "users";
        case Sweep::Over::read_percent: return "read_percent";
        case Sweep::Over::operations_per_s: return "operations_per_s";
        case Sweep::Over::block_bytes: return "block_bytes";
        case Sweep::Over::fill_percent: return "fill_percent";
        case Sweep::Over::cache: return "cache";
    }
    return "?";
}

template <typename T>
OrderedJson or_null(const std::optional<T>& value) {
    return value ? OrderedJson(*value) : OrderedJson(nullptr);
}

OrderedJson figures_json(const LoadFigures& figures) {
    return {{"name", figures.name},
            {"operations", figures.operations},
            {"failed", figures.failed},
            {"operations_per_s", figures.operations_per_s},
            {"read_bytes_per_s", figures.read_bytes_per_s},
            {"write_bytes_per_s", figures.write_bytes_per_s},
            {"latency_mean_ns", figures.latency_mean_ns},
            {"latency_max_ns", figures.latency_max_ns},
            {"latency_p99_ns", or_null(figures.latency_p99_ns)},
            {"block_latency_mean_ns", or_null(figures.block_latency_mean_ns)},
            {"transfer_latency_mean_ns", or_null(figures.transfer_latency_mean_ns)}};
}

/// The tables, row by row.
OrderedJson modes_json(const ModeTable& modes) {
    OrderedJson rows = OrderedJson::object();
    for (std::size_t row = 0; row < modes.cells.size(); ++row) {
        OrderedJson cells = OrderedJson::array();
        for (std::size_t i = 0; i < modes.cells[row].size(); ++i) {
            const ModeTable::Cell& cell = modes.cells[row][i];
            OrderedJson block = i < modes.blocks.size() ? OrderedJson(modes.blocks[i]) : OrderedJson("All");
            if (cell.transfers == 0) {
                cells.push_back({{"block_bytes", std::move(block)}, {"transfers", 0}});
                continue;
            }
            cells.push_back({{"block_bytes", std::move(block)},
                             {"transfers", cell.transfers},
                             {"rate_mb_per_s", cell.rate_bytes_per_s / 1e6},
                             {"latency_mean_ms", cell.transfer_latency_mean_ns / 1e6},
                             {"latency_max_s", static_cast<double>(cell.transfer_latency_max_ns) / 1e9},
                             {"blocks", cell.blocks},
                             {"block_latency_mean_ms", cell.block_latency_mean_ns / 1e6},
                             {"block_latency_max_s", static_cast<double>(cell.block_latency_max_ns) / 1e9}});
        }
        rows[row < kTransferModes ? streamsim::to_string(static_cast<TransferMode>(row)) : "All"] =
            std::move(cells);
    }
    return rows;
}

OrderedJson step_json(const LoadResult& result, const LoadStep& step) {
    OrderedJson out = OrderedJson::object();
    if (result.workload.sweep.over == Sweep::Over::cache) {
        out["at"] = show_step(result.workload, step.at);
    } else if (result.workload.sweep.over != Sweep::Over::none) {
        out["at"] = step.at;
    }
    out["pass"] = step.result.verdict.pass;
    out["reason"] = step.result.verdict.reason;
    if (step.files_read) {
        out["files_bytes"] = step.files_read->files_bytes;
        out["files_read_times"] = step.files_read->times;
        out["reads_each_byte_once"] = step.files_read->once;
    }
    out["all"] = figures_json(step.all);
    OrderedJson meters = OrderedJson::array();
    for (const LoadFigures& meter : step.meters) meters.push_back(figures_json(meter));
    out["meters"] = std::move(meters);
    out["modes"] = modes_json(step.modes);
    OrderedJson clients = OrderedJson::array();
    for (std::size_t i = 0; i < step.clients.size(); ++i) {
        OrderedJson client = figures_json(step.clients[i]);
        client["modes"] = modes_json(step.client_modes[i]);
        clients.push_back(std::move(client));
    }
    out["clients"] = std::move(clients);
    return out;
}

std::string dump(const OrderedJson& value) {
    return value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

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

std::string load_json_report(const LoadResult& result) {
    const Workload& workload = result.workload;
    const RunResult& common = result.common;
    std::string out = std::string(kLoadReportBegins) + ",\n  \"version\": 1";
    const auto member = [&out](const char* key, const OrderedJson& value) {
        out += fmt::format(",\n  \"{}\": {}", key, dump(value));
    };
    member("streamsim",
           {{"version", common.version}, {"revision", common.revision}, {"backends", common.backends}});
    member("started_at", common.started_at);
    member("command", common.command);
    member("seed", common.seed);
    member("target",
           {{"url", common.url}, {"backend", common.backend}, {"io", common.io}, {"direct", common.direct}});
    member("workload", {{"name", workload.name},
                        {"title", workload.title},
                        {"description", workload.description},
                        {"basis", workload.basis},
                        {"file", workload.source}});
    member("scale", result.scale);
    member("sweep", to_string(workload.sweep.over));
    member("interrupted", result.interrupted);
    OrderedJson printed = OrderedJson::array();
    for (const PrintedComparison& each : result.printed) {
        printed.push_back({{"at", each.printed.at},
                           {"quantity", each.printed.quantity},
                           {"printed", each.printed.value},
                           {"measured", each.measured},
                           {"source", each.printed.source}});
    }
    member("printed", printed);
    out += ",\n  \"steps\": [";
    for (const LoadStep& step : result.steps) {
        std::string text = dump(step_json(result, step));
        text.pop_back();
        out += fmt::format("{}\n{},\n\"result\": {}}}", &step == result.steps.data() ? "" : ",", text,
                           result::json_report(step.result));
    }
    return out + "]\n}\n";
}

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
