#include "run/plan/play_request.h"

#include <algorithm>

namespace streamsim::run {

PlayRequest::PlayRequest() = default;
PlayRequest::PlayRequest(const PlayRequest&) = default;
PlayRequest::PlayRequest(PlayRequest&&) noexcept = default;
PlayRequest& PlayRequest::operator=(const PlayRequest&) = default;
PlayRequest& PlayRequest::operator=(PlayRequest&&) noexcept = default;
PlayRequest::~PlayRequest() = default;

void set_total_streams(PlayRequest& request, std::uint32_t streams) {
    request.total_streams = streams;
    if (request.meters.empty() && request.record.streams == 0) request.seats = std::min(request.seats, streams);
}

}  // namespace streamsim::run
