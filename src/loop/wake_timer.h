// Wakes a libuv loop at an instant of its clock, to well below a millisecond: libuv's own timers count in
// milliseconds. One file for each kind of system. Inside loop/ only.
#pragma once

#include "base/time.h"

struct uv_loop_s;  // libuv's uv_loop_t

namespace streamsim::loop {

/// On the loop's thread. The loop's poll ends when the time has come, nothing else happens.
class WakeTimer {
public:
    explicit WakeTimer(uv_loop_s* loop);
    /// Its handles on the loop are closed, which the loop has yet to run.
    ~WakeTimer();
    WakeTimer(const WakeTimer&) = delete;
    WakeTimer& operator=(const WakeTimer&) = delete;

    /// The next time, in the place of the one before; it may have come already, or be never().
    void set(Instant when);

private:
    struct Impl;
    Impl* impl_;  // its handles outlive this object until the loop has closed them
};

}  // namespace streamsim::loop
