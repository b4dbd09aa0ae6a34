#include "sim/parts/seat.h"

#include "base/check.h"

namespace streamsim::sim {
namespace {

double speed(const ClientModel& client) {
    STREAMSIM_CHECK(client.cores > 0 && client.cpu_ceiling > 0, "a seat has a processor");
    return client.cores * client.cpu_ceiling;
}

/// The rate of a processor whose work costs so many seconds a byte; 0: no cost.
Rate byte_rate(double processor, double s_per_byte) {
    return s_per_byte > 0 ? Rate::of(processor / s_per_byte) : Rate{};
}

}  // namespace

Seat::Seat(Calendar& calendar, const ClusterModel& model, std::uint32_t mounted_node, const LinkModel& own_link)
    : cpu(calendar, {1, byte_rate(speed(model.client), model.client.cpu_s_per_byte), true, true}),
      link(calendar, {1, Rate::of(own_link.bytes_per_s()), true}),
      link_out(calendar, {1, link.rate(), true}),
      latency(own_link.latency),
      request_time(ceil_ns(model.client.cpu_s_per_request / speed(model.client))),
      node(mounted_node) {
    STREAMSIM_CHECK(mounted_node < model.nodes, "a seat mounts from a node of the cluster");
    const Rate own = link.rate();
    const Rate connection = Rate::of(model.client.connection_bytes_per_s);
    if (!connection.unlimited()) {
        STREAMSIM_CHECK(model.client.connections > 0, "a seat has a connection");
        connections.emplace(calendar, StationOptions{model.client.connections, connection, true});
    }
    const Rate outwards = Rate::of(model.client.connection_write_bytes_per_s);
    if (!outwards.unlimited())
        connections_out.emplace(calendar, StationOptions{model.client.connections, outwards, true});
    // The same protocols are on both cables.
    const double efficiency = own_link.efficiency;
    const Rate narrow = Rate::of(model.network.port_bits_per_s * efficiency / 8);
    if (!narrow.unlimited() && (own.unlimited() || narrow.bytes_per_s() < own.bytes_per_s())) {
        port.emplace(calendar, model.network, narrow);
    }
}

Duration Seat::decode_time(const ClientModel& client, const MediaFormat* format, Duration extra) {
    double s = static_cast<double>(extra.ns) * 1e-9;
    if (format != nullptr) {
        const int bits = format->codec == "dpx" ? format->dpx.bits : 0;
        for (const DecodeCost& cost : client.decode) {
            if (!cost.codec.empty() && cost.codec != format->codec) continue;
            if (cost.bits != 0 && cost.bits != bits) continue;
            const double pixels = static_cast<double>(format->width) * static_cast<double>(format->height);
            s += cost.s_per_frame + cost.s_per_pixel * pixels;
            break;
        }
    }
    return ceil_ns(s / speed(client));
}

}  // namespace streamsim::sim
