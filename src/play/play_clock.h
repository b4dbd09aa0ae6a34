// PlayClock: how far stalls and seeks have moved the deadlines of a stream, and whether it is stopped.
// Synchronised streams (the angles of a multi-cam group, --sync) share one clock: while one of them waits for a
// frame, none goes on.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "base/callback.h"
#include "base/time.h"
#include "streamsim/event_loop.h"

namespace streamsim::play {

/// One loop's thread.
class PlayClock {
public:
    explicit PlayClock(EventLoop& loop) : loop_(loop) {}

    /// `go_on` runs, later in the same turn of the loop, whenever the clock goes on.
    void add_member(Callback go_on) { members_.push_back(go_on); }

    /// The time for which the clock was stopped: all deadlines are later by that.
    Duration shift() const { return shift_; }
    bool stopped() const { return waiting_ > 0; }
    /// REQUIRES: stopped().
    Instant stopped_at() const { return stopped_at_; }
    /// How long the clock has been stopped by `now`, which is not in shift() yet.
    Duration stopped_for(Instant now) const { return stopped() ? now - stopped_at_ : Duration{}; }
    /// shift() in ns, for any thread; while the clock stands the shift is unknown, and no frame is too late.
    const std::atomic<std::int64_t>& later_ns() const { return later_ns_; }

    /// A stream waits for a frame that is due at `due`.
    void hold(Instant due) {
        if (waiting_++ == 0) stopped_at_ = due;
        later_ns_.store(INT64_MAX);
    }
    /// The wait of one stream is over; it took `length`. The clock goes on when no stream waits, later by the
    /// longest wait.
    void go_on(Duration length) {
        longest_ = std::max(longest_, length);
        if (--waiting_ > 0) return;
        shift_ = shift_ + longest_;
        longest_ = {};
        later_ns_.store(shift_.ns);
        for (const Callback& member : members_) loop_.defer(member);
    }

private:
    EventLoop& loop_;
    std::vector<Callback> members_;
    Duration shift_;
    Duration longest_;
    Instant stopped_at_;
    std::uint32_t waiting_ = 0;
    std::atomic<std::int64_t> later_ns_{0};
};

}  // namespace streamsim::play
