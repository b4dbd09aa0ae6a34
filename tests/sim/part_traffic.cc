#include "sim/part_traffic.h"

#include <fmt/format.h>

#include "sim/parts/file_table.h"

namespace streamsim::test {

ClusterTraffic::ClusterTraffic(const sim::ClusterOptions& options,
                               const Load& load,
                               const std::deque<ReadOp>& reads)
    : options_(options) {
    for (const ReadOp& op : reads) {
        const Load::Request& request = load.requests[op.tag.slot];
        pass_seat(request, op);
        pass_node(request, op);
        want_blocks(request, op);
    }
    fetch_blocks();
}

PartTraffic& ClusterTraffic::part(const std::string& name, double work_per_s) {
    PartTraffic& traffic = parts_[name];
    traffic.work_per_s = work_per_s;
    return traffic;
}

namespace {

void pass(PartTraffic& traffic, const ReadOp& op, double work) {
    traffic.bytes += op.bytes;
    traffic.passages.push_back({op.submitted_at.ns, op.completed_at.ns, work});
}

}  // namespace

void ClusterTraffic::pass_seat(const Load::Request& request, const ReadOp& op) {
    const ClientModel& client = options_.model.client;
    const sim::SeatPlace& place = options_.seats[request.tag.seat];
    const LinkModel link = place.link.value_or(client.link);
    const auto bytes = static_cast<double>(op.bytes);
    const auto name = [&](const char* what) { return fmt::format("seat {} {}", request.tag.seat, what); };
    pass(part(name("link"), link.bytes_per_s()), op, bytes);
    pass(part(name("processor"), client.cores * client.cpu_ceiling), op,
         client.cpu_s_per_request + bytes * client.cpu_s_per_byte);
    if (client.connection_bytes_per_s > 0) {
        pass(part(name("connections"), client.connections * client.connection_bytes_per_s), op, bytes);
    }
    const double port = options_.model.network.port_bits_per_s * link.efficiency / 8;
    if (port > 0 && port < link.bytes_per_s()) pass(part(name("switch port"), port), op, bytes);
}

void ClusterTraffic::pass_node(const Load::Request& request, const ReadOp& op) {
    const ClusterModel& model = options_.model;
    const std::uint32_t node = options_.seats[request.tag.seat].node;
    const auto bytes = static_cast<double>(op.bytes);
    const double cpu_s_per_byte = model.node.cpu_s_per_byte + model.strategy.streaming_cpu_s_per_byte;
    pass(part(fmt::format("node {} front end", node), model.node.front_end.bytes_per_s()), op, bytes);
    pass(part(fmt::format("node {} processor", node), model.node.cores), op,
         model.node.cpu_s_per_request + bytes * cpu_s_per_byte);
    if (model.file_bytes_per_s > 0) {
        pass(part(fmt::format("file {}", request.file), model.file_bytes_per_s), op, bytes);
    }
}

void ClusterTraffic::want_blocks(const Load::Request& request, const ReadOp& op) {
    const std::uint64_t size = options_.model.block_bytes;
    const std::uint32_t node = options_.seats[request.tag.seat].node;
    for (std::uint64_t at = request.offset / size; at <= (request.offset + request.bytes - 1) / size; ++at) {
        const Passage seen{op.submitted_at.ns, op.completed_at.ns, static_cast<double>(size)};
        const auto block = static_cast<std::uint32_t>(at);
        auto [place, added] = blocks_.try_emplace({node, request.file, block}, seen);
        place->second.from_ns = std::min(place->second.from_ns, seen.from_ns);
        place->second.to_ns = std::min(place->second.to_ns, seen.to_ns);
    }
}

void ClusterTraffic::fetch_blocks() {
    const ClusterModel& model = options_.model;
    sim::FileTable files(model, {});
    for (std::uint32_t file = 0; file < Load::kFiles; ++file) files.number_of(Load::path(file));
    const bool flash = model.drive.kind == DriveModel::Kind::flash;
    for (const auto& [block, passage] : blocks_) {
        const auto [node, file, number] = block;
        const std::uint32_t ring = files.place(file, number).ring;
        const std::uint32_t home = files.node_of(ring);
        PartTraffic& drive = part(fmt::format("node {} drive {}", home, files.drive_of(ring)),
                                  model.drive.outer_bytes_per_s * (flash ? model.drive.channels : 1));
        drive.bytes += model.block_bytes;
        drive.passages.push_back(passage);
        if (home == node) continue;
        PartTraffic& back_end = part(fmt::format("node {} back end", node), model.node.back_end.bytes_per_s());
        back_end.bytes += model.block_bytes;
        back_end.passages.push_back(passage);
    }
}

double fullest_window(const PartTraffic& traffic) {
    if (traffic.work_per_s == 0) return 0;
    std::vector<Passage> passages = traffic.passages;
    std::sort(passages.begin(), passages.end(),
              [](const Passage& a, const Passage& b) { return a.to_ns < b.to_ns; });
    double fullest = 0;
    for (std::size_t i = 0; i < passages.size(); i += 7) {
        const std::int64_t from = passages[i].from_ns;
        double work = 0;
        for (const Passage& passage : passages) {
            if (passage.from_ns < from) continue;
            work += passage.work;
            const double could = traffic.work_per_s * static_cast<double>(passage.to_ns - from) * 1e-9;
            fullest = std::max(fullest, work / could);
        }
    }
    return fullest;
}

}  // namespace streamsim::test
