// A loop that does nothing but wait for a timerfd: how late timers are on this computer, whoever sets them.
//
//     bare_timer STREAMS SECONDS
//
// As many timers as there are streams are due 24 times a second, all at once, as the deadlines of streams that
// began together; each is read off the clock in turn. Prints the lateness in nanoseconds as JSON.
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * kSecond + now.tv_nsec;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: bare_timer STREAMS SECONDS\n");
        return 2;
    }
    const int streams = std::atoi(argv[1]);
    const std::int64_t frames = std::atoll(argv[2]) * 24;
    const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    std::vector<std::int64_t> late;
    late.reserve(static_cast<std::size_t>(frames * streams));
    const std::int64_t start = now_ns();
    for (std::int64_t frame = 1; frame <= frames; ++frame) {
        const std::int64_t due = start + frame * kSecond / 24;
        itimerspec when{};
        when.it_value = {due / kSecond, due % kSecond};
        timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, nullptr);
        std::uint64_t count = 0;
        if (read(timer, &count, sizeof count) != sizeof count) return 3;
        for (int i = 0; i < streams; ++i) late.push_back(now_ns() - due);
    }
    if (late.empty()) return 2;
    std::sort(late.begin(), late.end());
    std::printf("{\"p50\": %lld, \"p99\": %lld, \"max\": %lld}\n",
                static_cast<long long>(late[late.size() / 2]),
                static_cast<long long>(late[late.size() * 99 / 100]), static_cast<long long>(late.back()));
}
