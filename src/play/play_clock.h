// PlayClock: by how much a stream's play has been held up, and whether it stands still now. Streams that run on
// one clock (the angles of a multi-cam group, --sync) share one: while the frame of any of them is waited for,
// none goes on.
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

    /// `go_on` runs, later in the same turn of the loop, when the clock goes on after it stood still.
    void add_member(Callback go_on) { members_.push_back(go_on); }

    /// How long it stood still so far: all deadlines are later by that.
    Duration held_up() const { return held_up_; }
    bool stands() const { return waiting_ > 0; }
    /// The same, in ns, for any thread; while it stands nobody knows, and nothing is too late.
    const std::atomic<std::int64_t>& later_ns() const { return later_ns_; }

    /// Somebody waits for a frame.
    void hold() {
        ++waiting_;
        later_ns_.store(INT64_MAX);
    }
    /// Its wait is over; it took `length`. The clock goes on when nobody waits, later by the longest wait.
    void go_on(Duration length) {
        longest_ = std::max(longest_, length);
        if (--waiting_ > 0) return;
        held_up_ = held_up_ + longest_;
        longest_ = {};
        later_ns_.store(held_up_.ns);
        for (const Callback& member : members_) loop_.defer(member);
    }

private:
    EventLoop& loop_;
    std::vector<Callback> members_;
    Duration held_up_;
    Duration longest_;
    std::uint32_t waiting_ = 0;
    std::atomic<std::int64_t> later_ns_{0};
};

}  // namespace streamsim::play
