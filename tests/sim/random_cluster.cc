#include "sim/random_cluster.h"

namespace streamsim::test {
namespace {

LinkModel link_between(Prng& prng, double from, double to) {
    return {between(prng, from, to), between(prng, 0.5, 1),
            microseconds(static_cast<std::int64_t>(prng.below(200)))};
}

LatencyModel latency_up_to(Prng& prng, std::uint64_t us) {
    return {microseconds(static_cast<std::int64_t>(prng.below(us))), between(prng, 0, 1),
            between(prng, 0, 0.05), microseconds(static_cast<std::int64_t>(prng.below(10 * us)))};
}

}  // namespace

double between(Prng& prng, double from, double to) {
    return from + (to - from) * prng.unit();
}

sim::ClusterOptions random_cluster(Prng& prng) {
    sim::ClusterOptions options;
    ClusterModel& model = options.model;
    model.nodes = static_cast<std::uint32_t>(1 + prng.below(5));
    model.block_bytes = std::uint64_t{64 << 10} << prng.below(5);
    model.data_drives = 2;
    model.file_bytes_per_s = prng.below(4) == 0 ? between(prng, 1e8, 5e9) : 0;
    NodeModel& node = model.node;
    node.front_end = link_between(prng, 1e9, 40e9);
    node.back_end = link_between(prng, 1e9, 40e9);
    node.cores = between(prng, 0.5, 8);
    node.cpu_s_per_open = between(prng, 0, 1e-4);
    node.cpu_s_per_request = between(prng, 0, 1e-4);
    node.cpu_s_per_byte = prng.below(2) == 0 ? 0 : between(prng, 0, 1e-9);
    node.ram_bytes = prng.below(100) << 20;
    node.ssd_bytes = prng.below(2) * (prng.below(200) << 20);
    node.ssd = link_between(prng, 4e9, 20e9);
    node.drives = static_cast<std::uint32_t>(1 + prng.below(8));
    node.response = latency_up_to(prng, 500);
    DriveModel& drive = model.drive;
    drive.kind = prng.below(2) == 0 ? DriveModel::Kind::flash : DriveModel::Kind::rotational;
    drive.outer_bytes_per_s = between(prng, 1e8, 4e8);
    drive.inner_bytes_per_s = drive.outer_bytes_per_s / 2;
    drive.rotations_per_s = 120;
    drive.seek_track = microseconds(500);
    drive.seek_full = milliseconds(16);
    drive.capacity_bytes = 4'000'000'000'000;
    drive.filled = between(prng, 0.01, 1);
    drive.reorder = static_cast<std::uint32_t>(1 + prng.below(32));
    drive.channels = static_cast<std::uint32_t>(1 + prng.below(8));
    drive.access = latency_up_to(prng, 300);
    model.network.port_bits_per_s = prng.below(3) == 0 ? 1e9 : 0;
    model.network.flow_control = prng.below(2) == 0;
    model.network.port_buffer_bytes = 1 << 20;
    model.network.retransmit_after = milliseconds(5);
    model.strategy = {prng.below(8) << 20, prng.below(32) << 20, static_cast<std::uint32_t>(prng.below(5))};
    model.strategy.streaming_cpu_s_per_byte = prng.below(2) == 0 ? 0 : between(prng, 0, 1e-9);
    model.client.cores = between(prng, 1, 32);
    model.client.cpu_ceiling = between(prng, 0.5, 1);
    model.client.cpu_s_per_request = between(prng, 0, 1e-4);
    model.client.cpu_s_per_byte = between(prng, 0, 1e-9);
    model.client.link = link_between(prng, 1e9, 40e9);
    model.client.connections = static_cast<std::uint32_t>(1 + prng.below(4));
    model.client.connection_bytes_per_s = prng.below(2) == 0 ? 0 : between(prng, 1e8, 2e9);
    options.warm = prng.below(3) == 0;
    options.seed = prng.next();
    for (std::uint64_t i = 0, seats = 1 + prng.below(6); i < seats; ++i) {
        sim::SeatPlace& place = options.seats.emplace_back();
        place.node = static_cast<std::uint32_t>(prng.below(model.nodes));
        if (prng.below(4) == 0) place.link = link_between(prng, 1e9, 40e9);
    }
    return options;
}

}  // namespace streamsim::test
