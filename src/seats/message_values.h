// Numbers in the messages of other computers. Inside seats/ only.
#pragma once

#include <concepts>
#include <cstdint>
#include <vector>

#include "base/document/json.h"
#include "base/document/json_number.h"

namespace streamsim::seats {

/// Thrown where a message is malformed, as JSON's own exceptions are.
inline Json::other_error malformed(const char* why) {
    return Json::other_error::create(501, why, nullptr);
}

/// Throws Json::exception where the value is no whole number of this type.
template <std::integral T>
T whole_of(const Json& value) {
    if (const auto number = whole_in<T>(value)) return *number;
    throw malformed("a number is not whole, or out of range");
}

/// Nanoseconds of any clock: 73 years, so that the sum of three times is a time.
inline constexpr std::int64_t kMessageTimeMaxNs = std::int64_t{1} << 61;

/// Throws Json::exception where the value is no time.
inline std::int64_t time_of(const Json& value) {
    const auto ns = whole_of<std::int64_t>(value);
    if (ns > kMessageTimeMaxNs || ns < -kMessageTimeMaxNs) throw malformed("a time is out of range");
    return ns;
}

inline std::vector<std::int64_t> times_of(const Json& values) {
    std::vector<std::int64_t> out;
    for (const Json& value : values) out.push_back(time_of(value));
    return out;
}

}  // namespace streamsim::seats
