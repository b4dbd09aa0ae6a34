#include "sim/parts/seat.h"

#include <algorithm>

#include "base/check.h"

namespace streamsim::sim {
namespace {

double speed(const ClientModel& client) {
    STREAMSIM_CHECK(client.cores > 0 && client.cpu_ceiling > 0, "a seat has a processor");
    return client.cores * client.cpu_ceiling;
}

/// Seconds of the first cost that fits.
double cost_of(const std::vector<FrameCost>& costs, const MediaFormat* format) {
    if (format == nullptr) return 0;
    const int bits = format->codec == "dpx" ? format->dpx.bits : 0;
    for (const FrameCost& cost : costs) {
        if (!cost.codec.empty() && cost.codec != format->codec) continue;
        if (cost.bits != 0 && cost.bits != bits) continue;
        const double pixels = static_cast<double>(format->width) * static_cast<double>(format->height);
        return cost.s_per_frame + cost.s_per_pixel * pixels;
    }
    return 0;
}

/// The smaller one; 0: no limit.
double narrower(double a, double b) {
    return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b);
}

}  // namespace

Seat::Seat(Calendar& calendar, const ClusterModel& model, std::uint32_t mounted_node, const LinkModel& own_link)
    : cpu(calendar, {1, Rate::of_cost(speed(model.client), model.client.cpu_s_per_byte), true, true}),
      display(calendar, {1, {}, true}),
      link(calendar, {1, Rate::of(own_link.bytes_per_s()), true}),
      link_out(calendar, {1, link.rate(), true}),
      latency(own_link.latency),
      request_time(ceil_ns(model.client.cpu_s_per_request / speed(model.client))),
      node(mounted_node) {
    STREAMSIM_CHECK(mounted_node < model.nodes, "a seat mounts from a node of the cluster");
    const auto connect = [&](double bytes_per_s, std::optional<Station>& by) {
        if (bytes_per_s == 0) return;
        STREAMSIM_CHECK(model.client.connections > 0, "a seat has a connection");
        by.emplace(calendar, StationOptions{model.client.connections, Rate::of(bytes_per_s), true});
    };
    connect(narrower(model.client.connection_bytes_per_s, model.node.connection_bytes_per_s), connections);
    connect(model.client.connection_write_bytes_per_s, connections_out);
    // The same protocols are on both cables.
    const Rate narrow = Rate::of(model.network.port_bits_per_s * own_link.efficiency / 8);
    if (!narrow.unlimited() && (link.rate().unlimited() || narrow.bytes_per_s() < link.rate().bytes_per_s()))
        port.emplace(calendar, model.network, narrow);
}

Duration Seat::decode_time(const ClientModel& client, const MediaFormat* format, Duration extra) {
    return ceil_ns((static_cast<double>(extra.ns) * 1e-9 + cost_of(client.decode, format)) / speed(client));
}

Duration Seat::display_time(const ClientModel& client, const MediaFormat* format, std::uint32_t pictures) {
    return ceil_ns(cost_of(client.display, format) * pictures);
}

}  // namespace streamsim::sim
