// A seat: a workstation with a processor and a cable.
//
// Processor: one station for all its cores up to the ceiling at which play is safe; decoders take frames there,
// each in its turn. Requests and the bytes that are copied are urgent: they interrupt decoding. That a frame's
// decoding uses all cores is an assumption: it makes the whole exact and a single frame faster than it is.
//
// Link: what comes in, shared between the streams of the seat. A read comes in through one of its connections
// (SMB multichannel, nconnect), each with a rate of its own that a single one cannot exceed; then through the
// cable. What is written goes out the same way, in the other direction of both; requests take its latency and
// no bandwidth.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/cluster/cluster.h"
#include "sim/cluster/station.h"
#include "sim/cluster/switch_port.h"
#include "sim/rate.h"

namespace streamsim::sim {

struct Seat {
    Seat(Calendar& calendar, const ClusterModel& model, const SeatPlace& place);

    /// What a frame of this format takes: the first cost that fits, and `extra` of one core.
    static Duration decode_time(const ClientModel& client, const MediaFormat* format, Duration extra);

    Station cpu;
    std::optional<Station> connections;  // where they have a rate of their own
    std::optional<SwitchPort> port;      // where it is narrower than the link
    Station link;
    std::optional<Station> connections_out;  // the other direction
    Station link_out;
    Duration latency;       // of the link, one way
    Duration request_time;  // of the processor
    std::uint32_t node;     // that it mounts from; kNoNode: there is none left
    Instant back_at;        // requests wait until then: the node was lost
    std::uint32_t decoders = 0;

    static constexpr std::uint32_t kNoNode = UINT32_MAX;
};

}  // namespace streamsim::sim
