// Captures as tshark prints them: read, selected, learnt, and written as a workload.
#include <string>

#include "fuzz/profile_checks.h"
#include "profile/capture/capture.h"

STREAMSIM_FUZZ(pdml) {
    using namespace streamsim;
    const std::string source = "capture.pcap";
    profile::CaptureReader reader;
    for (fuzz::Taker taker(input); !taker.empty();) reader.line(taker.line());
    const auto traffic = reader.finish(source);
    if (!traffic) return fuzz::require_refusal(traffic.error(), source);
    fuzz::check_traffic(*traffic);
}
