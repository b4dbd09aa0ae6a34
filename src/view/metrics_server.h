// Metrics over HTTP while it plays (--metrics): GET /metrics. Nothing is done when nobody asks, and a request
// never reaches the players: it waits in the server's own thread until the one that watches publishes what it
// sees.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace streamsim::view {

/// Where to listen. `host` is numeric.
struct MetricsAddress {
    std::string host = "127.0.0.1";
    bool v6 = false;
    std::uint16_t port = 0;  // 0: any that is free
};

/// Reads "127.0.0.1:9464", "[::1]:9464", "localhost:9464", ":9464" and "9464"; the last three mean 127.0.0.1.
/// Errors: bad input.
Result<MetricsAddress> parse_metrics_address(std::string_view text);

class MetricsServer {
public:
    /// Listens from now on. Errors: environment, where the address is taken or is not this computer's.
    static Result<std::unique_ptr<MetricsServer>> listen(const MetricsAddress& address);
    ~MetricsServer();
    MetricsServer(const MetricsServer&) = delete;
    MetricsServer& operator=(const MetricsServer&) = delete;

    /// "http://127.0.0.1:9464/metrics"
    const std::string& url() const;
    /// A request waits for figures.
    bool wanted() const;
    /// The answer to all requests that wait, and to those that come when nothing newer is published in time.
    void publish(std::string text);

private:
    struct Impl;
    explicit MetricsServer(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace streamsim::view
