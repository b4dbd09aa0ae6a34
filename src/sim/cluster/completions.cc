#include "sim/cluster/completions.h"

#include <utility>

#include "sim/cluster/sim_storage.h"

namespace streamsim::sim {

Completions::Completions(EventLoop& loop, Calendar& calendar, JobPool& jobs)
    : loop_(loop), calendar_(calendar), jobs_(jobs) {
    loop_.add_reaper(this);
}

Completions::~Completions() {
    loop_.remove_reaper(this);
}

void Completions::add_operation(Job& job) {
    Op& op = *job.op;
    op.backend = nullptr;
    op.error = job.error;
    op.completed_at = op.not_before = calendar_.now();
    add(job);
}

void Completions::add_frame(Job& job) {
    job.decode->completed_at = calendar_.now();
    add(job);
}

void Completions::add(Job& job) {
    if (finished_.empty() && !reaping_) {  // inside a call of a user: the callback runs at the next turn
        calendar_.at(calendar_.now(), {[](void*) {}, nullptr});
    }
    finished_.push(job);
}

void Completions::reap() {
    reaping_ = true;
    calendar_.run_due();
    reaping_ = false;
    deliver();
}

void Completions::deliver() {
    JobQueue batch;
    std::swap(batch, finished_);
    while (!batch.empty()) {
        Job& job = batch.pop();
        const Callback done = job.kind == Job::Kind::decode ? job.decode->done : job.op->done;
        SimStorage* const storage = job.storage;
        jobs_.give(job);
        done();
        if (storage != nullptr) storage->delivered();
    }
}

}  // namespace streamsim::sim
