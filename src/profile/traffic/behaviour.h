// The behaviour of a load in numbers, computed in one way for a trace and for a playback.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "profile/traffic/traffic.h"

namespace streamsim::profile {

using SizeCounts = std::map<std::uint64_t, std::uint64_t>;  // bytes -> how often

/// Facts about reads, or about writes. A block is one request.
struct BlockFacts {
    std::uint64_t blocks = 0, bytes = 0;
    SizeCounts sizes;
    std::uint64_t sequential = 0;  // that begin where one of the last ones of this user in this file ended, or
                                   // at the beginning of a file
    SizeCounts runs;               // lengths of sequential runs, in bytes

    double sequential_share() const {
        return blocks == 0 ? 0 : static_cast<double>(sequential) / static_cast<double>(blocks);
    }
};

struct Behaviour {
    std::array<std::uint64_t, kTrafficKinds> operations{};
    std::uint64_t failed = 0;
    BlockFacts reads, writes;
    std::int64_t span_ns = 0;  // from the first beginning to the last end
    double in_flight_mean = 0, in_flight_max = 0;
    double busy_share = 0;  // share of the time with anything in flight

    std::uint64_t all() const;
    std::uint64_t of(TrafficKind kind) const { return operations[static_cast<std::size_t>(kind)]; }
    double per_s(double count) const { return span_ns > 0 ? count * 1e9 / static_cast<double>(span_ns) : 0; }
};

/// Beginnings (1) and ends (-1) of whatever may overlap, with their times in nanoseconds.
using Steps = std::vector<std::pair<std::int64_t, int>>;
struct Overlap {
    double most = 0;     // under way at one time
    double busy_ns = 0;  // with anything under way
    double area_ns = 0;  // integral of the number under way
};
Overlap overlap_of(Steps steps);

/// `operations` by their beginnings.
Behaviour behaviour_of(std::span<const TrafficOperation> operations);

/// For each read and write whether it is sequential, as BlockFacts says; others are false.
std::vector<bool> sequential_blocks(std::span<const TrafficOperation> operations);

/// At most `kept` sizes: those beyond are put together within powers of two, each group at its mean.
SizeCounts few_sizes(const SizeCounts& sizes, std::size_t kept);

}  // namespace streamsim::profile
