// Sockets of servers that tests play, and a network for them.
#pragma once

#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace streamsim::tests {

/// Listens on 127.0.0.1 at `port`; 0: at a free one, which it becomes. `flags`: of socket(2). A failure fails
/// the test.
inline int listen_on_loopback(std::uint16_t& port, int backlog = 50, int flags = 0) {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
    const int yes = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0) << std::strerror(errno);
    EXPECT_EQ(listen(listener, backlog), 0);
    EXPECT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port = ntohs(address.sin_port);
    return listener;
}

/// A connection to this port of 127.0.0.1. A failure fails the test.
inline int connect_to_loopback(std::uint16_t port) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    return fd;
}

/// Takes this thread, and those that it starts, into a network of their own, in which every port is free.
/// False: this process may not do that.
inline bool enter_own_network() {
    if (unshare(CLONE_NEWNET) != 0) return false;
    const int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ifreq loopback{};
    std::strncpy(loopback.ifr_name, "lo", sizeof loopback.ifr_name - 1);
    loopback.ifr_flags = IFF_UP;
    const bool is_up = ioctl(any, SIOCSIFFLAGS, &loopback) == 0;
    close(any);
    return is_up;
}

}  // namespace streamsim::tests
