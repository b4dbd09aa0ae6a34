#include "run/plan/play_request.h"

namespace streamsim::run {

PlayRequest::PlayRequest() = default;
PlayRequest::PlayRequest(const PlayRequest&) = default;
PlayRequest::PlayRequest(PlayRequest&&) noexcept = default;
PlayRequest& PlayRequest::operator=(const PlayRequest&) = default;
PlayRequest& PlayRequest::operator=(PlayRequest&&) noexcept = default;
PlayRequest::~PlayRequest() = default;

}  // namespace streamsim::run
