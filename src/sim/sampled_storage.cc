#include "sim/sampled_storage.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace streamsim::sim {
namespace {

/// An operation of 0 ns in a trace took some time, and time has to go on.
constexpr std::int64_t kTimeNsMin = 1000;

}  // namespace

SampledStorage::SampledStorage(EventLoop& loop, const SampledTimes& times, std::uint64_t seed)
    : loop_(loop), times_(times), prng_(seed) {}

SampledStorage::~SampledStorage() {
    STREAMSIM_CHECK(waiting_.empty(), "a storage outlives its operations");
}

std::int64_t SampledStorage::draw(const std::vector<std::int64_t>& times) {
    return times.empty() ? 0 : times[prng_.below(times.size())];
}

/// Draws from the times of the nearest larger size, else of the largest.
std::int64_t SampledStorage::draw(const std::map<std::uint64_t, std::vector<std::int64_t>>& times,
                                  std::uint64_t bytes) {
    if (times.empty()) return 0;
    const auto above = times.lower_bound(bytes);
    return draw(above == times.end() ? times.rbegin()->second : above->second);
}

void SampledStorage::open(OpenOp& op) {
    op.file = 0;
    complete(op, draw(times_.opens));
}

void SampledStorage::read(ReadOp& op) {
    op.bytes = op.buffer.size();
    complete(op, draw(times_.reads, op.bytes));
}

void SampledStorage::write(WriteOp& op) {
    op.bytes = op.buffer.size();
    complete(op, draw(times_.writes, op.bytes));
}

void SampledStorage::sync(SyncOp& op) {
    complete(op, draw(times_.syncs));
}

void SampledStorage::perform(PathOp& op) {
    switch (op.kind) {
        case PathOp::Kind::list: complete(op, draw(times_.lists)); return;
        case PathOp::Kind::remove: complete(op, draw(times_.removes)); return;
        case PathOp::Kind::rename: complete(op, draw(times_.renames)); return;
        case PathOp::Kind::stat:
        case PathOp::Kind::make_directory: complete(op, draw(times_.stats)); return;
    }
}

void SampledStorage::complete(Op& op, std::int64_t ns) {
    op.error = 0;
    op.submitted_at = loop_.now();
    op.completed_at = op.not_before = loop_.now() + Duration{std::max(ns, kTimeNsMin)};
    waiting_.emplace(op.completed_at, &op);
    arm();
}

void SampledStorage::arm() {
    if (timer_ != 0) loop_.cancel(timer_);
    timer_ =
        waiting_.empty() ? 0 : loop_.at(waiting_.begin()->first, Callback::of<&SampledStorage::on_timer>(this));
}

void SampledStorage::on_timer() {
    timer_ = 0;
    while (!waiting_.empty() && waiting_.begin()->first <= loop_.now()) {
        Op& op = *waiting_.begin()->second;
        waiting_.erase(waiting_.begin());
        op.done();  // may submit more
    }
    arm();
    if (waiting_.empty() && shutdown_) std::exchange(shutdown_, {})();
}

void SampledStorage::shutdown(Callback done) {
    shutdown_ = done;
    if (waiting_.empty()) loop_.defer(std::exchange(shutdown_, {}));
}

}  // namespace streamsim::sim
