// Numbers of a calibrated model that come from one probe each, without the optimiser. Pure.
#pragma once

#include <optional>
#include <vector>

#include "fit/slow_periods.h"
#include "streamsim/calibration.h"

namespace streamsim::run {

/// Operations a second of a closed load once its first reads have come back, from the series. A short series:
/// of the whole probe, and what was in flight at the end counts half. Open loads: as they are.
double steady_operations_per_s(const ProbeRow& row);
/// The same in bytes.
double steady_bytes_per_s(const ProbeRow& row);

/// The time of a read that is alone, in parts.
struct ResponseParts {
    double bytes_ns = 0;    // of a MiB
    double trip_ns = 0;     // of any operation
    double limit_ns = 0;    // of a MiB at the highest rate
    bool anywhere = false;  // a read at a random place takes as long as the next one of a file
};
/// REQUIRES: the probes latency-4k and ladder-1 were measured.
ResponseParts response_parts(const Measurement& measured);

/// The time of any operation, and six quantiles of what a read takes beyond that and its bytes: from the
/// ladder's first step, whose reads follow each other as a player's do, and where places do not matter from all
/// reads that are alone. If that step alone has nearly the highest rate, its reads wait for the limit, as on a
/// disk whose rate is held in slices of time: the quantiles are smaller by the share of the mean that the limit
/// explains.
std::vector<CalibratedNumber> response_values(const Measurement& measured, const ResponseParts& parts);

/// Processor time and lines of opens. Empty: opens were not measured.
std::vector<CalibratedNumber> open_values(const ProbeRow& one, const ProbeRow& many, double trip_ns);

/// The rate of one file, where it is clearly below that of many; else empty.
std::optional<CalibratedNumber> file_value(const Measurement& measured);

/// The journal, from writes of one and of several users; empty: not measured, a write failed, or none was
/// complete in time.
std::vector<CalibratedNumber> write_values(const Measurement& measured, double trip_ns);

/// A probe that fills what so many seats can have. One seat may not meet what others load.
bool fills_storage(const ProbeRow& row, std::uint32_t seats);

/// Other load, from the probes that fill the storage from all seats; nullopt: none was seen.
std::optional<fit::SlowPeriods> other_load_of(const Measurement& measured);

/// The rate of a row while no other load slows it, bytes a second. `seats`: of the measurement.
double undisturbed_bytes_per_s(const ProbeRow& row, const fit::SlowPeriods& other, std::uint32_t seats);

/// The standard deviation of the logarithm of each row's rate, by resampling blocks of a second. A row of less
/// than two seconds does not tell its own: it has the largest of the others, as of as short a time, or 5 %
/// where none tells.
std::vector<double> spreads_of_rates(const std::vector<const ProbeRow*>& rows, std::uint64_t seed);

/// How much the reference steps differ: largest rate over smallest; nullopt: fewer than two.
std::optional<double> drift_of(const Measurement& measured);

}  // namespace streamsim::run
