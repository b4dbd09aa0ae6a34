// When a backend last looked for completions and could be sure that what was not there had not come yet.
#pragma once

#include <algorithm>

#include "streamsim/event_loop.h"

namespace streamsim::storage {

/// After a time in which the process could not run (a SIGSTOP, a machine that is too busy) the loop may be
/// quicker than the threads, the pool's or the kernel's, that bring a completion which came meanwhile: a look
/// shortly after such a stall proves nothing, and the last one before it stays.
class CompletionPollTimes {
public:
    explicit CompletionPollTimes(EventLoop& loop) : loop_(loop), last_(loop.now()) {}

    Instant last() const { return last_; }

    /// Of a completion that a thread of ours has stamped. The stamp can only be late when the thread could not
    /// run: then the loop could not run either, and has noted a stall.
    Instant not_before(Instant submitted_at, Instant completed_at) const {
        const Instant look = std::clamp(last_, submitted_at, completed_at);
        return loop_.stalled_within(look, completed_at) > Duration{} ? look : completed_at;
    }

    /// The completions of this look have been judged by the one before; `look` was read before looking.
    void looked(Instant look) {
        constexpr Duration kThreadsAreBack = milliseconds(10);
        if (loop_.stalled_within(look - kThreadsAreBack, look) == Duration{}) last_ = look;
    }

private:
    EventLoop& loop_;
    Instant last_;
};

}  // namespace streamsim::storage
