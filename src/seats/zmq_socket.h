// ZeroMQ's sockets, as the seat channel uses them.
#pragma once

#include <zmq.h>

#include <optional>
#include <string>
#include <string_view>

namespace streamsim::seats {

class ZmqContext {
public:
    ZmqContext();
    ~ZmqContext();
    ZmqContext(const ZmqContext&) = delete;
    ZmqContext& operator=(const ZmqContext&) = delete;
    void* get() const { return context_; }

private:
    void* context_;
};

/// Used by one thread at a time. Calls that fail only by a mistake of the program throw std::system_error.
class ZmqSocket {
public:
    ZmqSocket(const ZmqContext& context, int type);
    ~ZmqSocket();
    ZmqSocket(const ZmqSocket&) = delete;
    ZmqSocket& operator=(const ZmqSocket&) = delete;
    void* get() const { return socket_; }

    void set(int option, int value);
    void set(int option, std::string_view value);
    /// 0, or ZeroMQ's error.
    int bind(const std::string& endpoint);
    int connect(const std::string& endpoint);
    void unbind(const std::string& endpoint) { zmq_unbind(socket_, endpoint.c_str()); }
    void disconnect(const std::string& endpoint) { zmq_disconnect(socket_, endpoint.c_str()); }
    /// As the socket was bound: "tcp://[::]:4711".
    std::string last_endpoint() const;
    void watch(const std::string& endpoint, int events) {
        zmq_socket_monitor(socket_, endpoint.c_str(), events);
    }

    /// One frame, without waiting. False: it was not taken.
    bool send(std::string_view frame, bool more = false);
    struct Frame {
        std::string bytes;
        bool more = false;    // frames of the same message follow
        int connection = -1;  // the number of the connection that it came by
    };
    /// Without waiting; nullopt: nothing is here.
    std::optional<Frame> receive();

private:
    void* socket_;
};

}  // namespace streamsim::seats
