// The port of a switch towards a seat, where it is slower than the uplink (10 GbE to 1 GbE).
//
// With flow control the sender waits: no segment is lost (IEEE 802.3x, or TCP that has found the rate). Without
// it the port has a buffer; segments that do not fit are lost, and the node sends them again after
// `retransmit_after` (RFC 6298's timeout; fast retransmit is a shorter one): the incast collapse of storage
// networks (Phanishayee et al., "Measurement and analysis of TCP throughput collapse in cluster-based storage
// systems", 2008).
//
// Queue discipline: fair between the streams of the seat.
// Assumptions: a response arrives as one burst, as the uplink is much faster than the port; of a burst the
// beginning fits and the rest is lost; an empty buffer takes at least one segment. No head-of-line blocking
// behind a port that was paused: each node queues for each seat.
// A port that loses segments is the one part where a faster uplink can be worse: it loses more.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/parts/station.h"
#include "streamsim/cluster_model.h"

namespace streamsim::sim {

class SwitchPort {
public:
    SwitchPort(Calendar& calendar, const SwitchModel& model, Rate rate)
        : calendar_(calendar), model_(model), station_(calendar, {1, rate, true}) {}

    /// Passes on as much of job.port_rest as the buffer has room for; lost bytes stay in job.port_rest. False:
    /// the buffer had no room, and the job is not here.
    bool enter(Job& job, std::uint32_t flow) {
        std::uint64_t fits = job.port_rest;
        if (!model_.flow_control) {
            const std::uint64_t segment = std::max<std::uint64_t>(model_.segment_bytes, 1);
            const std::uint64_t room = model_.port_buffer_bytes - std::min(model_.port_buffer_bytes, buffered_);
            if (fits > room) fits = std::max(room / segment, std::uint64_t{buffered_ == 0}) * segment;
            fits = std::min(fits, job.port_rest);
            if (fits < job.port_rest) {
                lost_ += (job.port_rest - fits + segment - 1) / segment;
                job.lost_at = calendar_.now();
                const std::int64_t second = job.lost_at.ns / 1'000'000'000;
                if (lost_seconds_.empty() || lost_seconds_.back() != second) lost_seconds_.push_back(second);
            }
            if (fits == 0) return false;
            buffered_ += fits;
        }
        job.port_rest -= fits;
        station_.enter(job, flow, {}, fits);
        return true;
    }

    /// The job was served: its bytes leave the buffer.
    void leave(Job& job) {
        if (!model_.flow_control) buffered_ -= job.load;
    }
    /// The time at which the node sends the lost bytes of the job again.
    Instant send_again_at(const Job& job) const {
        return std::max(calendar_.now(), job.lost_at + model_.retransmit_after);
    }

    std::uint64_t lost_segments() const { return lost_; }
    /// Whole seconds in which segments were lost, in order.
    const std::vector<std::int64_t>& lost_seconds() const { return lost_seconds_; }
    const Station& station() const { return station_; }

private:
    Calendar& calendar_;
    const SwitchModel model_;
    Station station_;
    std::uint64_t buffered_ = 0;
    std::uint64_t lost_ = 0;
    std::vector<std::int64_t> lost_seconds_;
};

}  // namespace streamsim::sim
