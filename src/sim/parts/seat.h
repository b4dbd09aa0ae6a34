// A seat: a workstation with a processor and a cable.
//
// Processor: one station for all its cores, up to the ceiling at which play is safe. Decoders take turns there,
// frame by frame. Requests and copies are urgent: they interrupt decoding. Assumption: the decoding of one
// frame uses all cores, which makes the sum exact and a single frame faster than it is.
//
// Link: inwards shared between the streams of the seat. A read comes in through one of the seat's connections
// (SMB multichannel, nconnect), each with a rate of its own that a single one cannot exceed: that of the seat
// or, where that is less, that with which a core of the node serves a connection; then through the cable.
// Writes go out through the other direction of both; requests take the link's latency and no bandwidth.
//
// Display: one path from memory to the display, one picture at a time.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/parts/rate.h"
#include "sim/parts/station.h"
#include "sim/parts/switch_port.h"
#include "streamsim/cluster_model.h"
#include "streamsim/media.h"

namespace streamsim::sim {

struct Seat {
    /// `mounted_node` is below the model's nodes.
    Seat(Calendar& calendar, const ClusterModel& model, std::uint32_t mounted_node, const LinkModel& own_link);

    /// The processor time of one frame of this format: the first cost that fits, and `extra` of one core.
    static Duration decode_time(const ClientModel& client, const MediaFormat* format, Duration extra);
    /// The time of `pictures` of this format on the path to the display.
    static Duration display_time(const ClientModel& client, const MediaFormat* format, std::uint32_t pictures);

    Station cpu;
    Station display;
    std::optional<Station> connections;  // none: they have no rate of their own
    std::optional<SwitchPort> port;      // none: it is no narrower than the link
    Station link;
    std::optional<Station> connections_out;  // outwards
    Station link_out;
    Duration latency;       // of the link, one way
    Duration request_time;  // on the processor
    std::uint32_t node;     // the node that the seat mounts from; kNoNode: none is left
    Instant back_at;        // after the loss of a node, requests wait until then
    std::uint32_t decoders = 0;

    static constexpr std::uint32_t kNoNode = UINT32_MAX;
};

}  // namespace streamsim::sim
