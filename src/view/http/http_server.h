// An HTTP server for pages of a running play, on one thread of its own: one request for each connection, limits
// on connections and times, answers that end or that go on as a stream. Needs libmicrohttpd.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace streamsim::view {

/// The address to listen on. `host` is numeric.
struct HttpAddress {
    std::string host = "127.0.0.1";
    bool v6 = false;
    std::uint16_t port = 0;  // 0: any free port

    /// Only this computer can connect.
    bool is_loopback() const { return v6 ? host == "::1" : host.starts_with("127."); }
    /// The address means every address of this computer.
    bool is_any() const { return host == "0.0.0.0" || host == "::"; }
    /// As a URL has it: an IPv6 address in brackets.
    std::string in_url() const { return v6 ? "[" + host + "]" : host; }
};

/// False: listen() fails, since there is no libmicrohttpd.
bool http_is_built_in();

/// Reads "127.0.0.1:9464", "[::1]:9464", "localhost:9464", ":9464" and "9464"; the last three mean 127.0.0.1.
/// Errors: bad input; there is no libmicrohttpd.
Result<HttpAddress> parse_http_address(std::string_view text);

/// By which others can reach it; "localhost" where it has no name.
std::string name_of_this_computer();

struct HttpLimits {
    /// Beyond them, one ends that has not asked yet: the oldest, at last the new one.
    std::size_t connections_max = 32;
    std::int64_t request_timeout_ns = 2'000'000'000;  // from the connection to the last byte of the request
    std::int64_t answer_timeout_ns = 10'000'000'000;  // from the connection to the last byte of the answer
};

struct HttpRequest {
    std::string path;
    std::string host;  // the header, with its port; empty: there is none
    std::string key;   // the argument "key" of the query; empty: there is none
};

/// The body of an answer that goes on. Called on the server's thread.
class HttpStream {
public:
    virtual ~HttpStream() = default;
    /// Fills `to` with at most `size` bytes. 0: nothing more until HttpServer::resume(). nullopt: the end.
    virtual std::optional<std::size_t> read(char* to, std::size_t size) = 0;
};

struct HttpAnswer {
    unsigned status = 200;
    std::string type = "text/plain; charset=utf-8";
    std::string body;
    std::unique_ptr<HttpStream> stream = nullptr;  // instead of the body; it has no time limit
    std::vector<std::pair<std::string, std::string>> headers = {};
};

class HttpServer {
public:
    /// Called on the server's thread for GET and HEAD; other methods are refused.
    using Handler = std::function<HttpAnswer(const HttpRequest& request)>;

    /// Listens from now on. `option` is how errors name it. Errors: environment: the address is in use or is
    /// not this computer's.
    static Result<std::unique_ptr<HttpServer>> listen(std::string_view option,
                                                      const HttpAddress& address,
                                                      const HttpLimits& limits,
                                                      Handler handler);
    /// Ends all connections.
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    std::uint16_t port() const;
    /// Reads all streams again that had nothing more. Any thread, without a lock that a stream takes.
    void resume();

private:
    struct Impl;
    explicit HttpServer(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace streamsim::view
