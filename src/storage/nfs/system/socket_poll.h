// Waiting for sockets, with the events of poll(2): libnfs has them on every system.
#pragma once

#include <uv.h>  // includes the socket headers of the system
#if __has_include(<poll.h>)
#include <poll.h>
#endif

#include <span>
#include <utility>

#include "base/time.h"

namespace streamsim::storage {

inline pollfd polled_socket(int socket, int events) {
    pollfd out{};
    out.fd = static_cast<uv_os_sock_t>(socket);
    out.events = static_cast<short>(events);
    return out;
}

/// Sets `revents` of each socket; all zero: nothing happened within `timeout`.
void poll_sockets(std::span<pollfd> sockets, Duration timeout);

/// The error of a socket, with which connecting failed; zero: none. Clears it.
inline int socket_error(int socket) {
    int error = 0;
    socklen_t size = sizeof error;
    const int result = getsockopt(static_cast<uv_os_sock_t>(socket), SOL_SOCKET, SO_ERROR,
                                  reinterpret_cast<char*>(&error), &size);
    return result == 0 ? error : 0;
}

/// Wakes a loop when a socket has an event, by libuv's best means on each system.
class SocketWatch {
public:
    SocketWatch() = default;
    ~SocketWatch() { stop(); }
    SocketWatch(const SocketWatch&) = delete;
    SocketWatch& operator=(const SocketWatch&) = delete;

    /// Watches this socket for POLLIN and POLLOUT in `events`, and no other socket any more.
    void watch(uv_loop_t* loop, int socket, int events) {
        const int wanted =
            ((events & POLLIN) != 0 ? UV_READABLE : 0) | ((events & POLLOUT) != 0 ? UV_WRITABLE : 0);
        if (handle_ == nullptr || socket != socket_) {
            stop();
            auto* const handle = new uv_poll_t{};
            if (uv_poll_init_socket(loop, handle, static_cast<uv_os_sock_t>(socket)) != 0) {
                delete handle;  // the next turn of the loop, for another reason, serves the socket
                return;
            }
            handle_ = handle;
            socket_ = socket;
        } else if (wanted == wanted_ && uv_is_active(reinterpret_cast<uv_handle_t*>(handle_)) != 0) {
            return;  // libuv stops a handle at an error of its socket
        }
        wanted_ = wanted;
        uv_poll_start(handle_, wanted, [](uv_poll_t*, int, int) {});  // the turn that follows calls reap()
        uv_unref(reinterpret_cast<uv_handle_t*>(handle_));
    }
    /// Call before the socket is closed.
    void stop() {
        if (handle_ == nullptr) return;
        uv_close(reinterpret_cast<uv_handle_t*>(std::exchange(handle_, nullptr)),
                 [](uv_handle_t* handle) { delete reinterpret_cast<uv_poll_t*>(handle); });
    }

private:
    uv_poll_t* handle_ = nullptr;  // libuv frees it, by our callback
    int socket_ = -1;
    int wanted_ = 0;
};

}  // namespace streamsim::storage
