#include "result/meter_json.h"

#include <algorithm>
#include <cmath>

#include "base/system/errno_name.h"

namespace streamsim::result {
namespace {

OrderedJson latency_json(const std::optional<LatencySummary>& latency) {
    if (!latency) return nullptr;
    return {{"p50", latency->p50},
            {"p90", latency->p90},
            {"p99", latency->p99},
            {"p99_9", latency->p99_9},
            {"max", latency->max}};
}

OrderedJson operation_json(const OperationResult& of, std::int64_t wall_ns) {
    const double seconds = static_cast<double>(wall_ns) / 1e9;
    const auto each = [&of](std::int64_t sum_ns) {
        return of.done == 0
                   ? OrderedJson(nullptr)
                   : OrderedJson(std::llround(static_cast<double>(sum_ns) / static_cast<double>(of.done)));
    };
    const auto rate = [seconds](std::uint64_t count) {
        return seconds > 0 ? OrderedJson(static_cast<double>(count) / seconds) : OrderedJson(nullptr);
    };
    return {{"done", of.done},
            {"failed", of.failed},
            {"bytes", of.bytes},
            {"per_s", rate(of.done)},
            {"bytes_per_s", rate(of.bytes)},
            {"service_sum_ns", of.service_sum_ns},
            {"service_mean_ns", each(of.service_sum_ns)},
            {"service_ns", latency_json(of.service_ns)},
            {"response_sum_ns", of.response_sum_ns},
            {"response_mean_ns", each(of.response_sum_ns)},
            {"response_ns", latency_json(of.response_ns)}};
}

OrderedJson cell_json(const MeterResult::Cell& each) {
    const TransferCell& cell = each.cell;
    const double count = static_cast<double>(std::max<std::uint64_t>(cell.transfers, 1));
    return {{"mode", to_string(each.mode)},
            {"block_bytes", each.block_bytes},
            {"transfers", cell.transfers},
            {"blocks", cell.blocks},
            {"bytes", cell.bytes},
            {"block_ns", cell.block_ns},
            {"block_max_ns", cell.block_max_ns},
            {"rate_sum_bytes_per_s", cell.rate_sum},
            {"rate_mean_bytes_per_s", cell.rate_sum / count},
            {"latency_sum_ns", cell.latency_ns},
            {"latency_mean_ns", static_cast<double>(cell.latency_ns) / count},
            {"latency_max_ns", cell.latency_max_ns}};
}

/// Column by column.
OrderedJson series_json(const MeterResult& meter) {
    OrderedJson operations = OrderedJson::array();
    OrderedJson bytes = OrderedJson::array();
    OrderedJson users = OrderedJson::array();
    OrderedJson sum = OrderedJson::array();
    OrderedJson most = OrderedJson::array();
    for (const MeterResult::Point& point : meter.series) {
        operations.push_back(point.operations);
        bytes.push_back(point.bytes);
        users.push_back(point.users);
        sum.push_back(point.response_sum_ns);
        most.push_back(point.response_max_ns);
    }
    return {{"interval_ns", meter.interval_ns},  {"operations", std::move(operations)},
            {"bytes", std::move(bytes)},         {"users", std::move(users)},
            {"response_sum_ns", std::move(sum)}, {"response_max_ns", std::move(most)}};
}

OrderedJson error_json(const MeterResult::Error& error) {
    const char* const name = errno_name(error.error);
    return {{"operation", to_string(error.operation)},
            {"errno", name != nullptr ? OrderedJson(name) : OrderedJson(error.error)},
            {"times", error.times},
            {"path", error.path}};
}

}  // namespace

OrderedJson meter_json(const MeterResult& meter) {
    OrderedJson operations = OrderedJson::object();
    for (std::size_t i = 0; i < kLoadOperations; ++i) {
        const OperationResult& each = meter.operations[i];
        if (each.done + each.failed == 0) continue;
        operations[to_string(static_cast<LoadOperation>(i))] = operation_json(each, meter.wall_ns);
    }
    OrderedJson cells = OrderedJson::array();
    for (const MeterResult::Cell& cell : meter.cells) cells.push_back(cell_json(cell));
    OrderedJson errors = OrderedJson::array();
    for (const MeterResult::Error& error : meter.errors) errors.push_back(error_json(error));
    return {{"seat", meter.seat},
            {"name", meter.name},
            {"users", meter.users},
            {"wall_ns", meter.wall_ns},
            {"all", operation_json(meter.all, meter.wall_ns)},
            {"operations", std::move(operations)},
            {"blocks_done", meter.blocks_done},
            {"blocks_failed", meter.blocks_failed},
            {"arrived", meter.arrived},
            {"unfinished", meter.unfinished},
            {"substituted", meter.substituted},
            {"cells", std::move(cells)},
            {"series", series_json(meter)},
            {"errors", std::move(errors)}};
}

}  // namespace streamsim::result
