#include "seats/seat_channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <list>
#include <thread>

#include "seats/join_token.h"

namespace streamsim::run {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kKeepsFreedMemory = true;
#elif defined(__has_feature)
constexpr bool kKeepsFreedMemory = __has_feature(address_sanitizer);
#else
constexpr bool kKeepsFreedMemory = false;
#endif

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
    explicit Stranger(std::uint16_t port) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
        const sockaddr_in to = loopback(port);
        EXPECT_EQ(connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    }
    ~Stranger() { close(fd_); }
    Stranger(const Stranger&) = delete;
    Stranger& operator=(const Stranger&) = delete;
    void send(const std::string& text) const {
        std::string framed(4, '\0');
        for (std::size_t i = 0; i < 4; ++i) framed[i] = static_cast<char>(text.size() >> (8 * (3 - i)) & 0xff);
        framed += text;
        EXPECT_EQ(write(fd_, framed.data(), framed.size()), static_cast<ssize_t>(framed.size()));
    }
    void send_bytes(const std::string& bytes) const {
        (void)::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    bool is_closed_by_the_other_end() const {
        char byte = 0;
        return read(fd_, &byte, 1) <= 0;
    }

    static bool can_connect(std::uint16_t port) {
        const int fd = socket(AF_INET, SOCK_STREAM, 0);
        const sockaddr_in to = loopback(port);
        const bool connected = connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
        close(fd);
        return connected;
    }

private:
    static sockaddr_in loopback(std::uint16_t port) {
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return to;
    }
    int fd_;
};

TEST(JoinToken, IsTheSameAfterAJourney) {
    const seats::JoinToken typed{"1f0c", "secret", "h0/x", {"10.77.0.10", "fd00::1"}, 4711};
    const auto read = seats::JoinToken::parse(typed.to_text());
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->run_id, "1f0c");
    EXPECT_EQ(read->token, "secret");
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
    const Stranger silent((*host)->join_token().port);  // it knows the token, and has no heartbeat
    silent.send_bytes(seats::seat_greeting((*host)->join_token().token, 2));
    EXPECT_TRUE(first.comes(2, "lost: no heartbeat for 300.0 ms"));
}

TEST(SeatChannel, ARankWhoseConnectionEndsWithoutAWordIsLostAtOnce) {
    Heard first;
    auto host = seats::SeatChannel::host(first.options(0, 2));
    ASSERT_TRUE(host.has_value());
    {
        const Stranger dying((*host)->join_token().port);
        dying.send_bytes(seats::seat_greeting((*host)->join_token().token, 1));
        dying.send(R"({"do":"hello","introduction":null})");
        EXPECT_TRUE(first.comes(1, "hello"));
    }
    EXPECT_TRUE(first.comes(1, "lost: its connection ended"));
}

TEST(SeatChannel, StrangersAreNotLetInAndDisturbNobody) {
    Heard first;
    auto host = seats::SeatChannel::host(first.options(0, 2));
    ASSERT_TRUE(host.has_value());
    const std::string token = (*host)->join_token().token;
    for (const std::string& bytes :
         {seats::seat_greeting(std::string(32, '0'), 1), seats::seat_greeting(token, 7),
          seats::seat_greeting(token, 0),
          seats::seat_greeting(token, 1).replace(seats::kGreetingBytes - 1, 1, "x"),
          std::string("GET / HTTP/1.1\r\nHost: a-name-that-is-long-enough.example\r\n\r\n"),
          std::string(100'000, ' '), Json{{"do", "hello"}, {"token", token}, {"rank", 1}}.dump()}) {
        const Stranger stranger((*host)->join_token().port);
        stranger.send_bytes(bytes);
        EXPECT_TRUE(stranger.is_closed_by_the_other_end()) << bytes.substr(0, 60);
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
    const std::string half = seats::seat_greeting((*host)->join_token().token, 2).substr(0, 40);
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
    if (!kKeepsFreedMemory) EXPECT_LT(resident_kb() - before_kb, 16'000);
    EXPECT_THAT(first.of(1), testing::Not(testing::Contains(HasSubstr("lost"))));
    EXPECT_THAT(first.of(2), testing::Not(testing::Contains(HasSubstr("lost"))));
    // All are here: nobody else is listened to.
    for (const Stranger& stranger : strangers) EXPECT_TRUE(stranger.is_closed_by_the_other_end());
    EXPECT_FALSE(Stranger::can_connect(port));
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

TEST(SeatGreeting, IsThatOfARankOnlyWithTheWholeToken) {
    const std::string token = "0123456789abcdef0123456789abcdef";
    EXPECT_EQ(seats::rank_that_greets(seats::seat_greeting(token, 4711), token), 4711u);
    std::string other = token;
    other.back() = '0';
    EXPECT_FALSE(seats::rank_that_greets(seats::seat_greeting(other, 1), token));
    EXPECT_FALSE(seats::rank_that_greets(seats::seat_greeting(token, 1) + " ", token));
    EXPECT_FALSE(seats::rank_that_greets("", token));
    EXPECT_TRUE(seats::equal_in_constant_time("ab", "ab"));
    EXPECT_FALSE(seats::equal_in_constant_time("ab", "a"));
    EXPECT_FALSE(seats::equal_in_constant_time("ab", "ac"));
    EXPECT_LE(seats::kGreetingBytes, 1024u);
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

TEST(SeatChannel, AHostThatCannotBeReachedIsGivenUpInTime) {
    Heard second;
    const seats::JoinToken nobody{"run", "token", "elsewhere", {"127.0.0.1"}, 1};
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
