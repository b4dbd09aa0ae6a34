// Compares a learnt load with the traffic that it was learnt from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/traffic/behaviour.h"

namespace streamsim::profile {

/// One line of the comparison.
struct FitLine {
    std::string name, unit;
    double traffic = 0, played = 0;
    double distance = 0;       // in the unit of `measure`
    double limit = 0;          // above which it does not fit
    const char* measure = "";  // "total variation", "Kolmogorov-Smirnov", "difference", "ratio - 1"
    bool fits() const { return distance <= limit; }
};

struct Fit {
    std::vector<FitLine> lines;
    std::uint64_t traffic_operations = 0, played_operations = 0;  // the samples
    bool fits() const;
};

/// Both counted in the same way.
Fit compare(const Behaviour& traffic, const Behaviour& played);

}  // namespace streamsim::profile
