#include "load/buffer.h"

#include <algorithm>

#include "base/check.h"

namespace streamsim::load {

BufferLevel::BufferLevel(const BufferSpec& spec, Instant begin) : rate_(spec.bytes_per_s), at_(begin) {
    STREAMSIM_CHECK(spec.bytes_per_s > 0 && spec.threshold <= spec.length,
                    "a buffer has a rate, and its threshold lies within it");
    below_.limit = rate_ * (spec.length - spec.threshold).ns;
    dry_.limit = rate_ * spec.length.ns;
}

void BufferLevel::Excess::rise(Exact by, Exact to) {
    if (to <= limit) return;
    sum += std::min(by, to - limit);
    if (!now) ++times;
    now = true;
}

void BufferLevel::pass(Instant to) {
    if (to <= at_) return;
    const Exact by = rate_ * (to - at_).ns;
    at_ = to;
    deficit_ += by;
    largest_ = std::max(largest_, deficit_);
    below_.rise(by, deficit_);
    dry_.rise(by, deficit_);
}

void BufferLevel::completed(Instant at, std::uint64_t bytes) {
    pass(at);
    deficit_ = std::max<Exact>(deficit_ - Exact{bytes} * 1'000'000'000, 0);
    below_.fall(deficit_);
    dry_.fall(deficit_);
}

std::int64_t BufferLevel::deficit_ns(Instant at) const {
    return in_ns(deficit_ + (at > at_ ? rate_ * (at - at_).ns : Exact{0}));
}

std::int64_t BufferLevel::in_ns(Exact deficit) const {
    return static_cast<std::int64_t>((deficit + rate_ - 1) / rate_);
}

}  // namespace streamsim::load
