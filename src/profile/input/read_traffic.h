// A trace or a capture in the files of this computer.
#pragma once

#include <string>

#include "base/result.h"
#include "profile/strace/strace_log.h"
#include "profile/traffic/traffic.h"

namespace streamsim::profile {

/// An strace log, the beginning of the names of those that strace -ff wrote, or a capture (pcap, pcapng) for
/// which tshark is started. `total`: gets the bytes that there are to be read. Errors: bad input with the file,
/// its line and what was expected; environment where a capture cannot be read here; interrupted.
Result<Traffic> read_traffic(const std::string& path, std::uint64_t& total, const ReadingProgress& progress);

}  // namespace streamsim::profile
