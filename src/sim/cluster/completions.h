// The finished operations and frames of a cluster. Each is stamped when it finishes; the callbacks of an
// instant run when every operation of that instant is stamped.
#pragma once

#include "sim/parts/calendar.h"
#include "sim/parts/job.h"

namespace streamsim::sim {

class Completions final : public Reaper {
public:
    Completions(EventLoop& loop, Calendar& calendar, JobPool& jobs);
    ~Completions() override;
    Completions(const Completions&) = delete;
    Completions& operator=(const Completions&) = delete;

    /// Stamps the operation of the job, and later runs its callback.
    void add_operation(Job& job);
    /// The same for the frame of the job.
    void add_frame(Job& job);

    void reap() override;

private:
    void add(Job& job);
    void deliver();

    EventLoop& loop_;
    Calendar& calendar_;
    JobPool& jobs_;
    JobQueue finished_;
    bool reaping_ = false;
};

}  // namespace streamsim::sim
