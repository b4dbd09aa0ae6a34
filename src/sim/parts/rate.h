// The time that bytes take. A rate is whole bytes a second, rounded down, and a time whole nanoseconds, rounded
// up: no part ever moves more than its rate, and no sum is in floating point.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/check.h"
#include "base/time.h"
#include "base/wide.h"

namespace streamsim::sim {

class Rate {
public:
    /// Unlimited.
    constexpr Rate() = default;

    /// 0: unlimited; else at least one byte a second. REQUIRES: not negative.
    static Rate of(double bytes_per_s) {
        if (bytes_per_s == 0) return {};
        STREAMSIM_CHECK(bytes_per_s > 0, "a rate is not negative");
        Rate rate;
        rate.bytes_per_s_ = static_cast<std::uint64_t>(std::clamp(bytes_per_s, 1.0, 0x1p61));
        return rate;
    }

    /// The rate of a processor, in cores, whose work costs so many seconds of a core a byte; 0: no cost.
    static Rate of_cost(double cores, double s_per_byte) {
        return s_per_byte > 0 ? of(cores / s_per_byte) : Rate{};
    }

    bool unlimited() const { return bytes_per_s_ == 0; }
    std::uint64_t bytes_per_s() const { return bytes_per_s_; }

    Duration time(std::uint64_t bytes) const {
        if (bytes_per_s_ == 0) return {};
        constexpr std::uint64_t kNsPerS = 1'000'000'000;
        if (bytes < (std::uint64_t{1} << 33) && bytes_per_s_ < (std::uint64_t{1} << 62)) {
            return {static_cast<std::int64_t>((bytes * kNsPerS + bytes_per_s_ - 1) / bytes_per_s_)};
        }
        return {static_cast<std::int64_t>((Wide{bytes} * kNsPerS + bytes_per_s_ - 1) / bytes_per_s_)};
    }

    /// REQUIRES: factor > 0.
    Rate times(double factor) const { return of(static_cast<double>(bytes_per_s_) * factor); }

private:
    std::uint64_t bytes_per_s_ = 0;
};

/// Seconds of a model in whole nanoseconds, rounded up; a year at most, which stands for ever.
inline Duration ceil_ns(double s) {
    constexpr double kYear = 365.0 * 86'400;
    return {static_cast<std::int64_t>(std::ceil(std::min(s, kYear) * 1e9))};
}

}  // namespace streamsim::sim
