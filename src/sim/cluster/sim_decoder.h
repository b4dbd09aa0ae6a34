// The decoder of one stream of a modelled seat. Its frames take turns on the processor of the seat with the
// frames of the seat's other streams and with its requests. A frame that would be too late takes no time.
#pragma once

#include "base/check.h"
#include "sim/cluster/completions.h"
#include "sim/cluster/parts.h"
#include "streamsim/decoder.h"

namespace streamsim::sim {

class SimDecoder final : public Decoder, public JobOwner {
public:
    /// `cost` is time of the whole processor.
    SimDecoder(ClusterParts& parts, Completions& completions, std::uint32_t seat, Duration cost)
        : parts_(parts), completions_(completions), seat_(seat), cost_(cost) {
        STREAMSIM_CHECK(seat < parts.seats.size(), "a decoder is of a seat of the cluster");
        flow_ = ++parts.seats[seat].decoders;
    }

    void decode(DecodeOp& op) override {
        Job& job = parts_.jobs.take(*this, Job::Kind::decode);
        job.decode = &op;
        job.vetted = true;
        op.skipped = false;
        parts_.seats[seat_].cpu.enter(job, flow_, cost_, 0);
    }

    void advance(Job& job) override { completions_.add_frame(job); }
    void reroute(Job& job) override { advance(job); }  // no fault strikes a seat's processor
    bool wanted(Job& job, Instant complete) override {
        job.decode->skipped = job.decode->too_late(complete);
        return !job.decode->skipped;
    }

private:
    ClusterParts& parts_;
    Completions& completions_;
    const std::uint32_t seat_;
    const Duration cost_;
    std::uint32_t flow_;
};

}  // namespace streamsim::sim
