// The last conclusive poll of a backend for completions: operations that it did not find had not completed yet.
#pragma once

#include <algorithm>

#include "streamsim/event_loop.h"

namespace streamsim::storage {

/// After a time in which the process could not run (a SIGSTOP, a busy machine) the loop may poll before the
/// threads of the pool or the kernel have delivered the completions of that time. So a poll shortly after such
/// a stall is not conclusive, and the last one before the stall counts.
class CompletionPollTimes {
public:
    explicit CompletionPollTimes(EventLoop& loop) : loop_(loop), last_(loop.now()) {}

    Instant last() const { return last_; }

    /// The not_before of a completion that a thread of this process stamped. The stamp can only be late when
    /// the thread could not run: then the loop could not run either, and has noted a stall.
    Instant not_before(Instant submitted_at, Instant completed_at) const {
        const Instant poll = std::clamp(last_, submitted_at, completed_at);
        return loop_.stalled_within(poll, completed_at) > Duration{} ? poll : completed_at;
    }

    /// Notes a poll. `polled_at` was read before it, and its completions have been settled already.
    void note(Instant polled_at) {
        constexpr Duration kThreadsRunAgain = milliseconds(10);
        if (loop_.stalled_within(polled_at - kThreadsRunAgain, polled_at) == Duration{}) last_ = polled_at;
    }

private:
    EventLoop& loop_;
    Instant last_;
};

}  // namespace streamsim::storage
