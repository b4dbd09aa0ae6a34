// The finished operations and frames of a cluster. Each is stamped when it finishes; the callbacks of an
// instant run when every operation of that instant is stamped.
#pragma once

#include <utility>

#include "sim/parts/calendar.h"
#include "sim/parts/job.h"

namespace streamsim::sim {

class Completions final : public Reaper {
public:
    Completions(EventLoop& loop, Calendar& calendar, JobPool& jobs)
        : loop_(loop), calendar_(calendar), jobs_(jobs) {
        loop_.add_reaper(this);
    }
    ~Completions() override { loop_.remove_reaper(this); }
    Completions(const Completions&) = delete;
    Completions& operator=(const Completions&) = delete;

    /// Stamps the operation of the job, and later runs its callback.
    void add_operation(Job& job) {
        Op& op = *job.op;
        op.backend = nullptr;
        op.error = job.error;
        op.completed_at = op.not_before = calendar_.now();
        add(job);
    }

    /// The same for the frame of the job.
    void add_frame(Job& job) {
        job.decode->completed_at = calendar_.now();
        add(job);
    }

    void reap() override {
        calendar_.run_due([this] { return !finished_.empty(); });
        JobQueue batch = finished_.take();
        while (!batch.empty()) {
            Job& job = batch.pop();
            const Callback done = job.kind == Job::Kind::decode ? job.decode->done : job.op->done;
            const Callback delivered = job.delivered;
            jobs_.give(job);
            done();
            if (delivered) delivered();
        }
    }

    Instant next() const override { return finished_.empty() ? calendar_.next() : calendar_.now(); }

private:
    void add(Job& job) { finished_.push(job); }

    EventLoop& loop_;
    Calendar& calendar_;
    JobPool& jobs_;
    JobQueue finished_;
};

}  // namespace streamsim::sim
