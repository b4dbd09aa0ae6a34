#include "run/plan/workload_request.h"

namespace streamsim::run {

std::vector<MeterPart> meters_of(const Workload& workload, std::uint32_t first, std::uint32_t seats) {
    std::vector<MeterPart> parts;
    for (const MeterSpec& spec : workload.meters) parts.push_back({spec, first, seats});
    for (MeterPart& part : parts) part.spec.name = workload.name + "-" + part.spec.name;
    return parts;
}

PlayRequest load_request(const Workload& step, const PlayRequest& base) {
    PlayRequest request = base;
    request.formats.clear();
    request.streams = 0;
    request.seats = step.clients;
    request.meters = meters_of(step, 0, step.clients);
    request.duration = step.duration;
    return request;
}

}  // namespace streamsim::run
