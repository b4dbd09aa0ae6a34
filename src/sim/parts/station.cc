#include "sim/parts/station.h"

#include <algorithm>

namespace streamsim::sim {

void Station::enter(Job& job, std::uint32_t flow, Duration fixed, std::uint64_t load) {
    job.part = this;
    job.arrived = calendar_.now();
    job.flow = options_.fair ? flow : 0;
    job.fixed = fixed;
    job.load = load;
    stats_.arrive(job.arrived);
    if (options_.urgent && job.flow == 0) return interrupt(job);
    if (first_flow_ == kNone && may_begin()) {
        begin(job);
    } else {
        push(job);
    }
}

void Station::interrupt(Job& job) {
    const Instant start = std::max(calendar_.now(), urgent_end_);
    const Duration service = job.fixed + rate_.time(job.load);
    urgent_end_ = start + service;
    if (busy_ > 0) {
        stats_.begin(start, start, job.load);
        interrupted_ = interrupted_ + service;
    } else {
        stats_.begin(start, urgent_end_, job.load);
    }
    calendar_.at(urgent_end_, Callback::of<&Job::served>(&job));
}

void Station::begin(Job& job) {
    const Instant now = std::max(calendar_.now(), urgent_end_);
    Duration service = job.fixed + current_rate().time(job.load);
    if (job.vetted && !job.owner->wanted(job, now + service)) service = {};
    ++busy_;
    stats_.begin(now, now + service, job.load);
    calendar_.at(now + service, Callback::of<&Job::served>(&job));
}

void Station::finish(Job& job) {
    const Instant now = calendar_.now();
    if (options_.urgent && job.flow == 0) {
        stats_.depart(now, job.arrived);
        return job.owner->advance(job);
    }
    if (interrupted_ > Duration{}) {
        stats_.busy(now, now + interrupted_);
        calendar_.at(now + interrupted_, Callback::of<&Job::served>(&job));
        interrupted_ = {};
        return;
    }
    --busy_;
    stats_.depart(now, job.arrived);
    begin_waiting();
    job.owner->advance(job);
}

void Station::begin_waiting() {
    while (first_flow_ != kNone && may_begin()) begin(pop());
}

void Station::pause(Instant until) {
    if (until <= paused_until_) return;
    paused_until_ = until;
    calendar_.at(until, Callback::of<&Station::begin_waiting>(this));
}

JobQueue Station::take_waiting() {
    JobQueue all;
    while (first_flow_ != kNone) {
        Job& job = pop();
        stats_.depart(calendar_.now(), job.arrived);
        all.push(job);
    }
    return all;
}

Station::Flow& Station::flow_of(std::uint32_t number) {
    if (flows_.empty()) lowest_flow_ = number;
    if (number < lowest_flow_) {
        flows_.insert(flows_.begin(), lowest_flow_ - number, Flow{});
        lowest_flow_ = number;
    }
    const std::size_t index = number - lowest_flow_;
    if (index >= flows_.size()) flows_.resize(index + 1);
    return flows_[index];
}

void Station::push(Job& job) {
    Flow& flow = flow_of(job.flow);
    const bool had_none = flow.waiting.empty();
    flow.waiting.push(job);
    if (!had_none) return;
    flow.next = kNone;
    (last_flow_ != kNone ? flow_of(last_flow_).next : first_flow_) = job.flow;
    last_flow_ = job.flow;
}

Job& Station::pop() {
    const std::uint32_t number = first_flow_;
    Flow& flow = flow_of(number);
    Job& job = flow.waiting.pop();
    first_flow_ = flow.next;
    if (first_flow_ == kNone) last_flow_ = kNone;
    if (!flow.waiting.empty()) {  // to the end of the round
        flow.next = kNone;
        (last_flow_ != kNone ? flow_of(last_flow_).next : first_flow_) = number;
        last_flow_ = number;
    }
    return job;
}

}  // namespace streamsim::sim
