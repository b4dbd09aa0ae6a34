// A decoder in real time: a thread of its own that burns processor time for each frame.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "streamsim/decoder.h"
#include "streamsim/event_loop.h"

namespace streamsim::loop {

class BurningDecoder final : public Decoder {
public:
    /// `cpu` is thread CPU time for each frame: on a busy machine a frame takes longer.
    BurningDecoder(EventLoop& loop, Duration cpu);
    /// REQUIRES: no frame is left to decode.
    ~BurningDecoder() override;
    void decode(DecodeOp& op) override;

private:
    void work();

    EventLoop& loop_;
    const Duration cpu_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<DecodeOp*> queue_;  // protected by mutex_
    bool ending_ = false;          // protected by mutex_
    std::thread thread_;
};

}  // namespace streamsim::loop
