// For systems without libmicrohttpd.
#include <utility>

#include "view/http/http_server.h"

namespace streamsim::view {
namespace {

constexpr const char* kWithout = "this streamsim was built without libmicrohttpd";

}  // namespace

struct HttpServer::Impl {};

bool http_is_built_in() {
    return false;
}

Result<HttpAddress> parse_http_address(std::string_view /*text*/) {
    return bad_input(kWithout);
}

std::string name_of_this_computer() {
    return "localhost";
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::listen(std::string_view option,
                                                       const HttpAddress& /*address*/,
                                                       const HttpLimits& /*limits*/,
                                                       Handler /*handler*/) {
    return environment_error(std::string(option) + ": " + kWithout);
}

std::uint16_t HttpServer::port() const {
    return 0;
}

void HttpServer::resume() {}

}  // namespace streamsim::view
