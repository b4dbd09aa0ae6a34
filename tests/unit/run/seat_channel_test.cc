#include "seats/seat_channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <fstream>
#include <list>
#include <thread>

#include "address_sanitizer.h"
#include "seats/join_token.h"
#include "unit/run/relay.h"

namespace streamsim::run {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// As the program does: a write to a connection that has ended is an error and no signal.
[[maybe_unused]] const auto kNoSignal = std::signal(SIGPIPE, SIG_IGN);

/// The events of one end of the channel.
class Heard {
public:
    seats::SeatChannelOptions options(std::uint32_t rank, std::uint32_t ranks) {
        seats::SeatChannelOptions out;
        out.rank = rank;
        out.ranks = ranks;
        out.introduction = rank;
        out.heartbeat = milliseconds(20);
        out.heartbeat_timeout = seconds(60);
        out.events.message = [this](std::uint32_t from, Json& message) { add(from, message.dump()); };
        out.events.lost = [this](std::uint32_t who, const std::string& why) { add(who, "lost: " + why); };
        out.events.left = [this](std::uint32_t who) { add(who, "left"); };
        out.events.away = [this](std::uint32_t who, const std::string& why) { add(who, "away: " + why); };
        return out;
    }
    /// Waits until `rank` has sent a message that contains `text`. False: not in ten seconds.
    bool comes(std::uint32_t rank, const std::string& text) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, std::chrono::seconds(10), [&] {
            return std::any_of(heard_.begin(), heard_.end(), [&](const auto& each) {
                return each.first == rank && each.second.find(text) != std::string::npos;
            });
        });
    }
    std::vector<std::string> of(std::uint32_t rank) {
        const std::lock_guard lock(mutex_);
        std::vector<std::string> out;
        for (const auto& [who, text] : heard_) {
            if (who == rank) out.push_back(text);
        }
        return out;
    }

private:
    void add(std::uint32_t rank, std::string text) {
        const std::lock_guard lock(mutex_);
        heard_.emplace_back(rank, std::move(text));
        changed_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::pair<std::uint32_t, std::string>> heard_;
};

/// A socket that speaks for itself.
class Stranger {
public:
    explicit Stranger(std::uint16_t port) : fd_(tests::connect_to_loopback(port)) {}
    ~Stranger() { close(fd_); }
    Stranger(const Stranger&) = delete;
    Stranger& operator=(const Stranger&) = delete;
    void send_bytes(const std::string& bytes) const {
        (void)::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    bool is_closed_by_the_other_end() const {
        std::array<char, 256> greeting{};
        while (read(fd_, greeting.data(), greeting.size()) > 0) {
        }
        return true;  // or the test's own time limit ends it
    }

private:
    int fd_;
};

/// A rank in a process of its own, which answers a question once. REQUIRES: there are no threads yet.
class RankElsewhere {
public:
    RankElsewhere(std::uint32_t rank, std::uint32_t ranks) {
        EXPECT_EQ(pipe(pipe_.data()), 0);
        process_ = fork();
        if (process_ != 0) return;
        Heard heard;
        const auto channel = rank == 0 ? seats::SeatChannel::host(heard.options(rank, ranks))
                                       : seats::SeatChannel::join(heard.options(rank, ranks), join_token());
        if (!channel) _exit(1);
        const std::uint32_t other = rank == 0 ? 1 : 0;
        if (rank == 0) join((*channel)->join_token());
        if (heard.comes(other, "question")) (*channel)->send(other, {{"do", "answer"}});
        for (;;) pause();
    }
    ~RankElsewhere() {
        signal(SIGKILL);
        waitpid(process_, nullptr, 0);
        for (const int end : pipe_) close(end);
    }
    RankElsewhere(const RankElsewhere&) = delete;
    RankElsewhere& operator=(const RankElsewhere&) = delete;
    void join(const seats::JoinToken& join_token) const {
        const std::string text = join_token.to_text();
        EXPECT_EQ(write(pipe_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }
    /// That join() wrote: in this process, or, where the rank is rank 0, in its own.
    seats::JoinToken join_token() const {
        std::array<char, 4096> text{};
        EXPECT_GT(read(pipe_[0], text.data(), text.size() - 1), 0);
        return seats::JoinToken::parse(text.data()).value();
    }
    void signal(int number) const {
        kill(process_, number);
        if (number == SIGSTOP) waitpid(process_, nullptr, WUNTRACED);  // all its threads stand still
    }

private:
    std::array<int, 2> pipe_{};
    pid_t process_ = 0;
};

TEST(JoinToken, IsTheSameAfterAJourney) {
    const seats::JoinToken typed{
        "1f0c", {"host", "", "seat", "secret"}, "h0/x", {"10.77.0.10", "fd00::1"}, 4711};
    const auto read = seats::JoinToken::parse(typed.to_text());
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->run_id, "1f0c");
    EXPECT_EQ(read->keys.host_public, "host");
    EXPECT_EQ(read->keys.seat_public, "seat");
    EXPECT_EQ(read->keys.seat_secret, "secret");
    EXPECT_EQ(read->machine, "h0/x");
    EXPECT_THAT(read->addresses, ElementsAre("10.77.0.10", "fd00::1"));
    EXPECT_EQ(read->port, 4711);
    EXPECT_FALSE(seats::JoinToken::parse("{}").has_value());
}

TEST(SeatChannel, MessagesArriveWholeInOrderAndWithTheirSender) {
    Heard first;
    Heard second;
    auto host = seats::SeatChannel::host(first.options(0, 3));
    ASSERT_TRUE(host.has_value());
    auto one = seats::SeatChannel::join(second.options(1, 3), (*host)->join_token());
    auto two = seats::SeatChannel::join(second.options(2, 3), (*host)->join_token());
    ASSERT_TRUE(one.has_value());
    ASSERT_TRUE(two.has_value());
    EXPECT_TRUE(first.comes(1, R"({"do":"hello","introduction":1})"));
    EXPECT_TRUE(first.comes(2, R"({"do":"hello","introduction":2})"));
    const std::string large(3'000'000, 'x');
    (*two)->send(0, {{"do", "a"}, {"text", large}});
    (*two)->send(0, {{"do", "b"}});
    EXPECT_TRUE(first.comes(2, R"({"do":"b"})"));
    ASSERT_EQ(first.of(2).size(), 3u);
    EXPECT_THAT(first.of(2)[1], HasSubstr(large));
    EXPECT_EQ(first.of(1).size(), 1u);
    (*host)->send(2, {{"do", "c"}});
    EXPECT_TRUE(second.comes(0, R"({"do":"c"})"));
}

TEST(SeatChannel, ARankThatLeavesIsNotLostAndOneWithoutHeartbeatsIs) {
    const RankElsewhere silent(2, 3);
    Heard first;
    Heard second;
    auto options = first.options(0, 3);
    options.heartbeat_timeout = milliseconds(300);
    auto host = seats::SeatChannel::host(options);
    ASSERT_TRUE(host.has_value());
    auto one = seats::SeatChannel::join(second.options(1, 3), (*host)->join_token());
    ASSERT_TRUE(one.has_value());
    one->reset();
    EXPECT_TRUE(first.comes(1, "left"));
    silent.join((*host)->join_token());
    EXPECT_TRUE(first.comes(2, "hello"));
    silent.signal(SIGSTOP);
    EXPECT_TRUE(first.comes(2, "lost: no heartbeat for 300.0 ms"));
}

TEST(SeatChannel, ARankWhoseConnectionEndsWithoutAWordIsLostAtOnce) {
    const RankElsewhere dying(1, 2);
    Heard first;
    auto host = seats::SeatChannel::host(first.options(0, 2));
    ASSERT_TRUE(host.has_value());
    dying.join((*host)->join_token());
    EXPECT_TRUE(first.comes(1, "hello"));
    dying.signal(SIGKILL);
    EXPECT_TRUE(first.comes(1, "lost: its connection ended"));
}

/// The thread of the channel takes what was sent, some heartbeats later at the latest.
void wait_until_it_is_taken() {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
}

/// A rank that is silent for longer than it may, and for less than its connection lasts.
TEST(SeatChannel, ARankThatReturnsOnItsOldConnectionGetsWhatWasSentMeanwhile) {
    const RankElsewhere silent(1, 2);
    Heard first;
    auto options = first.options(0, 2);
    options.heartbeat_timeout = milliseconds(300);
    options.return_after_end = options.return_after_cut = seconds(10);
    auto host = seats::SeatChannel::host(options);
    ASSERT_TRUE(host.has_value());
    silent.join((*host)->join_token());
    ASSERT_TRUE(first.comes(1, "hello"));
    silent.signal(SIGSTOP);
    ASSERT_TRUE(first.comes(1, "away: no heartbeat for 300.0 ms"));
    (*host)->send(1, {{"do", "question"}});
    wait_until_it_is_taken();
    silent.signal(SIGCONT);
    EXPECT_TRUE(first.comes(1, "answer"));
}

TEST(SeatChannel, Rank0ThatReturnsOnItsOldConnectionGetsWhatWasSentMeanwhile) {
    const RankElsewhere silent(0, 2);
    Heard second;
    auto options = second.options(1, 2);
    options.heartbeat_timeout = milliseconds(300);
    options.return_after_end = options.return_after_cut = seconds(10);
    auto one = seats::SeatChannel::join(options, silent.join_token());
    ASSERT_TRUE(one.has_value());
    silent.signal(SIGSTOP);
    ASSERT_TRUE(second.comes(0, "away: no heartbeat for 300.0 ms"));
    (*one)->send(0, {{"do", "question"}});
    wait_until_it_is_taken();
    silent.signal(SIGCONT);
    EXPECT_TRUE(second.comes(0, "answer"));
}

TEST(SeatChannel, ARankThatReturnsAfterItWasGivenUpIsToldSo) {
    Heard first;
    Heard second;
    auto options = first.options(0, 2);
    options.return_after_end = options.return_after_cut = milliseconds(300);
    auto host = seats::SeatChannel::host(options);
    ASSERT_TRUE(host.has_value());
    test::Relay relay((*host)->join_token().port);
    seats::JoinToken join_token = (*host)->join_token();
    join_token.machine = "elsewhere";  // so that the relay is the only way
    join_token.addresses = {"127.0.0.1"};
    join_token.port = relay.port();
    options = second.options(1, 2);
    options.return_after_end = options.return_after_cut = seconds(60);
    auto one = seats::SeatChannel::join(options, join_token);
    ASSERT_TRUE(one.has_value());
    ASSERT_TRUE(first.comes(1, "hello"));
    relay.cut(true);
    ASSERT_TRUE(first.comes(1, "lost: its connection ended"));
    relay.cut(false);
    EXPECT_TRUE(second.comes(0, "lost: rank 0 has refused this one: it was given up: its connection ended"));
    EXPECT_FALSE((*one)->send_part({{"do", "a"}}));
}

TEST(SeatChannel, ARankThatHurriesDoesNotWaitForRank0ToReturn) {
    const RankElsewhere silent(0, 2);
    Heard second;
    auto one = seats::SeatChannel::join(second.options(1, 2), silent.join_token());
    ASSERT_TRUE(one.has_value());
    EXPECT_TRUE((*one)->wait_until_delivered());
    silent.signal(SIGSTOP);
    (*one)->send(0, {{"do", "a"}});
    (*one)->hurry();
    EXPECT_FALSE((*one)->wait_until_delivered());
    (*one)->send(0, {{"do", "b"}, {"text", std::string(8 * seats::kSeatPartBytes, 'x')}});
    EXPECT_FALSE((*one)->send_part({{"do", "c"}}));
}

TEST(SeatChannel, StrangersAreNotLetInAndDisturbNobody) {
    Heard first;
    auto host = seats::SeatChannel::host(first.options(0, 2));
    ASSERT_TRUE(host.has_value());
    for (const std::string& bytes :
         {std::string("GET / HTTP/1.1\r\nHost: a-name-that-is-long-enough.example\r\n\r\n"),
          std::string(100'000, ' '),
          std::string("\xff\0\0\0\0\0\0\0\x01\x7f\x03\x01NULL", 16) + std::string(200, '\0')}) {
        const Stranger stranger((*host)->join_token().port);
        stranger.send_bytes(bytes);
        EXPECT_TRUE(stranger.is_closed_by_the_other_end()) << bytes.substr(0, 60);
    }
    // Keys of another run: of the host, and of the seats.
    for (const bool of_host : {true, false}) {
        seats::JoinToken other = (*host)->join_token();
        const seats::SeatKeys keys = seats::SeatKeys::make();
        if (of_host) other.keys.host_public = keys.host_public;
        if (!of_host) other.keys = {other.keys.host_public, "", keys.seat_public, keys.seat_secret};
        Heard stranger;
        EXPECT_FALSE(seats::SeatChannel::join(stranger.options(1, 2), other, milliseconds(500)));
    }
    Heard second;
    auto one = seats::SeatChannel::join(second.options(1, 2), (*host)->join_token());
    EXPECT_TRUE(one.has_value());
    EXPECT_TRUE(first.comes(1, "hello"));
    EXPECT_EQ(first.of(1).size(), 1u);
}

/// kB of this process's memory.
std::int64_t resident_kb() {
    std::ifstream in("/proc/self/status");
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("VmRSS:")) return std::stoll(line.substr(6));
    }
    return 0;
}

/// 1,000 connections: bombs, half greetings, and some that send a byte now and then.
TEST(SeatChannel, AThousandStrangersTakeNoPlaceOfARankAndNoMemory) {
    Heard first;
    auto options = first.options(0, 3);
    options.heartbeat_timeout = seconds(2);
    options.greeting_timeout = milliseconds(500);
    auto host = seats::SeatChannel::host(options);
    ASSERT_TRUE(host.has_value());
    const std::uint16_t port = (*host)->join_token().port;
    Heard second;
    auto one = seats::SeatChannel::join(second.options(1, 3), (*host)->join_token());
    ASSERT_TRUE(one.has_value());
    const std::int64_t before_kb = resident_kb();
    std::string bomb = "{";
    while (bomb.size() < 60'000) bomb += "\"a\":1,";
    bomb += "\"a\":1}";
    const std::string half("\xff\0\0\0\0\0\0\0\x01\x7f\x03", 11);
    std::list<Stranger> strangers;
    for (int i = 0; i < 1000; ++i) {
        strangers.emplace_back(port);
        if (i % 3 == 0) strangers.back().send_bytes(std::string("\x00\x00\xea\x60", 4) + bomb);
        if (i % 3 == 1) strangers.back().send_bytes(half);
        if (i % 3 == 2) strangers.back().send_bytes("s");
    }
    auto two = seats::SeatChannel::join(second.options(2, 3), (*host)->join_token());
    ASSERT_TRUE(two.has_value());
    EXPECT_TRUE(first.comes(2, "hello"));
    (*one)->send(0, {{"do", "still here"}});
    EXPECT_TRUE(first.comes(1, "still here"));
    if (!kAddressSanitizer) EXPECT_LT(resident_kb() - before_kb, 16'000);
    EXPECT_THAT(first.of(1), testing::Not(testing::Contains(HasSubstr("lost"))));
    EXPECT_THAT(first.of(2), testing::Not(testing::Contains(HasSubstr("lost"))));
    for (const Stranger& stranger : strangers) EXPECT_TRUE(stranger.is_closed_by_the_other_end());
}

TEST(SeatChannel, AStrangerThatDripsHasItsTimeInAllAndNotAByte) {
    Heard first;
    auto options = first.options(0, 2);
    options.greeting_timeout = milliseconds(200);
    auto host = seats::SeatChannel::host(options);
    ASSERT_TRUE(host.has_value());
    const Stranger dripping((*host)->join_token().port);
    std::atomic<bool> closed = false;
    std::thread drops([&] {
        while (!closed) {
            dripping.send_bytes("s");
            std::this_thread::sleep_for(std::chrono::milliseconds(20));  // a byte now and then is the test
        }
    });
    EXPECT_TRUE(dripping.is_closed_by_the_other_end());
    closed = true;
    drops.join();
}

TEST(SeatChannel, AMessageThatIsTooLongEndsTheConnectionAtBothEndsAndBlocksNobody) {
    Heard first;
    Heard second;
    auto host = seats::SeatChannel::host(first.options(0, 3));
    ASSERT_TRUE(host.has_value());
    auto one = seats::SeatChannel::join(second.options(1, 3), (*host)->join_token());
    ASSERT_TRUE(one.has_value());
    EXPECT_TRUE(first.comes(1, "hello"));
    (*one)->send(0, {{"do", "a"}, {"text", std::string(seats::kSeatMessageBytesMax, 'x')}});
    EXPECT_TRUE(second.comes(0, "lost: a message for it has 16.8 MB, and 16.8 MB are allowed"));
    EXPECT_TRUE(first.comes(1, "lost: its connection ended"));
    EXPECT_FALSE((*one)->send_part({{"do", "b"}}));
}

TEST(SeatChannel, PartsArriveInOrderAndWaitForEachOther) {
    Heard first;
    Heard second;
    auto host = seats::SeatChannel::host(first.options(0, 2));
    ASSERT_TRUE(host.has_value());
    auto one = seats::SeatChannel::join(second.options(1, 2), (*host)->join_token());
    ASSERT_TRUE(one.has_value());
    const std::string text(seats::kSeatPartBytes, 'x');
    for (int i = 0; i < 12; ++i) EXPECT_TRUE((*one)->send_part({{"do", "part"}, {"text", text}}));
    (*one)->send(0, {{"do", "last"}});
    EXPECT_TRUE(first.comes(1, "last"));
    EXPECT_EQ(first.of(1).size(), 14u);
}

TEST(SeatChannel, AnAddressWhereNobodyListensIsPassedOver) {
    Heard first;
    Heard second;
    auto host = seats::SeatChannel::host(first.options(0, 2));
    ASSERT_TRUE(host.has_value());
    seats::JoinToken join_token = (*host)->join_token();
    join_token.machine = "elsewhere";  // so that loopback is not tried of itself
    join_token.addresses = {"255.255.255.255", "127.0.0.1"};
    EXPECT_TRUE(seats::SeatChannel::join(second.options(1, 2), join_token).has_value());
}

TEST(SeatChannel, TheAddressesOfItsNameAreLookedUpAndTried) {
    EXPECT_THAT(*seats::addresses_of("::1"), ElementsAre("::1"));
    EXPECT_THAT(*seats::addresses_of("localhost"), testing::Contains("127.0.0.1"));
    EXPECT_FALSE(seats::addresses_of("no such name"));
    Heard first;
    Heard second;
    auto options = first.options(0, 2);
    options.address = "127.0.0.1";
    auto host = seats::SeatChannel::host(options);
    ASSERT_TRUE(host.has_value());
    seats::JoinToken join_token = (*host)->join_token();
    join_token.machine = "elsewhere";  // so that loopback is not tried of itself
    join_token.addresses = {"255.255.255.255"};
    options = second.options(1, 2);
    options.computer = "localhost";
    EXPECT_TRUE(seats::SeatChannel::join(options, join_token).has_value());
}

TEST(SeatChannel, AHostThatCannotBeReachedIsGivenUpInTime) {
    Heard second;
    const seats::JoinToken nobody{"run", seats::SeatKeys::make(), "elsewhere", {"127.0.0.1"}, 1};
    const auto joined = seats::SeatChannel::join(second.options(1, 2), nobody, milliseconds(100));
    ASSERT_FALSE(joined.has_value());
    EXPECT_THAT(joined.error().problems.front(), HasSubstr("port 1 of 127.0.0.1"));
}

TEST(SeatChannel, ClocksOfOneMachineAgreeWithinTheirBound) {
    Heard first;
    Heard second;
    auto host = seats::SeatChannel::host(first.options(0, 2));
    ASSERT_TRUE(host.has_value());
    auto one = seats::SeatChannel::join(second.options(1, 2), (*host)->join_token());
    ASSERT_TRUE(one.has_value());
    const auto reading = (*one)->measure_clock(20, seconds(10));
    ASSERT_TRUE(reading.has_value());
    EXPECT_LE(std::abs(reading->offset.ns), reading->bound.ns);
    EXPECT_GT(reading->bound.ns, 0);
}

TEST(ClockEstimate, TakesTheQuickestExchangeAndSaysHowWrongItMayBe) {
    seats::ClockEstimate estimate;
    EXPECT_FALSE(estimate.best().has_value());
    // Theirs is 1000 ahead; the way there takes 10, the answer 5, the way back 30.
    estimate.add({100}, {1110}, {1115}, {145});
    ASSERT_TRUE(estimate.best().has_value());
    EXPECT_EQ(estimate.best()->bound.ns, 20);
    EXPECT_EQ(estimate.best()->offset.ns, 990);  // within 20 of 1000
    estimate.add({200}, {1300}, {1300}, {400});  // slower: no better
    EXPECT_EQ(estimate.best()->offset.ns, 990);
    estimate.add({500}, {1501}, {1501}, {502});
    EXPECT_EQ(estimate.best()->offset.ns, 1000);
    EXPECT_EQ(estimate.best()->bound.ns, 1);
    EXPECT_EQ(estimate.best()->theirs({7}).ns, 1007);
    EXPECT_EQ(estimate.best()->own({1007}).ns, 7);
}

}  // namespace
}  // namespace streamsim::run
