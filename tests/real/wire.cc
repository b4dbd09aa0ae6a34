// A cable between a seat and the switch that delays frames, loses some of them, or carries none.
//
//     wire SEAT_NAMESPACE SWITCH_NAMESPACE PORT CONTROL
//
// makes the seat's eth0 and the switch's PORT, prints "ready", and carries frames between them. Lines that are
// written to CONTROL, a fifo, change what it does: "loss PERCENT", "delay_us N" (in each direction), "cut 1",
// "cut 0".
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kFramesMax = 65'536;  // queued at once in one direction

void enter(const std::string& name) {
    const int fd = open(("/run/netns/" + name).c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0 || setns(fd, CLONE_NEWNET) != 0) throw std::runtime_error("no namespace " + name);
    close(fd);
}

/// An interface whose other end is the descriptor; it says that it has 10 Gb/s.
int make_interface(const std::string& name) {
    const int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
    ifreq request{};
    name.copy(request.ifr_name, sizeof request.ifr_name - 1);
    request.ifr_flags = IFF_TAP | IFF_NO_PI;
    if (fd < 0 || ioctl(fd, TUNSETIFF, &request) != 0) throw std::runtime_error("no interface " + name);
    const int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ethtool_cmd speed{};
    speed.cmd = ETHTOOL_SSET;
    speed.duplex = DUPLEX_FULL;
    ethtool_cmd_speed_set(&speed, 10'000);
    request.ifr_data = reinterpret_cast<char*>(&speed);
    if (ioctl(any, SIOCETHTOOL, &request) != 0) throw std::runtime_error("no speed for " + name);
    close(any);
    return fd;
}

class Wire {
public:
    Wire(int seat, int port, int control) : control_(control) {
        directions_[0].from = directions_[1].to = seat;
        directions_[0].to = directions_[1].from = port;
    }

    [[noreturn]] void carry() {
        for (;;) {
            std::array<pollfd, 3> waiting{
                {{directions_[0].from, POLLIN, 0}, {directions_[1].from, POLLIN, 0}, {control_, POLLIN, 0}}};
            const auto wait = next_due();
            timespec timeout{wait.count() / 1'000'000'000, wait.count() % 1'000'000'000};
            ppoll(waiting.data(), waiting.size(), &timeout, nullptr);
            for (Direction& direction : directions_) take(direction);
            for (Direction& direction : directions_) give(direction);
            if ((waiting[2].revents & POLLIN) != 0) obey();
        }
    }

private:
    struct Frame {
        Clock::time_point due;
        std::vector<char> bytes;
    };
    struct Direction {
        int from = -1, to = -1;
        std::deque<Frame> frames;
    };

    std::chrono::nanoseconds next_due() const {
        std::chrono::nanoseconds wait = std::chrono::seconds(1);
        for (const Direction& direction : directions_) {
            if (direction.frames.empty()) continue;
            const std::chrono::nanoseconds left = direction.frames.front().due - Clock::now();
            wait = std::max(std::chrono::nanoseconds(0), std::min(wait, left));
        }
        return wait;
    }
    void take(Direction& direction) {
        std::array<char, 2048> frame;
        for (;;) {
            const ssize_t got = read(direction.from, frame.data(), frame.size());
            if (got <= 0) return;
            if (cut_ || direction.frames.size() >= kFramesMax || chance_(random_) < loss_) continue;
            direction.frames.push_back({Clock::now() + delay_, {frame.data(), frame.data() + got}});
        }
    }
    void give(Direction& direction) {
        const auto now = Clock::now();
        for (; !direction.frames.empty() && direction.frames.front().due <= now; direction.frames.pop_front()) {
            const auto& bytes = direction.frames.front().bytes;
            if (!cut_ && write(direction.to, bytes.data(), bytes.size()) < 0) continue;  // nobody is there yet
        }
    }
    void obey() {
        std::array<char, 256> text{};
        const ssize_t got = read(control_, text.data(), text.size() - 1);
        std::istringstream lines(std::string(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0));
        std::string word;
        double value = 0;
        while (lines >> word >> value) {
            if (word == "loss") loss_ = value / 100;
            if (word == "delay_us") delay_ = std::chrono::microseconds(static_cast<std::int64_t>(value));
            if (word == "cut") cut_ = value != 0;
        }
    }

    std::array<Direction, 2> directions_;
    const int control_;
    double loss_ = 0;
    std::chrono::microseconds delay_{0};
    bool cut_ = false;
    std::mt19937_64 random_{1};
    std::uniform_real_distribution<double> chance_{0, 1};
};

}  // namespace

int main(int count, char** arguments) {
    if (count != 5) return 2;
    try {
        const int control = open(arguments[4], O_RDWR | O_CLOEXEC | O_NONBLOCK);
        if (control < 0) throw std::runtime_error("no fifo");
        enter(arguments[1]);
        const int seat = make_interface("eth0");
        enter(arguments[2]);
        const int port = make_interface(arguments[3]);
        std::puts("ready");
        std::fflush(stdout);
        Wire(seat, port, control).carry();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "wire: %s: %s\n", error.what(), std::strerror(errno));
        return 1;
    }
}
