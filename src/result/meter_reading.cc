#include "base/system/errno_name.h"
#include "result/meter_json.h"

namespace streamsim::result::reading {

void read(const Node& node, LoadOperation& into) {
    for (std::size_t i = 0; i < kLoadOperations; ++i) {
        into = static_cast<LoadOperation>(i);
        if (node.json.is_string() && node.json.get_ref<const std::string&>() == to_string(into)) return;
    }
    node.expected("the name of an operation such as read");
}

void read(const Node& node, TransferMode& into) {
    for (std::size_t i = 0; i < kTransferModes; ++i) {
        into = static_cast<TransferMode>(i);
        if (node.json.is_string() && node.json.get_ref<const std::string&>() == to_string(into)) return;
    }
    node.expected("seq_rd, rand_rd, seq_wr or rand_wr");
}

void read(const Node& node, OperationResult& into) {
    Members(node)
        .get("done", into.done)
        .get("failed", into.failed)
        .get("bytes", into.bytes)
        .get("service_sum_ns", into.service_sum_ns)
        .get("service_ns", into.service_ns)
        .get("response_sum_ns", into.response_sum_ns)
        .get("response_ns", into.response_ns);
}

void read(const Node& node, std::array<OperationResult, kLoadOperations>& into) {
    Members members(node);
    for (std::size_t i = 0; i < kLoadOperations; ++i)
        members.added(to_string(static_cast<LoadOperation>(i)), into[i]);
}

void read(const Node& node, MeterResult::Cell& into) {
    TransferCell& cell = into.cell;
    Members(node)
        .get("mode", into.mode)
        .get("block_bytes", into.block_bytes)
        .get("transfers", cell.transfers)
        .get("blocks", cell.blocks)
        .get("bytes", cell.bytes)
        .get("block_ns", cell.block_ns)
        .added("block_max_ns", cell.block_max_ns)
        .get("rate_sum_bytes_per_s", cell.rate_sum)
        .get("latency_sum_ns", cell.latency_ns)
        .get("latency_max_ns", cell.latency_max_ns);
}

/// Its name, or its number where it has no name.
struct MeterErrorCode {
    int& code;
};
void read(const Node& node, MeterErrorCode& into) {
    if (!node.json.is_string()) return reading::read(node, into.code);
    const auto code = errno_from_name(node.json.get_ref<const std::string&>());
    if (!code) return node.expected("the name of an error such as EIO");
    into.code = *code;
}

void read(const Node& node, MeterResult::Error& into) {
    MeterErrorCode code{into.error};
    Members(node)
        .get("operation", into.operation)
        .get("errno", code)
        .get("times", into.times)
        .get("path", into.path);
}

struct MeterSeries {
    MeterResult& of;
};
void read(const Node& node, MeterSeries& into) {
    std::vector<std::uint64_t> operations, bytes, users;
    std::vector<std::int64_t> sums, most;
    Members(node)
        .get("interval_ns", into.of.interval_ns)
        .get("operations", operations)
        .get("bytes", bytes)
        .get("users", users)
        .get("response_sum_ns", sums)
        .get("response_max_ns", most);
    const std::size_t size = operations.size();
    if (bytes.size() != size || users.size() != size || sums.size() != size || most.size() != size)
        return node.problems.add(node.pointer, "expected columns of the same length");
    for (std::size_t i = 0; i < size; ++i)
        into.of.series.push_back({operations[i], bytes[i], users[i], sums[i], most[i]});
}

void read(const Node& node, MeterResult& into) {
    MeterSeries series{into};
    Members(node)
        .get("seat", into.seat)
        .get("name", into.name)
        .get("users", into.users)
        .get("wall_ns", into.wall_ns)
        .get("all", into.all)
        .get("operations", into.operations)
        .get("blocks_done", into.blocks_done)
        .get("blocks_failed", into.blocks_failed)
        .get("arrived", into.arrived)
        .get("unfinished", into.unfinished)
        .get("substituted", into.substituted)
        .get("cells", into.cells)
        .get("series", series)
        .get("errors", into.errors);
}

}  // namespace streamsim::result::reading
