// Decoders that take a fixed time for each frame, in real and in virtual time.
#pragma once

#include <condition_variable>
#include <deque>
#include <thread>

#include "base/system/mutex.h"
#include "streamsim/decoder.h"
#include "streamsim/event_loop.h"

namespace streamsim::loop {

/// Real time: a thread of its own burns processor time for each frame.
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
    Mutex mutex_;
    std::condition_variable changed_;
    std::deque<DecodeOp*> queue_ GUARDED_BY(mutex_);
    bool ending_ GUARDED_BY(mutex_) = false;
    std::thread thread_;
};

/// Virtual time: the frames take their time one after the other, on a processor of their own.
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
