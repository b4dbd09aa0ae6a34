// Fits a model to a measurement: a queueing estimate first, then the simulator itself as the forward model.
//
// Free for the optimiser: the rate of the limit that one seat meets, the time of a byte that reads in flight do
// not share, and where seats were told apart the rate of the server; where reads wait for others of the same
// place, the number of lines and the rate of one instead of that time. Everything else comes from one probe
// each: the distribution of the response, the time of an open, the rate of one file, of writes, and other load.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "run/session/session.h"
#include "streamsim/calibration.h"

namespace streamsim::run {

struct FitOptions {
    std::string name;  // of the model
    ProgramFacts program;
    std::function<void(const std::string& text)> progress = [](const std::string&) {};
    int evaluations = 60;  // of the optimiser
};

/// Needs no storage: a fit can be repeated from the raw rows. Errors: bad input where the rows of the ladder or
/// of the latency are missing, or all their operations failed.
Result<Calibration> fit_model(const Measurement& measured, const FitOptions& options);

}  // namespace streamsim::run
