#include "cli/play/metrics_feed.h"

#include <algorithm>
#include <utility>

#include "view/live_view.h"
#include "view/open_metrics.h"

namespace streamsim::cli {
namespace {

view::MetricsState state_of(const run::Session::Watch& watch, std::int64_t now_ns) {
    view::MetricsState state;
    if (watch.streams == nullptr) return state;
    state.faults_injected = watch.faults_injected;
    std::int64_t played_ns = 0;  // in the streams' own time
    for (std::size_t i = 0; i < watch.streams->size(); ++i) {
        const run::StreamPlan& plan = (*watch.streams)[i];
        view::StreamView now;
        now.read((*watch.progress)[i]);
        if (plan.options.paced)
            played_ns = std::max(played_ns, (plan.start_offset + plan.rate().due(now.due)).ns);
        state.streams.push_back({plan.options.seat, plan.options.stream, plan.format, now.on_time, now.bad,
                                 now.stalls, now.bytes, now.buffered, now.margin_min_ns,
                                 plan.required_bytes_per_s()});
    }
    if (watch.started_ns > 0) state.played_ns = watch.virtual_time ? played_ns : now_ns - watch.started_ns;
    return state;
}

}  // namespace

Result<std::unique_ptr<view::MetricsServer>> open_metrics_feed(const std::string& address,
                                                               const std::string& version) {
    const auto parsed = view::parse_metrics_address(address);
    if (!parsed) return parsed.error();
    auto server = view::MetricsServer::listen(*parsed);
    if (server) (*server)->publish(view::open_metrics({version, "", 0, {}, false}));
    return server;
}

void feed_metrics(view::MetricsServer& server,
                  const run::Session::Watch& watch,
                  const std::string& about,
                  const std::string& version,
                  std::int64_t now_ns) {
    if (!server.wanted()) return;
    view::MetricsState state = state_of(watch, now_ns);
    state.version = version;
    state.target = about;
    server.publish(view::open_metrics(state));
}

}  // namespace streamsim::cli
