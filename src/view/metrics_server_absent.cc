// Where libmicrohttpd is not.
#include <utility>

#include "view/metrics_server.h"

namespace streamsim::view {
namespace {

constexpr const char* kWithout = "--metrics: this streamsim was built without libmicrohttpd";

}  // namespace

struct MetricsServer::Impl {
    std::string url;
};

Result<MetricsAddress> parse_metrics_address(std::string_view /*text*/) {
    return bad_input(kWithout);
}

MetricsServer::MetricsServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MetricsServer::~MetricsServer() = default;

Result<std::unique_ptr<MetricsServer>> MetricsServer::listen(const MetricsAddress& /*address*/) {
    return environment_error(kWithout);
}

const std::string& MetricsServer::url() const {
    return impl_->url;
}

bool MetricsServer::wanted() const {
    return false;
}

void MetricsServer::publish(std::string /*text*/) {}

}  // namespace streamsim::view
