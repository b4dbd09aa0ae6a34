// The decoder of one stream of a modelled seat: its frames take their turns on the processor of the seat, with
// those of its other streams and with its requests. A frame that would be too late when its turn comes takes no
// time.
#pragma once

#include "sim/cluster/core.h"
#include "streamsim/decoder.h"

namespace streamsim::sim {

class SimDecoder final : public Decoder {
public:
    SimDecoder(ClusterCore& core, std::uint32_t seat, Duration cost)
        : core_(core), seat_(seat), flow_(core.add_decoder(seat)), cost_(cost) {}

    void decode(DecodeOp& op) override { core_.decode(op, seat_, flow_, cost_); }

private:
    ClusterCore& core_;
    const std::uint32_t seat_;
    const std::uint32_t flow_;
    const Duration cost_;  // of the whole processor
};

}  // namespace streamsim::sim
