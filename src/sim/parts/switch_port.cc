#include "sim/parts/switch_port.h"

#include <algorithm>

namespace streamsim::sim {

bool SwitchPort::enter(Job& job, std::uint32_t flow) {
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

void SwitchPort::leave(Job& job) {
    if (!model_.flow_control) buffered_ -= job.load;
}

Instant SwitchPort::send_again_at(const Job& job) const {
    return std::max(calendar_.now(), job.lost_at + model_.retransmit_after);
}

}  // namespace streamsim::sim
