#include "view/http/metrics_server.h"

#include <fmt/format.h>
#include <uv.h>

#include <chrono>
#include <utility>

#include "view/http/open_metrics.h"

namespace streamsim::view {
namespace {

constexpr std::chrono::milliseconds kPublishTimeout{500};  // counters are published ten times a second
/// For so long after a request was answered, others get the same text: each would wait on the only thread.
constexpr std::uint64_t kFreshNs = 200'000'000;

}  // namespace

Result<std::unique_ptr<MetricsServer>> MetricsServer::listen(const HttpAddress& address) {
    std::unique_ptr<MetricsServer> out(new MetricsServer);
    auto server = HttpServer::listen(
        "--metrics", address, {}, [&self = *out](const HttpRequest& request) { return self.answer(request); });
    if (!server) return server.error();
    out->server_ = std::move(*server);
    out->url_ = fmt::format("http://{}:{}/metrics", address.in_url(), out->server_->port());
    return out;
}

MetricsServer::~MetricsServer() {
    {
        const MutexLock lock(mutex_);
        ending_ = true;
    }
    published_.notify_all();
}

void MetricsServer::publish(std::string text) {
    {
        const MutexLock lock(mutex_);
        text_ = std::move(text);
        ++count_;
        wanted_ = false;
    }
    published_.notify_all();
}

HttpAnswer MetricsServer::answer(const HttpRequest& request) {
    if (request.path != "/metrics") return {.status = 404, .body = "there is /metrics\n"};
    return {.type = std::string(kOpenMetricsType), .body = counters()};
}

/// Waits for counters, where the last are no longer fresh. Called on the server's thread.
std::string MetricsServer::counters() {
    MutexLock lock(mutex_);
    if (uv_hrtime() < fresh_until_ns_) return text_;
    const std::uint64_t before = count_;
    wanted_ = true;
    while (!ending_ && count_ == before && lock.wait_for(published_, kPublishTimeout)) {
    }
    fresh_until_ns_ = uv_hrtime() + kFreshNs;  // also where nobody publishes
    return text_;
}

}  // namespace streamsim::view
