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

std::uint32_t Station::index_of(std::uint32_t flow) {
    std::uint32_t index = flow_index_.find(flow);
    if (index != FlatIndex::kNone) return index;
    index = static_cast<std::uint32_t>(flows_.size());
    flows_.emplace_back();
    flow_index_.insert(flow, index);
    return index;
}

void Station::add_to_round(std::uint32_t index) {
    flows_[index].next = kNone;
    (last_flow_ != kNone ? flows_[last_flow_].next : first_flow_) = index;
    last_flow_ = index;
}

void Station::push(Job& job) {
    const std::uint32_t index = index_of(job.flow);
    const bool had_none = flows_[index].waiting.empty();
    flows_[index].waiting.push(job);
    if (had_none) add_to_round(index);
}

Job& Station::pop() {
    const std::uint32_t index = first_flow_;
    Flow& flow = flows_[index];
    Job& job = flow.waiting.pop();
    first_flow_ = flow.next;
    if (first_flow_ == kNone) last_flow_ = kNone;
    if (!flow.waiting.empty()) add_to_round(index);  // to the end of the round
    return job;
}

}  // namespace streamsim::sim
