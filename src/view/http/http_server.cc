#include "view/http/http_server.h"

#include <fmt/format.h>
#include <microhttpd.h>
#include <uv.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <iterator>
#include <list>
#include <set>
#include <thread>

#include "base/system/mutex.h"
#include "view/http/system/sockets.h"

namespace streamsim::view {
namespace {

/// A connection without a byte for so long ends: also a stream whose client reads nothing.
constexpr unsigned kIdleSeconds = 10;
/// The server itself accepts some more connections, so that one of them can be ended for a new one.
constexpr unsigned kConnectionsSpare = 16;
constexpr int kBacklog = 1024;
constexpr std::size_t kStreamBlockBytes = 32 << 10;

Error not_an_address(std::string_view text) {
    return bad_input(fmt::format("'{}': expected ADDR:PORT such as 127.0.0.1:9464, [::1]:9464 or 9464", text));
}

/// Errors: libuv's.
int read_address(const std::string& host, bool v6, std::uint16_t port, sockaddr_storage& to) {
    return v6 ? uv_ip6_addr(host.c_str(), port, reinterpret_cast<sockaddr_in6*>(&to))
              : uv_ip4_addr(host.c_str(), port, reinterpret_cast<sockaddr_in*>(&to));
}

/// The bound socket, or MHD_INVALID_SOCKET and libuv's error in `error`.
MHD_socket listening_socket(const HttpAddress& address, int& error) {
    sockaddr_storage at{};
    error = read_address(address.host, address.v6, address.port, at);
    if (error != 0) return MHD_INVALID_SOCKET;
    const MHD_socket made = new_socket(at.ss_family);
    const socklen_t size = address.v6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
    if (made != MHD_INVALID_SOCKET && bind(made, reinterpret_cast<const sockaddr*>(&at), size) == 0 &&
        listen(made, kBacklog) == 0)
        return made;
    error = socket_error();
    if (made != MHD_INVALID_SOCKET) close_socket(made);
    return MHD_INVALID_SOCKET;
}

std::uint16_t port_of(MHD_socket socket) {
    sockaddr_in6 address{};  // the port has the same offset in both families
    socklen_t size = sizeof address;
    if (getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
    return ntohs(address.sin6_port);
}

std::int64_t now_ns() {
    return static_cast<std::int64_t>(uv_hrtime());
}

std::string or_empty(const char* text) {
    return text != nullptr ? text : "";
}

/// Ends connections that take too long, and those of too many that have not asked yet. The guard only shuts the
/// socket down; the server then closes it.
class ConnectionGuard {
public:
    struct Connection {
        MHD_socket socket = MHD_INVALID_SOCKET;
        std::int64_t begun_ns = 0;
        std::int64_t until_ns = 0;
        bool asked = false;  // its request is complete
        bool ended = false;  // shut down and not closed yet
    };
    using Handle = std::list<Connection>::iterator;

    explicit ConnectionGuard(const HttpLimits& limits) : limits_(limits), thread_([this] { run(); }) {}
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

    Handle begun(MHD_socket socket) {
        const MutexLock lock(mutex_);
        const std::int64_t now = now_ns();
        open_.push_back({socket, now, now + limits_.request_timeout_ns});
        ++live_;
        // Connections without a request end first, the oldest before the others; the new one is the last of
        // them.
        for (Connection& each : open_) {
            if (live_ <= limits_.connections_max) break;
            if (!each.asked) end(each);
        }
        changed_.notify_all();
        return std::prev(open_.end());
    }
    /// Its request is complete. `limited`: the answer has a time limit.
    void asked(Handle connection, bool limited) {
        const MutexLock lock(mutex_);
        connection->asked = true;
        connection->until_ns = limited ? connection->begun_ns + limits_.answer_timeout_ns : INT64_MAX;
    }
    void closed(Handle connection) {
        const MutexLock lock(mutex_);
        if (!connection->ended) --live_;
        open_.erase(connection);
    }

private:
    void end(Connection& connection) REQUIRES(mutex_) {
        if (std::exchange(connection.ended, true)) return;
        shut_down(connection.socket);
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

    const HttpLimits limits_;
    Mutex mutex_;
    std::condition_variable changed_;
    std::list<Connection> open_ GUARDED_BY(mutex_);  // the oldest first
    std::size_t live_ GUARDED_BY(mutex_) = 0;        // connections of open_ that have not ended
    bool ending_ GUARDED_BY(mutex_) = false;
    std::thread thread_;
};

}  // namespace

struct HttpServer::Impl {
    Impl(const HttpLimits& limits, Handler handles) : guard(limits), handler(std::move(handles)) {}
    ~Impl() {
        {
            const MutexLock lock(mutex);
            ending = true;
        }
        resume();  // the daemon ends no connection that is suspended
        if (daemon != nullptr) MHD_stop_daemon(daemon);
    }

    /// A stream and its connection, as long as the answer exists.
    struct Reader {
        Impl* server;
        MHD_Connection* connection;
        std::unique_ptr<HttpStream> stream;
    };

    static ssize_t read(void* reader, std::uint64_t /*position*/, char* to, std::size_t size) {
        const Reader& self = *static_cast<Reader*>(reader);
        Impl& server = *self.server;
        // Held over both: what comes between the read and the suspension would not resume the stream.
        const MutexLock lock(server.mutex);
        if (server.ending) return MHD_CONTENT_READER_END_OF_STREAM;
        const std::optional<std::size_t> bytes = self.stream->read(to, size);
        if (!bytes) return MHD_CONTENT_READER_END_OF_STREAM;
        if (*bytes == 0) {
            server.suspended.insert(self.connection);
            MHD_suspend_connection(self.connection);
        }
        return static_cast<ssize_t>(*bytes);
    }
    static void free_reader(void* reader) { delete static_cast<Reader*>(reader); }

    void resume() {
        const MutexLock lock(mutex);
        for (MHD_Connection* const connection : suspended) MHD_resume_connection(connection);
        suspended.clear();
    }

    HttpAnswer answer_to(MHD_Connection* connection, const char* url, const char* method) const {
        if (std::strcmp(method, "GET") != 0 && std::strcmp(method, "HEAD") != 0) {
            HttpAnswer answer{MHD_HTTP_METHOD_NOT_ALLOWED};
            answer.body = "expected GET\n";
            answer.headers = {{MHD_HTTP_HEADER_ALLOW, "GET, HEAD"}};
            return answer;
        }
        return handler(
            {url, or_empty(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST)),
             or_empty(MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "key"))});
    }
    MHD_Response* response_of(MHD_Connection* connection, HttpAnswer& answer) {
        if (answer.stream == nullptr)
            return MHD_create_response_from_buffer(answer.body.size(), answer.body.data(),
                                                   MHD_RESPMEM_MUST_COPY);
        auto reader = std::make_unique<Reader>(Reader{this, connection, std::move(answer.stream)});
        MHD_Response* const response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, kStreamBlockBytes,
                                                                         &read, reader.get(), &free_reader);
        if (response != nullptr) (void)reader.release();
        return response;
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
        Impl& server = *static_cast<Impl*>(self);
        HttpAnswer answer = server.answer_to(connection, url, method);
        if (const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)) {
            auto* const handle = static_cast<ConnectionGuard::Handle*>(info->socket_context);
            if (handle != nullptr) server.guard.asked(*handle, answer.stream == nullptr);
        }
        MHD_Response* const response = server.response_of(connection, answer);
        if (response == nullptr) return MHD_NO;
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer.type.c_str());
        // One request for each connection, so that one timeout covers both.
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
        for (const auto& [name, value] : answer.headers)
            MHD_add_response_header(response, name.c_str(), value.c_str());
        const MHD_Result queued = MHD_queue_response(connection, answer.status, response);
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
    const Handler handler;
    std::uint16_t port = 0;
    Mutex mutex;
    std::set<MHD_Connection*> suspended GUARDED_BY(mutex);  // their streams have nothing more
    bool ending GUARDED_BY(mutex) = false;
    MHD_Daemon* daemon = nullptr;  // last: its thread uses the others
};

std::string name_of_this_computer() {
    std::array<char, UV_MAXHOSTNAMESIZE> name{};
    std::size_t size = name.size();
    if (uv_os_gethostname(name.data(), &size) != 0 || size == 0) return "localhost";
    return name.data();
}

bool http_is_built_in() {
    return true;
}

Result<HttpAddress> parse_http_address(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    const std::string_view port = colon == std::string_view::npos ? text : text.substr(colon + 1);
    std::string_view host = colon == std::string_view::npos ? "" : text.substr(0, colon);
    HttpAddress out;
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), out.port);
    if (error != std::errc() || end != port.data() + port.size()) return not_an_address(text);
    out.v6 = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (out.v6) host = host.substr(1, host.size() - 2);
    if (!host.empty() && host != "localhost") out.host = host;
    sockaddr_storage any{};
    if (read_address(out.host, out.v6, out.port, any) != 0) return not_an_address(text);
    return out;
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::listen(std::string_view option,
                                                       const HttpAddress& address,
                                                       const HttpLimits& limits,
                                                       Handler handler) {
    const auto cannot = [&](int error) {
        return environment_error(fmt::format("{} {}:{}: cannot be listened on: {}", option, address.in_url(),
                                             address.port, uv_strerror(error)));
    };
    int error = 0;
    const MHD_socket socket = listening_socket(address, error);
    if (socket == MHD_INVALID_SOCKET) return cannot(error);
    auto impl = std::make_unique<Impl>(limits, std::move(handler));
    impl->port = port_of(socket);
    // One thread for all connections, by epoll or poll; from here on the socket is the daemon's.
    impl->daemon = MHD_start_daemon(MHD_USE_AUTO_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, nullptr,
                                    nullptr, &Impl::answer, impl.get(), MHD_OPTION_LISTEN_SOCKET, socket,
                                    MHD_OPTION_CONNECTION_TIMEOUT, kIdleSeconds, MHD_OPTION_CONNECTION_LIMIT,
                                    static_cast<unsigned>(limits.connections_max) + kConnectionsSpare,
                                    MHD_OPTION_NOTIFY_CONNECTION, &Impl::notify, impl.get(), MHD_OPTION_END);
    if (impl->daemon == nullptr) {
        error = socket_error();
        close_socket(socket);
        return cannot(error);
    }
    return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

std::uint16_t HttpServer::port() const {
    return impl_->port;
}

void HttpServer::resume() {
    impl_->resume();
}

}  // namespace streamsim::view
