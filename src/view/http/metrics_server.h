// Metrics over HTTP during play (--metrics): GET /metrics. Costs nothing without requests, and a request never
// reaches the players: it waits in the server's own thread until the monitoring thread publishes the counters.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/system/mutex.h"
#include "view/http/http_server.h"

namespace streamsim::view {

class MetricsServer {
public:
    /// Listens from now on. Errors: environment: the address is in use or is not this computer's.
    static Result<std::unique_ptr<MetricsServer>> listen(const HttpAddress& address);
    ~MetricsServer();
    MetricsServer(const MetricsServer&) = delete;
    MetricsServer& operator=(const MetricsServer&) = delete;

    /// "http://127.0.0.1:9464/metrics"
    const std::string& url() const { return url_; }
    /// A request is waiting.
    bool wanted() const { return wanted_; }
    /// Answers the requests that wait, and those of the next 200 ms. While nobody publishes, requests get the
    /// last text: the first of them after half a second, the others with it.
    void publish(std::string text);

private:
    MetricsServer() = default;
    HttpAnswer answer(const HttpRequest& request);
    std::string counters();

    std::string url_;
    std::atomic<bool> wanted_{false};
    Mutex mutex_;
    std::condition_variable published_;
    std::string text_ GUARDED_BY(mutex_);
    std::uint64_t count_ GUARDED_BY(mutex_) = 0;  // of published texts
    std::uint64_t fresh_until_ns_ GUARDED_BY(mutex_) = 0;
    bool ending_ GUARDED_BY(mutex_) = false;
    std::unique_ptr<HttpServer> server_;  // last: its thread uses the others
};

}  // namespace streamsim::view
