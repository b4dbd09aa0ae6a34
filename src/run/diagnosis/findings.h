// What is measured when play has failed: the same clips once more, without deadlines, in several ways.
#pragma once

#include <optional>
#include <vector>

#include "judge/evidence.h"

namespace streamsim::run {

/// Rates with all streams reading as fast as it goes, and single frames read alone.
struct Findings {
    std::optional<ProbeResult> as_played, usual, larger_reads, more_in_flight;
    std::vector<judge::Reread> rereads;  // clip: of Evidence
    bool stuck = false;                  // the storage has not given back everything

    std::vector<ProbeResult> probes() const {
        std::vector<ProbeResult> all;
        for (const auto* each : {&as_played, &usual, &larger_reads, &more_in_flight}) {
            if (*each) all.push_back(**each);
        }
        return all;
    }
};

}  // namespace streamsim::run
