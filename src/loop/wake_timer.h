// Wakes a libuv loop at an instant of its clock, to well below a millisecond: libuv's own timers count in
// milliseconds. One file for each kind of system. Inside loop/ only.
#pragma once

#include "base/time.h"

struct uv_loop_s;  // libuv's uv_loop_t

namespace streamsim::loop {

/// On the loop's thread. The loop's poll ends at the set time.
class WakeTimer {
public:
    explicit WakeTimer(uv_loop_s* loop);
    /// Begins to close the handles on the loop, which ends when the loop runs.
    ~WakeTimer();
    WakeTimer(const WakeTimer&) = delete;
    WakeTimer& operator=(const WakeTimer&) = delete;

    /// Sets the next time, instead of the one before. The time may be in the past, or never().
    void set(Instant when);

private:
    struct Impl;
    Impl* impl_;  // its handles outlive this object until the loop has closed them
};

}  // namespace streamsim::loop
