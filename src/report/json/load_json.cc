#include "report/json/load_json.h"

#include <fmt/format.h>

#include "base/document/json.h"
#include "report/tables/load_tables.h"
#include "result/json_report.h"

namespace streamsim::report {
namespace {

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

}  // namespace streamsim::report
