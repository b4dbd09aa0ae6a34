#include "sim/parts/drive.h"

#include <cmath>

#include "base/prng.h"
#include "sim/parts/latency.h"

namespace streamsim::sim {
namespace {

std::uint64_t distance(std::uint64_t a, std::uint64_t b) {
    return a < b ? b - a : a - b;
}

class FlashDrive final : public Drive {
public:
    FlashDrive(Calendar& calendar, const DriveModel& model)
        : model_(model), station_(calendar, {model.channels, Rate::of(model.outer_bytes_per_s), false}) {}

    void enter(Job& job, std::uint64_t, std::uint64_t bytes, std::uint64_t chance) override {
        if (job.kind != Job::Kind::destage) {
            station_.enter(job, 0, draw_latency(model_.access, chance), bytes);
            return;
        }
        const std::int64_t access = draw_latency(model_.write_access, chance).ns * job.accesses;
        station_.enter(job, 0, Duration{access} + station_.rate().time(bytes), 0);
    }
    Part& part() override { return station_; }

private:
    const DriveModel model_;
    Station station_;
};

}  // namespace

std::unique_ptr<Drive> make_drive(Calendar& calendar, const DriveModel& model) {
    if (model.kind == DriveModel::Kind::flash) return std::make_unique<FlashDrive>(calendar, model);
    return std::make_unique<RotationalDrive>(calendar, model);
}

void RotationalDrive::enter(Job& job, std::uint64_t position, std::uint64_t bytes, std::uint64_t chance) {
    job.part = this;
    job.arrived = calendar_.now();
    job.position = position;
    job.load = bytes;
    job.chance = chance;
    job.overtaken = 0;
    stats_.arrive(job.arrived);
    if (busy_) {
        waiting_.push(job);
    } else {
        begin(job);
    }
}

Duration RotationalDrive::seek_time(std::uint64_t from, std::uint64_t to) const {
    if (from == to) return {};
    const double share = static_cast<double>(distance(from, to)) / static_cast<double>(model_.capacity_bytes);
    const auto more = static_cast<double>((model_.seek_full - model_.seek_track).ns);
    return model_.seek_track + Duration{static_cast<std::int64_t>(more * std::sqrt(share))};
}

Rate RotationalDrive::zone_rate(std::uint64_t position) const {
    const double share = static_cast<double>(position) / static_cast<double>(model_.capacity_bytes);
    return Rate::of(model_.outer_bytes_per_s - share * (model_.outer_bytes_per_s - model_.inner_bytes_per_s));
}

void RotationalDrive::begin(Job& job) {
    busy_ = true;
    Duration service = zone_rate(job.position).time(job.load);
    if (job.position != head_) {
        Prng prng(job.chance);
        const double turn = model_.rotations_per_s > 0 ? prng.unit() * 1e9 / model_.rotations_per_s : 0;
        const Duration once = seek_time(head_, job.position) + Duration{static_cast<std::int64_t>(turn)};
        service += Duration{once.ns * job.accesses};
    }
    service += draw_latency(model_.access, derive_seed(job.chance, 1));
    head_ = job.position + job.load;
    const Instant now = calendar_.now();
    stats_.begin(now, now + service, job.kind != Job::Kind::destage ? job.load : 0);
    calendar_.at(now + service, Callback::of<&Job::served>(&job));
}

void RotationalDrive::finish(Job& job) {
    busy_ = false;
    stats_.depart(calendar_.now(), job.arrived);
    if (!waiting_.empty()) begin(take_next());
    job.owner->advance(job);
}

Job& RotationalDrive::take_next() {
    if (waiting_.first()->overtaken >= model_.reorder) return waiting_.pop();
    Job* before_nearest = nullptr;
    Job* nearest = waiting_.first();
    std::uint32_t looked_at = 1;
    for (Job* before = nearest; before->next != nullptr && looked_at < model_.reorder; ++looked_at) {
        Job* const job = before->next;
        if (distance(job->position, head_) < distance(nearest->position, head_)) {
            before_nearest = before;
            nearest = job;
        }
        before = job;
    }
    for (Job* older = waiting_.first(); older != nearest; older = older->next) ++older->overtaken;
    return waiting_.take_after(before_nearest);
}

JobQueue RotationalDrive::take_waiting() {
    const JobQueue all = waiting_;
    for (Job* job = all.first(); job != nullptr; job = job->next) stats_.depart(calendar_.now(), job->arrived);
    waiting_ = {};
    return all;
}

}  // namespace streamsim::sim
