// Time is integer nanoseconds in types that cannot be mixed up, and a rate is a fraction. Deadlines come
// from one origin in 128-bit arithmetic: 24000/1001 rounded to 42 ms would drift by ten minutes in a day.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace streamsim {

/// A span of time in nanoseconds; may be negative.
struct Duration {
    std::int64_t ns = 0;

    constexpr auto operator<=>(const Duration&) const = default;  // NOLINT(modernize-use-nullptr)
    constexpr Duration operator+(Duration other) const { return {ns + other.ns}; }
    constexpr Duration operator-(Duration other) const { return {ns - other.ns}; }
    constexpr Duration operator-() const { return {-ns}; }
    constexpr Duration& operator+=(Duration other) {
        ns += other.ns;
        return *this;
    }
};

constexpr Duration nanoseconds(std::int64_t n) {
    return {n};
}
constexpr Duration microseconds(std::int64_t n) {
    return {n * 1'000};
}
constexpr Duration milliseconds(std::int64_t n) {
    return {n * 1'000'000};
}
constexpr Duration seconds(std::int64_t n) {
    return {n * 1'000'000'000};
}

/// A point on one event loop's clock, in nanoseconds since that clock's own zero. Real loops of one process
/// share a clock (CLOCK_MONOTONIC); a virtual loop begins at 0.
struct Instant {
    std::int64_t ns = 0;

    constexpr auto operator<=>(const Instant&) const = default;  // NOLINT(modernize-use-nullptr)
    constexpr Instant operator+(Duration d) const { return {ns + d.ns}; }
    constexpr Instant operator-(Duration d) const { return {ns - d.ns}; }
    constexpr Duration operator-(Instant other) const { return {ns - other.ns}; }

    static constexpr Instant never() { return {INT64_MAX}; }
};

/// Processor time of the calling thread, in nanoseconds.
std::int64_t thread_cpu_ns();

/// Frames a second as an exact fraction. REQUIRES: num > 0 and den > 0.
struct FrameRate {
    std::int64_t num = 24;
    std::int64_t den = 1;

    constexpr bool operator==(const FrameRate&) const = default;

    /// Deadline of frame `index`, counted from the origin: floor(index * den * 10^9 / num), exact for every
    /// index whose result fits 63 bits (292 years).
    Duration due(std::uint64_t index) const;

    /// One frame period, rounded down.
    Duration period() const { return due(1); }

    /// Number of frame slots in a length of time: ceil(length * num / (den * 10^9)).
    std::uint64_t slots_in(Duration length) const;

    double per_second() const { return static_cast<double>(num) / static_cast<double>(den); }

    /// "24", "24000/1001"
    std::string to_string() const;

    /// Reads "24", "24000/1001", and the trade's names for the NTSC rates: "23.976" and "23.98" are
    /// 24000/1001, "29.97" is 30000/1001, "47.952" 48000/1001, "59.94" 60000/1001. Another decimal is taken
    /// as it is written, as an exact fraction. Errors: anything else, zero, or above 1,000,000 a second.
    static Result<FrameRate> parse(std::string_view text);
};

}  // namespace streamsim
