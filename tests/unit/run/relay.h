// A wire between a seat and its host that can be cut.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <utility>

#include "loopback.h"

namespace streamsim::test {

/// Passes the bytes of one connection on to another port, but while it is cut.
class Relay {
public:
    explicit Relay(std::uint16_t to) : to_(to), listener_(tests::listen_on_loopback(port_)) {
        thread_ = std::thread([this] { carry(); });
    }
    ~Relay() {
        stopped_ = true;
        thread_.join();
        end();
        close(listener_);
    }
    Relay(const Relay&) = delete;
    Relay& operator=(const Relay&) = delete;
    std::uint16_t port() const { return port_; }
    void cut(bool is_cut) { is_cut_ = is_cut; }

private:
    void carry() {
        constexpr int kLookMs = 20;
        while (!stopped_) {
            if (is_cut_) end();
            std::array<pollfd, 3> all = {
                {{is_cut_ ? -1 : listener_, POLLIN, 0}, {ends_[0], POLLIN, 0}, {ends_[1], POLLIN, 0}}};
            if (poll(all.data(), all.size(), kLookMs) <= 0) continue;
            if (all[0].revents != 0) {
                end();
                ends_ = {accept(listener_, nullptr, nullptr), tests::connect_to_loopback(to_)};
                continue;
            }
            bool passes = true;
            if (all[1].revents != 0) passes = pass(ends_[0], ends_[1]);
            if (all[2].revents != 0) passes = pass(ends_[1], ends_[0]) && passes;
            if (!passes) end();
        }
    }
    static bool pass(int from, int to) {
        std::array<char, 65536> some{};
        const ssize_t got = read(from, some.data(), some.size());
        return got > 0 && write(to, some.data(), static_cast<std::size_t>(got)) == got;
    }
    void end() {
        for (int& fd : ends_) {
            if (fd >= 0) close(std::exchange(fd, -1));
        }
    }

    const std::uint16_t to_;
    std::uint16_t port_ = 0;
    const int listener_;
    std::array<int, 2> ends_ = {-1, -1};  // the thread's own until it has ended
    std::atomic<bool> is_cut_ = false;
    std::atomic<bool> stopped_ = false;
    std::thread thread_;
};

}  // namespace streamsim::test
