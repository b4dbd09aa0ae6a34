// A decoder in virtual time: each frame takes its time, one after the other, on a processor of its own.
#pragma once

#include <deque>

#include "streamsim/decoder.h"
#include "streamsim/event_loop.h"

namespace streamsim::loop {

class TimedDecoder final : public Decoder {
public:
    TimedDecoder(EventLoop& loop, Duration cpu) : loop_(loop), cpu_(cpu) {}
    void decode(DecodeOp& op) override;

private:
    void begin();
    void finished();

    EventLoop& loop_;
    const Duration cpu_;
    std::deque<DecodeOp*> queue_;  // the first is being decoded
};

}  // namespace streamsim::loop
