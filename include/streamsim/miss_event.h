// Missed frames as events: frames that were missed together, for one cause.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "streamsim/fields.h"
#include "streamsim/verdict.h"

namespace streamsim {

/// The storage, the network and this computer during an event; nullopt: not known. Shares are 0 to 1.
struct EventEvidence {
    /// The evidence begins with the first read of the frames that were missed, at most some seconds before the
    /// event, and ends with the event. From the first play_start.
    std::int64_t from_ns = 0;
    std::optional<std::uint64_t> read_bytes_per_s;  // with what recorders wrote
    std::optional<std::int64_t> no_data_ns;         // the longest time in which no stream received a byte
    std::optional<std::int64_t> service_ns_max;
    std::optional<double> link_busy;  // of the interface that received most
    std::optional<std::int64_t> rtt_ns;
    std::optional<std::uint64_t> lost_segments;  // of both directions
    std::optional<double> cpu_busy;              // all processors, by all processes
    std::optional<std::int64_t> run_queue_wait_ns;
    std::string part;  // the busiest part of a model; empty: there is no model
    std::optional<double> part_utilisation;
};
void fields(ConstOr<EventEvidence> auto& evidence, auto& visit) {
    visit("from_ns", evidence.from_ns);
    visit.object("storage", [&](auto& storage) {
        storage("read_bytes_per_s", evidence.read_bytes_per_s);
        storage("no_data_ns", evidence.no_data_ns);
        storage("service_ns_max", evidence.service_ns_max);
    });
    visit.object("network", [&](auto& network) {
        network("link_busy", four_decimals(evidence.link_busy));
        network("rtt_ns", evidence.rtt_ns);
        network("lost_segments", evidence.lost_segments);
    });
    visit.object("computer", [&](auto& computer) {
        computer("cpu_busy", four_decimals(evidence.cpu_busy));
        computer("run_queue_wait_ns", evidence.run_queue_wait_ns);
    });
    visit.object("model", [&](auto& model) {
        model("part", evidence.part);
        model("utilisation", four_decimals(evidence.part_utilisation));
    });
}

/// The first frame of an event.
struct EventFrame {
    std::uint32_t seat = 0;
    std::uint32_t stream = 0;
    std::uint64_t slot = 0;  // counted on over passes
    std::string clip, file;
    std::string timecode;  // of the clip's frame
};
void fields(ConstOr<EventFrame> auto& frame, auto& visit) {
    visit("seat", frame.seat);
    visit("stream", frame.stream);
    visit("slot", frame.slot);
    visit("clip", frame.clip);
    visit("file", frame.file);
    visit("timecode", frame.timecode);
}

/// Times count from the first play_start.
struct MissEvent {
    std::int64_t from_ns = 0;          // deadline of the first missed frame, or begin of the first stall
    std::int64_t to_ns = 0;            // end of the last missed frame's period, or of the last stall
    std::uint64_t frames = 0;          // missed: dropped, late or failed, start-up drops included
    std::uint64_t startup_frames = 0;  // of `frames`: dropped in the first second
    std::uint64_t stalls = 0;          // of play
    std::uint64_t streams = 0;         // that missed a frame, or stalled
    Cause cause = Cause::unknown;
    EventFrame first;
    EventEvidence evidence;
};
void fields(ConstOr<MissEvent> auto& event, auto& visit) {
    visit("from_ns", event.from_ns);
    visit("to_ns", event.to_ns);
    visit("frames", event.frames);
    visit("startup_frames", event.startup_frames, kAdded);
    visit("stalls", event.stalls);
    visit("streams", event.streams);
    visit("cause", event.cause);
    visit("first", event.first);
    visit("evidence", event.evidence);
}

}  // namespace streamsim
