// What --metrics says while a session plays.
#pragma once

#include <memory>
#include <string>

#include "run/session/session.h"
#include "view/metrics_server.h"

namespace streamsim::cli {

/// Listens, and answers that nothing is played yet. Errors: as parse_metrics_address and MetricsServer::listen.
Result<std::unique_ptr<view::MetricsServer>> open_metrics_feed(const std::string& address,
                                                               const std::string& version);

/// Publishes how the streams stand, where someone waits for it. `about` is what is played; `now_ns` is
/// CLOCK_MONOTONIC.
void feed_metrics(view::MetricsServer& server,
                  const run::Session::Watch& watch,
                  const std::string& about,
                  const std::string& version,
                  std::int64_t now_ns);

}  // namespace streamsim::cli
