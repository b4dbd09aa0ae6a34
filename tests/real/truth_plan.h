// Planned delays for the truth tests, and the comparison of what was seen with what the predictor says.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "real/slow_mount.h"
#include "sim/predictor.h"

namespace streamsim::tests {

/// Delays of one stream, by slot. Every slot is a frame of its own: nothing loops.
struct StreamPlan {
    std::string clip;  // "job/clip"
    std::uint64_t slots = 0;
    std::map<std::uint64_t, std::int64_t> delay_ns;

    std::string rules() const;
};

/// One streamsim process: its options, and its streams.
struct Job {
    std::string name;
    predictor::Policy policy = predictor::Policy::drop;
    std::uint64_t readahead = 1;
    std::uint64_t inflight = 1;
    bool direct = false;
    std::vector<StreamPlan> streams;

    std::vector<std::string> options() const;
};

const char* to_option(predictor::Policy policy);

/// The outcome of the stream at 24 fps when an undelayed read takes `service_ns`.
predictor::Prediction predict(const Job& job, const StreamPlan& plan, std::int64_t service_ns);

/// Delays of every length, from well inside the buffer to several times its depth, alone and in pairs, chosen
/// so that no decision is nearer than `clearance_ns`, whether an undelayed read takes 0.2 or 1.5 ms.
StreamPlan make_plan(const Job& job,
                     const std::string& clip,
                     std::uint64_t slots,
                     std::int64_t clearance_ns,
                     std::mt19937_64& random);

struct Comparison {
    std::uint64_t judged = 0;            // slots
    std::uint64_t missed_predicted = 0;  // slots predicted not on time, or stalls
    std::uint64_t missed_agreed = 0;     // ... and seen so
    std::int64_t noise_ns = 0;
    std::vector<std::string> inside_noise;  // disagreements nearer to the edge than the noise
    std::vector<std::string> wrong;         // all others

    void add(const Comparison& other);
};

/// Compares one stream of a result with its prediction, slot by slot. The noise is what was measured: the
/// lateness of the player's loop, and the excess of slowfs' delays over the rules.
Comparison compare(const Job& job,
                   std::size_t stream,
                   const Json& result,
                   const std::vector<SlowOperation>& log);

}  // namespace streamsim::tests
