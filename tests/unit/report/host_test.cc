#include "host/host.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include "host/connections.h"
#include "host/mount.h"
#include "host/system_watch.h"

namespace streamsim::report {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

TEST(Host, SaysWhatThisComputerIs) {
    const HostFacts facts = host::read_host_facts();
    EXPECT_FALSE(facts.name.empty());
    EXPECT_THAT(facts.os, HasSubstr("Linux"));
    EXPECT_GE(facts.cpus, 1U);
    EXPECT_GT(facts.memory_bytes, 1U << 20);
}

TEST(Host, CountsProcessorTimeUpwards) {
    const host::ProcessUsage before = host::read_process_usage();
    volatile std::uint64_t sum = 0;
    std::int64_t spent = 0;
    for (int round = 0; round < 1'000 && spent == 0; ++round) {
        for (std::uint64_t i = 0; i < 1'000'000; ++i) sum = sum + i;
        spent = host::read_process_usage().cpu_ns - before.cpu_ns;
    }
    EXPECT_GT(spent, 0);
}

TEST(Host, CountsTheTimeOfHelpersWhileTheyRunAndAfterwards) {
    const host::ProcessUsage before = host::read_process_usage();
    const pid_t helper = fork();
    if (helper == 0) {
        for (;;) getppid();
    }
    ASSERT_GT(helper, 0);
    std::int64_t alive_ns = 0;
    for (int tries = 0; tries < 1'000 && alive_ns < 50'000'000; ++tries) {
        usleep(10'000);
        alive_ns = host::read_process_usage().helpers_cpu_ns - before.helpers_cpu_ns;
    }
    kill(helper, SIGKILL);
    waitpid(helper, nullptr, 0);
    const host::ProcessUsage after = host::read_process_usage();
    EXPECT_GE(alive_ns, 50'000'000);
    EXPECT_GE(after.helpers_cpu_ns - before.helpers_cpu_ns, alive_ns - 10'000'000);
    EXPECT_GE(after.cpu_ns - before.cpu_ns, after.helpers_cpu_ns - before.helpers_cpu_ns);
}

TEST(Host, KnowsWhereBlockDevicesAreNotCounted) {
    EXPECT_FALSE(host::block_device_behind("/proc"));
    EXPECT_FALSE(host::block_device_behind("/there/is/no/such/path"));
}

TEST(Host, GivesRealtimeOrTheReasonWhyNot) {
    // In a thread of its own: what is granted stays with the thread.
    std::string why_not;
    bool granted = false;
    std::thread([&] { granted = host::request_realtime(why_not); }).join();
    EXPECT_EQ(granted, why_not.empty());
    if (!granted) {
        EXPECT_THAT(why_not, HasSubstr("real-time scheduling refused"));
    }
}

TEST(Host, WritesTheWallClockInUtc) {
    EXPECT_THAT(host::now_rfc3339(),
                MatchesRegex("20[0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]Z"));
}

TEST(Mount, IsTheOneThatHoldsThePath) {
    const auto proc = host::mount_of("/proc/self");
    ASSERT_TRUE(proc);
    EXPECT_EQ(proc->point, "/proc");
    EXPECT_EQ(proc->type, "proc");
    EXPECT_FALSE(proc->options.empty());
    EXPECT_FALSE(host::mount_of("/there/is/no/such/path"));
    EXPECT_FALSE(host::fuse_server_of("/proc"));
}

std::uint64_t cached_of(const std::string& path) {
    return host::cached_part(path.c_str()).value_or(CachedPart{UINT64_MAX, 0}).cached;
}

TEST(CachedBytes, AreThereAfterWritingAndGoneWhenTheyAreLetGo) {
    std::string path = "streamsim-cached-XXXXXX";
    const int fd = mkstemp(path.data());
    ASSERT_GE(fd, 0);
    const std::string page(65536, 'x');
    for (int i = 0; i < 16; ++i) ASSERT_EQ(write(fd, page.data(), page.size()), 65536);
    EXPECT_EQ(cached_of(path), 1U << 20);
    ASSERT_EQ(fsync(fd), 0);
    ASSERT_EQ(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
    const auto after = cached_of(path);
    close(fd);
    unlink(path.c_str());
    if (host::mount_of(".")->type == "tmpfs")
        GTEST_SKIP() << "the build directory is in memory: it lets nothing go";
    EXPECT_EQ(after, 0U);
}

TEST(CachedBytes, CannotBeSaidOfWhatIsNotThere) {
    EXPECT_FALSE(host::cached_part("/there/is/no/such/path"));
}

TEST(SystemWatch, LooksAtTheBeginningAndAtTheEnd) {
    host::SystemWatch watch("/");
    const SystemHistory history = watch.stop();
    ASSERT_GE(history.size(), 2U);
    for (std::size_t i = 1; i < history.size(); ++i) {
        EXPECT_GT(history[i].at_ns, history[i - 1].at_ns);
        EXPECT_GE(history[i].process_cpu_ns, history[i - 1].process_cpu_ns);
        EXPECT_GE(history[i].cpu_ticks.value_or(0), history[i - 1].cpu_ticks.value_or(0));
    }
    EXPECT_FALSE(history.front().links.empty());
}

TEST(SystemWatch, GoesOnForAsLongAsItIsTold) {
    host::SystemWatch watch("/");
    const SystemHistory history = watch.stop(milliseconds(500));
    EXPECT_GE(history.size(), 3U);
}

TEST(SystemWatch, KeepsHowLongTheComputerWasSuspended) {
    std::atomic<int> calls = 0;
    host::SystemWatch watch("/", {}, [&calls] { return ++calls == 1 ? 7'000'000'000 : 67'000'000'000; });
    const SystemHistory history = watch.stop();
    EXPECT_EQ(history.front().suspended_ns, 7'000'000'000);
    EXPECT_EQ(history.back().suspended_ns, 67'000'000'000);
    EXPECT_GE(host::suspended_since_start_ns(), -1'000'000) << "but for how far apart the clocks are read";
}

TEST(SystemWatch, EndsByItself) {
    const host::SystemWatch watch("/there/is/no/such/path");
}

TEST(Pinger, HasAReplyFromThisComputer) {
    for (const char* peer : {"127.0.0.1", "::1"}) {
        host::Pinger pinger;
        pinger.aim_at(peer);
        pinger.send();
        if (!pinger.receive(200)) GTEST_SKIP() << "no ping from " << peer << " is allowed here, or it has none";
        EXPECT_GE(pinger.last_ns(), 0);
        EXPECT_LT(pinger.last_ns(), 200'000'000);
        EXPECT_FALSE(pinger.receive(0)) << "one was asked for";
    }
}

TEST(Pinger, WithoutAPeerHasNoReply) {
    host::Pinger pinger;
    pinger.send();
    EXPECT_FALSE(pinger.receive(0));
}

/// A socket of this computer that has a port and listens, or does not.
class Port {
public:
    explicit Port(bool listens) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        socklen_t size = sizeof address;
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), size), 0);
        if (listens) {
            EXPECT_EQ(listen(fd_, 5), 0);
        }
        EXPECT_EQ(getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size), 0);
        number_ = ntohs(address.sin_port);
    }
    ~Port() { close(fd_); }
    Port(const Port&) = delete;
    Port& operator=(const Port&) = delete;
    std::uint16_t number() const { return number_; }

private:
    const int fd_;
    std::uint16_t number_ = 0;
};

host::Handshakes::Answers answers_of(const Port& port) {
    host::Handshakes handshakes;
    EXPECT_FALSE(handshakes.receive(0).any) << "none was asked for";
    handshakes.begin("127.0.0.1", port.number(), 0);
    host::Handshakes::Answers answers;
    for (int i = 0; i < 1'000 && !answers.any; ++i) {
        answers = handshakes.receive(0);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_FALSE(handshakes.receive(0).any) << "one was asked for";
    return answers;
}

TEST(Handshakes, AreAnsweredByAServerThatTakesNone) {
    const Port port(true);  // nobody accepts: as of a process that was stopped
    const host::Handshakes::Answers answers = answers_of(port);
    EXPECT_TRUE(answers.any);
    EXPECT_FALSE(answers.refused);
    EXPECT_TRUE(answers.rtt_ns);
}

TEST(Handshakes, AreRefusedWhereNobodyListens) {
    const Port port(false);
    const host::Handshakes::Answers answers = answers_of(port);
    EXPECT_TRUE(answers.any) << "its host is there";
    EXPECT_TRUE(answers.refused);
}

TEST(Carrier, IsWhatAnInterfaceSaysOfItself) {
    EXPECT_TRUE(host::has_carrier("lo"));
    EXPECT_FALSE(host::has_carrier("none-such"));
}

}  // namespace
}  // namespace streamsim::report
