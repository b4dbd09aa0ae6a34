#include "sim/parts/seat.h"

#include "base/check.h"

namespace streamsim::sim {
namespace {

double speed(const ClientModel& client) {
    STREAMSIM_CHECK(client.cores > 0 && client.cpu_ceiling > 0, "a seat has a processor");
    return client.cores * client.cpu_ceiling;
}

}  // namespace

Seat::Seat(Calendar& calendar, const ClusterModel& model, std::uint32_t mounted_node, const LinkModel& own_link)
    : cpu(calendar, {1, Rate::of_cost(speed(model.client), model.client.cpu_s_per_byte), true, true}),
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
    connect(model.client.connection_bytes_per_s, connections);
    connect(model.client.connection_write_bytes_per_s, connections_out);
    // The same protocols are on both cables.
    const Rate narrow = Rate::of(model.network.port_bits_per_s * own_link.efficiency / 8);
    if (!narrow.unlimited() && (link.rate().unlimited() || narrow.bytes_per_s() < link.rate().bytes_per_s()))
        port.emplace(calendar, model.network, narrow);
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
