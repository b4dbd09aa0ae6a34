#include "view/metrics_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <iterator>
#include <list>
#include <thread>
#include <utility>

#include "base/system/mutex.h"
#include "view/open_metrics.h"

namespace streamsim::view {
namespace {

constexpr std::int64_t kPublishTimeoutNs = 500'000'000;  // counters are published ten times a second
constexpr unsigned kIdleSeconds = 10;
/// The server itself accepts some more connections, so that the oldest can be closed for a new one.
constexpr std::size_t kConnectionsMax = 32;
constexpr unsigned kConnectionsAccepted = kConnectionsMax + 16;
constexpr int kBacklog = 1024;
/// From the connection to the last byte of the request, and to the last byte of the answer: a client that sends
/// slowly gets no more time than a silent one.
constexpr std::int64_t kRequestTimeoutNs = 2'000'000'000;
constexpr std::int64_t kConnectionTimeoutNs = 10'000'000'000;

Error not_an_address(std::string_view text) {
    return bad_input(fmt::format("'{}': expected ADDR:PORT such as 127.0.0.1:9464, [::1]:9464 or 9464", text));
}

/// The bound socket, or -1 with errno.
int listening_socket(const MetricsAddress& address) {
    const int fd = socket(address.v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    const int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in v4{};
    sockaddr_in6 v6{};
    v4.sin_family = AF_INET;
    v6.sin6_family = AF_INET6;
    v4.sin_port = v6.sin6_port = htons(address.port);
    inet_pton(AF_INET, address.host.c_str(), &v4.sin_addr);
    inet_pton(AF_INET6, address.host.c_str(), &v6.sin6_addr);
    const auto* at =
        address.v6 ? reinterpret_cast<const sockaddr*>(&v6) : reinterpret_cast<const sockaddr*>(&v4);
    const socklen_t size = address.v6 ? sizeof v6 : sizeof v4;
    if (bind(fd, at, size) == 0 && listen(fd, kBacklog) == 0) return fd;
    const int error = errno;
    close(fd);
    errno = error;
    return -1;
}

std::uint16_t port_of(int fd) {
    sockaddr_in6 address{};  // the port has the same offset in both families
    socklen_t size = sizeof address;
    if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
    return ntohs(address.sin6_port);
}

std::string host_in_url(const MetricsAddress& address) {
    return address.v6 ? "[" + address.host + "]" : address.host;
}

std::int64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

/// Ends connections that take too long, and the oldest of too many. The guard only shuts the socket down; the
/// server then closes it.
class ConnectionGuard {
public:
    struct Connection {
        int fd = -1;
        std::int64_t begun_ns = 0;
        std::int64_t until_ns = 0;
        bool asked = false;  // its request is complete
        bool ended = false;  // shut down and not closed yet
    };
    using Handle = std::list<Connection>::iterator;

    ConnectionGuard() : thread_([this] { run(); }) {}
    ~ConnectionGuard() {
        {
            const MutexLock lock(mutex_);
            ending_ = true;
        }
        changed_.notify_all();
        thread_.join();
    }
    ConnectionGuard(const ConnectionGuard&) = delete;
    ConnectionGuard& operator=(const ConnectionGuard&) = delete;

    Handle begun(int fd) {
        const MutexLock lock(mutex_);
        const std::int64_t now = now_ns();
        open_.push_back({fd, now, now + kRequestTimeoutNs});
        ++live_;
        // Connections without a request are ended first, then the oldest.
        for (const bool asked : {false, true}) {
            for (Connection& each : open_) {
                if (live_ <= kConnectionsMax) break;
                if (each.asked == asked) end(each);
            }
        }
        changed_.notify_all();
        return std::prev(open_.end());
    }
    void asked(Handle connection) {
        const MutexLock lock(mutex_);
        connection->asked = true;
        connection->until_ns = connection->begun_ns + kConnectionTimeoutNs;
    }
    void closed(Handle connection) {
        const MutexLock lock(mutex_);
        if (!connection->ended) --live_;
        open_.erase(connection);
    }

private:
    void end(Connection& connection) REQUIRES(mutex_) {
        if (std::exchange(connection.ended, true)) return;
        shutdown(connection.fd, SHUT_RDWR);
        --live_;
    }
    void run() {
        MutexLock lock(mutex_);
        while (!ending_) {
            std::int64_t next_ns = INT64_MAX;
            for (Connection& each : open_) {
                if (each.until_ns <= now_ns()) end(each);
                if (!each.ended) next_ns = std::min(next_ns, each.until_ns);
            }
            if (next_ns == INT64_MAX) {
                lock.wait(changed_);
            } else {
                lock.wait_for(changed_,
                              std::chrono::nanoseconds(std::max<std::int64_t>(next_ns - now_ns(), 0)));
            }
        }
    }

    Mutex mutex_;
    std::condition_variable changed_;
    std::list<Connection> open_ GUARDED_BY(mutex_);  // the oldest first
    std::size_t live_ GUARDED_BY(mutex_) = 0;        // connections of open_ that have not ended
    bool ending_ GUARDED_BY(mutex_) = false;
    std::thread thread_;
};

}  // namespace

struct MetricsServer::Impl {
    ~Impl() {
        {
            const MutexLock lock(mutex);
            ending = true;
        }
        published.notify_all();
        if (daemon != nullptr) MHD_stop_daemon(daemon);
    }

    /// Waits for counters. Called on the server's thread.
    std::string counters() {
        MutexLock lock(mutex);
        const std::int64_t until_ns = now_ns() + kPublishTimeoutNs;
        const std::uint64_t before = count;
        wanted = true;
        while (!ending && count == before &&
               lock.wait_for(published, std::chrono::nanoseconds(until_ns - now_ns()))) {
        }
        return text;
    }
    static MHD_Result answer(void* self,
                             MHD_Connection* connection,
                             const char* url,
                             const char* method,
                             const char* /*version*/,
                             const char* /*upload*/,
                             std::size_t* upload_size,
                             void** request) {
        // libmicrohttpd calls this once with the headers, then for the body, then for the answer.
        static char begun;
        if (*request == nullptr) {
            *request = &begun;
            return MHD_YES;
        }
        if (*upload_size != 0) {
            *upload_size = 0;
            return MHD_YES;
        }
        if (const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)) {
            auto* const handle = static_cast<ConnectionGuard::Handle*>(info->socket_context);
            if (handle != nullptr) static_cast<Impl*>(self)->guard.asked(*handle);
        }
        unsigned status = MHD_HTTP_OK;
        std::string type = "text/plain; charset=utf-8";
        std::string body;
        if (std::strcmp(method, "GET") != 0 && std::strcmp(method, "HEAD") != 0) {
            status = MHD_HTTP_METHOD_NOT_ALLOWED;
            body = "expected GET\n";
        } else if (std::strcmp(url, "/metrics") != 0) {
            status = MHD_HTTP_NOT_FOUND;
            body = "there is /metrics\n";
        } else {
            type = kOpenMetricsType;
            body = static_cast<Impl*>(self)->counters();
        }
        MHD_Response* const response =
            MHD_create_response_from_buffer(body.size(), body.data(), MHD_RESPMEM_MUST_COPY);
        if (response == nullptr) return MHD_NO;
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type.c_str());
        // One request for each connection, so that one timeout covers both.
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
        if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
            MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
        const MHD_Result queued = MHD_queue_response(connection, status, response);
        MHD_destroy_response(response);
        return queued;
    }

    /// Called when a connection begins and when it is closed.
    static void notify(void* self,
                       MHD_Connection* connection,
                       void** handle,
                       MHD_ConnectionNotificationCode what) {
        ConnectionGuard& guard = static_cast<Impl*>(self)->guard;
        if (what == MHD_CONNECTION_NOTIFY_STARTED) {
            const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
            *handle = info != nullptr ? new ConnectionGuard::Handle(guard.begun(info->connect_fd)) : nullptr;
        } else if (*handle != nullptr) {
            const std::unique_ptr<ConnectionGuard::Handle> closed(
                static_cast<ConnectionGuard::Handle*>(*handle));
            guard.closed(*closed);
            *handle = nullptr;
        }
    }

    ConnectionGuard guard;
    std::string url;
    std::atomic<bool> wanted{false};
    Mutex mutex;
    std::condition_variable published;
    std::string text GUARDED_BY(mutex);
    std::uint64_t count GUARDED_BY(mutex) = 0;  // of published texts
    bool ending GUARDED_BY(mutex) = false;
    MHD_Daemon* daemon = nullptr;  // last: its thread uses the others
};

Result<MetricsAddress> parse_metrics_address(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    const std::string_view port = colon == std::string_view::npos ? text : text.substr(colon + 1);
    std::string_view host = colon == std::string_view::npos ? "" : text.substr(0, colon);
    MetricsAddress out;
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), out.port);
    if (error != std::errc() || end != port.data() + port.size()) return not_an_address(text);
    out.v6 = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (out.v6) host = host.substr(1, host.size() - 2);
    if (!host.empty() && host != "localhost") out.host = host;
    in6_addr any{};  // large enough for either family
    if (inet_pton(out.v6 ? AF_INET6 : AF_INET, out.host.c_str(), &any) != 1) return not_an_address(text);
    return out;
}

MetricsServer::MetricsServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MetricsServer::~MetricsServer() = default;

Result<std::unique_ptr<MetricsServer>> MetricsServer::listen(const MetricsAddress& address) {
    const auto cannot = [&address](int error) {
        return environment_error(fmt::format("--metrics {}:{}: cannot be listened on: {}", host_in_url(address),
                                             address.port, std::strerror(error)));
    };
    const int fd = listening_socket(address);
    if (fd < 0) return cannot(errno);
    auto impl = std::make_unique<Impl>();
    impl->url = fmt::format("http://{}:{}/metrics", host_in_url(address), port_of(fd));
    // One thread for all connections, by epoll; from here on the socket is the daemon's.
    impl->daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, nullptr, nullptr, &Impl::answer,
                                    impl.get(), MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_TIMEOUT,
                                    kIdleSeconds, MHD_OPTION_CONNECTION_LIMIT, kConnectionsAccepted,
                                    MHD_OPTION_NOTIFY_CONNECTION, &Impl::notify, impl.get(), MHD_OPTION_END);
    if (impl->daemon == nullptr) {
        const int error = errno;
        close(fd);
        return cannot(error);
    }
    return std::unique_ptr<MetricsServer>(new MetricsServer(std::move(impl)));
}

const std::string& MetricsServer::url() const {
    return impl_->url;
}

bool MetricsServer::wanted() const {
    return impl_->wanted;
}

void MetricsServer::publish(std::string text) {
    {
        const MutexLock lock(impl_->mutex);
        impl_->text = std::move(text);
        ++impl_->count;
        impl_->wanted = false;
    }
    impl_->published.notify_all();
}

}  // namespace streamsim::view
