#include "view/http/web_server.h"

#include <fmt/format.h>
#include <uv.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "base/prng.h"

namespace streamsim::view {
namespace {

constexpr std::int64_t kPageTimeoutNs = 60'000'000'000;  // a page of 1,000 streams over a slow link
constexpr std::chrono::seconds kEndTimeout{2};
/// How soon a browser connects again that was cut off.
constexpr std::string_view kBegin = "retry: 2000\n\n";

/// Nothing but the page's own style and script, and its events; no other page may show it.
constexpr const char* kPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src "
    "data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The time does not depend on where the texts differ.
bool same_secret(std::string_view left, std::string_view right) {
    if (left.size() != right.size()) return false;
    unsigned difference = 0;
    for (std::size_t i = 0; i < left.size(); ++i) difference |= static_cast<unsigned>(left[i] ^ right[i]);
    return difference == 0;
}

HttpAnswer refused(const char* why) {
    return {.status = 403, .body = fmt::format("{}\n", why)};
}

}  // namespace

/// The events of one client. The texts are shared by all clients.
class WebServer::Events final : public HttpStream {
public:
    explicit Events(WebServer& server) : server_(server), text_(std::make_shared<std::string>(kBegin)) {
        const MutexLock lock(server_.mutex_);
        ++server_.clients_;
    }
    ~Events() override {
        {
            const MutexLock lock(server_.mutex_);
            --server_.clients_;
        }
        server_.client_left_.notify_all();
    }
    Events(const Events&) = delete;
    Events& operator=(const Events&) = delete;

    std::optional<std::size_t> read(char* to, std::size_t size) override {
        if (at_ == text_->size()) {
            const MutexLock lock(server_.mutex_);
            if (server_.events_ == seen_) return server_.is_end_ ? std::nullopt : std::optional<std::size_t>(0);
            const bool first = std::exchange(seen_, server_.events_) == 0;
            const bool has_page = first && server_.page_event_ != nullptr;
            text_ = has_page ? server_.page_event_ : server_.event_;
            at_ = 0;
        }
        const std::size_t bytes = std::min(size, text_->size() - at_);
        std::memcpy(to, text_->data() + at_, bytes);
        at_ += bytes;
        return bytes;
    }

private:
    WebServer& server_;
    Text text_;  // being sent
    std::size_t at_ = 0;
    std::uint64_t seen_ = 0;  // number of the event being sent
};

Result<std::unique_ptr<WebServer>> WebServer::listen(const HttpAddress& address, std::string page) {
    std::unique_ptr<WebServer> out(new WebServer);
    {
        const MutexLock lock(out->mutex_);
        out->page_ = std::make_shared<std::string>(std::move(page));
    }
    if (!address.is_loopback()) out->key_ = fmt::format("{:016x}{:016x}", entropy64(), entropy64());
    HttpLimits limits;
    limits.connections_max = kConnectionsMax;
    limits.answer_timeout_ns = kPageTimeoutNs;
    auto server = HttpServer::listen(
        "--web", address, limits, [&self = *out](const HttpRequest& request) { return self.answer(request); });
    if (!server) return server.error();
    out->server_ = std::move(*server);
    const std::string host = address.is_any() ? name_of_this_computer() : address.in_url();
    out->url_ = fmt::format("http://{}:{}/{}{}", host, out->server_->port(),
                            out->key_.empty() ? "" : "?key=", out->key_);
    return out;
}

WebServer::~WebServer() = default;

/// A page of another site cannot name this host, nor know the key: a browser that it was told a wrong address
/// by (DNS rebinding) gets nothing.
bool WebServer::allows(const HttpRequest& request) const {
    if (!key_.empty()) return same_secret(request.key, key_);
    const std::string host = request.host.substr(0, request.host.find(':', request.host.rfind(']') + 1));
    const bool loopback =
        host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string::npos;
    return host == "localhost" || host == "[::1]" || loopback;
}

HttpAnswer WebServer::answer(const HttpRequest& request) {
    HttpAnswer out;
    if (!allows(request)) {
        out = refused(key_.empty() ? "expected a Host header of this computer"
                                   : "expected the whole URL that streamsim has printed, with its key");
    } else if (request.path == "/") {
        out.type = "text/html; charset=utf-8";
        const MutexLock lock(mutex_);
        out.body = *page_;
        page_asked_ = true;
    } else if (request.path == "/events") {
        out.type = "text/event-stream";
        out.stream = std::make_unique<Events>(*this);
    } else {
        out = {.status = 404, .body = "there are / and /events\n"};
    }
    out.headers = {{"Content-Security-Policy", kPolicy},
                   {"Cache-Control", "no-store"},
                   {"Referrer-Policy", "no-referrer"},
                   {"X-Content-Type-Options", "nosniff"}};
    return out;
}

std::size_t WebServer::clients() const {
    const MutexLock lock(mutex_);
    return clients_;
}

bool WebServer::wanted() const {
    const MutexLock lock(mutex_);
    return clients_ > 0 || page_asked_;
}

void WebServer::publish_page(std::string page, std::string event) {
    publish("page", std::move(page), event, false);
}

void WebServer::publish_state(std::string event) {
    publish("state", "", event, false);
}

void WebServer::publish_end(std::string page, std::string event) {
    publish("end", std::move(page), event, true);
}

void WebServer::publish(const char* kind, std::string page, const std::string& event, bool is_end) {
    auto text = std::make_shared<const std::string>(fmt::format("event: {}\ndata: {}\n\n", kind, event));
    {
        const MutexLock lock(mutex_);
        if (!page.empty()) {
            page_ = std::make_shared<const std::string>(std::move(page));
            page_event_ = text;
            page_asked_ = false;
        }
        event_ = std::move(text);
        ++events_;
        is_end_ = is_end;
    }
    server_->resume();
}

void WebServer::wait_for_clients() {
    const auto now = [] { return std::chrono::nanoseconds(uv_hrtime()); };
    const auto end = now() + kEndTimeout;  // of all clients together
    MutexLock lock(mutex_);
    while (clients_ > 0 && lock.wait_for(client_left_, end - now())) {
    }
}

}  // namespace streamsim::view
