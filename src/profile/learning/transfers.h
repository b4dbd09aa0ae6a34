// Transfers within traffic: files that are moved whole between open and close, bursts of blocks that follow
// each other, and single blocks. Inside profile/ only.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profile/traffic/behaviour.h"
#include "profile/traffic/traffic.h"
#include "streamsim/workload.h"

namespace streamsim::profile {

/// One operation of a meter.
struct TrafficUnit {
    std::int64_t begin_ns = 0, end_ns = 0;
    double busy_ns = 0;  // time of its calls, which may overlap
    std::uint32_t user = 0, file = 0;
    TrafficKind kind = TrafficKind::read;
    bool random = false;
    std::uint64_t bytes = 0;
};

/// Sizes of the blocks and the lengths of the transfers of one direction.
using TransferSizes = WriteSizes;

struct FoundTransfers {
    bool whole_files = false;
    std::vector<TrafficUnit> units;  // by their beginnings
    TransferSizes reads, writes;
};

FoundTransfers find_transfers(const Traffic& traffic, std::span<const TrafficOperation> operations);

/// Files of one pattern that are a sequence.
inline constexpr std::size_t kSequenceFilesMin = 3;
/// "/a/shot.####.dpx" for "/a/shot.0012.dpx"; empty where there is no number in it.
std::string pattern_of(const std::string& name);

/// "f9" before "f10".
bool natural_less(const std::string& one, const std::string& other);

}  // namespace streamsim::profile
