// Compares the bytes of frames with those that were written, in threads beside the loop.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>

#include "base/system/mutex.h"
#include "base/system/thread_group.h"
#include "streamsim/event_loop.h"
#include "streamsim/verifier.h"

namespace streamsim::run {

class ContentVerifier final : public Verifier {
public:
    /// `threads` at most: as many as the system gives. Without any, frames are checked in verify() itself.
    ContentVerifier(EventLoop& loop, unsigned threads);
    /// REQUIRES: no frame is left to check.
    ~ContentVerifier() override;
    void verify(VerifyOp& op) override;

    /// The counts of all frames so far.
    ContentCheck check() const;

private:
    void work();
    void compare(VerifyOp& op);

    EventLoop& loop_;
    mutable Mutex mutex_;
    std::condition_variable changed_;
    std::deque<VerifyOp*> queue_ GUARDED_BY(mutex_);
    bool ending_ GUARDED_BY(mutex_) = false;
    ContentCheck check_ GUARDED_BY(mutex_);
    ThreadGroup threads_;
};

}  // namespace streamsim::run
