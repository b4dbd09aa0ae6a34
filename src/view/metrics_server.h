// Metrics over HTTP during play (--metrics): GET /metrics. Costs nothing without requests, and a request never
// reaches the players: it waits in the server's own thread until the monitoring thread publishes the counters.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace streamsim::view {

/// The address to listen on. `host` is numeric.
struct MetricsAddress {
    std::string host = "127.0.0.1";
    bool v6 = false;
    std::uint16_t port = 0;  // 0: any free port
};

/// Reads "127.0.0.1:9464", "[::1]:9464", "localhost:9464", ":9464" and "9464"; the last three mean 127.0.0.1.
/// Errors: bad input.
Result<MetricsAddress> parse_metrics_address(std::string_view text);

class MetricsServer {
public:
    /// Listens from now on. Errors: environment: the address is in use or is not this computer's.
    static Result<std::unique_ptr<MetricsServer>> listen(const MetricsAddress& address);
    ~MetricsServer();
    MetricsServer(const MetricsServer&) = delete;
    MetricsServer& operator=(const MetricsServer&) = delete;

    /// "http://127.0.0.1:9464/metrics"
    const std::string& url() const;
    /// A request is waiting.
    bool wanted() const;
    /// Answers all waiting requests, and later ones until a newer text is published.
    void publish(std::string text);

private:
    struct Impl;
    explicit MetricsServer(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace streamsim::view
