// From traffic to a workload document: one meter for each program, or each client of a capture.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/behaviour.h"
#include "profile/traffic.h"
#include "streamsim/workload.h"

namespace streamsim::profile {

/// How far a player reads ahead of a play head that moves at the rate of its reading and began with its first
/// read.
struct ReadAhead {
    double bytes = 0, seconds = 0;
    double transfers = 0;  // where each is a file or a burst: frames, most likely
};

/// What was found of one meter besides its numbers.
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
