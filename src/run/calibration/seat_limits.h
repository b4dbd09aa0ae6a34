// Tells the limit of a seat from that of the server, as far as the probes can.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "streamsim/calibration.h"

namespace streamsim::run {

struct SeatLimits {
    bool told_apart = false;
    /// The rates of the server and of the seat's link, bytes a second of payload. A value of 0: the fit begins
    /// at its own estimate. `low` without `high`: at least so much, as the part was never full.
    std::vector<CalibratedNumber> fixed, free;
    std::vector<std::string> notes;
};

/// One seat alone shows one limit, which is the seat's or the server's; only where the rate of its network port
/// is known, and full, it is the seat's. Several seats with the same reads in flight in all show it: the
/// server's where they get no more than one does. `rate_of`: of a row, bytes a second.
SeatLimits seat_limits(const Measurement& measured, const std::function<double(const ProbeRow&)>& rate_of);

/// The share of payload in an Ethernet frame of this MTU over TCP and IPv4; 1 where there is no network.
double payload_share(std::uint32_t mtu);

}  // namespace streamsim::run
