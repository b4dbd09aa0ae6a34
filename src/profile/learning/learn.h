// From traffic to a workload document: one meter for each program, or each client of a capture.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/traffic/behaviour.h"
#include "profile/traffic/traffic.h"
#include "streamsim/workload.h"

namespace streamsim::profile {

/// The read-ahead of a player, whose play head moves at the mean rate of the reads and started with the first
/// read.
struct ReadAhead {
    double bytes = 0, seconds = 0;
    double transfers = 0;  // in transfers, where each is a file or a burst, most likely a frame
};

/// One learnt meter, with the facts that led to it.
struct LearntMeter {
    MeterSpec spec;
    std::vector<TrafficOperation> operations;
    Behaviour behaviour;
    std::uint64_t transfers = 0;  // runs of blocks, or files from open to close
    double distances_cv = 0;      // coefficient of variation of the distances of their beginnings
    std::string arrival;          // why it is an open or a closed loop, as a sentence
    std::string sequence;         // "24 files shot.####.dpx, each read whole in 1 read"; empty: none
    std::optional<ReadAhead> read_ahead;
    std::vector<std::string> notes;
};

struct Profile {
    Workload workload;  // its meters are those below
    std::vector<LearntMeter> meters;
};

/// `traffic`: after select(). `name`: of the document. Errors: bad input where no operation is left.
Result<Profile> learn(const Traffic& traffic, const std::string& name);

}  // namespace streamsim::profile
