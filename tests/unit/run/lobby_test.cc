// Meetings before they begin: who is there, whose place is free again, and when the run starts.
#include "seats/lobby.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "seats/ranks.h"
#include "unit/run/relay.h"

namespace streamsim::run {
namespace {

using seats::Lobby;
using seats::StartRule;
using seats::StartWatch;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

Lobby lobby_of(std::uint32_t seats, std::uint32_t here, bool ready = true) {
    Lobby lobby;
    lobby.seats.resize(seats);
    for (std::uint32_t i = 0; i < here; ++i) {
        lobby.seats[i].here = true;
        if (ready) lobby.seats[i].report.emplace();
    }
    return lobby;
}

/// "wait", "begin", or the error.
std::string at(StartWatch& watch, std::int64_t passed_s, const Lobby& lobby, bool key = false) {
    const auto begins = watch.begins(lobby, seconds(passed_s), key);
    if (!begins) return begins.error().problems.front();
    return *begins ? "begin" : "wait";
}

TEST(StartRule, WithoutAnyIsThatAllAreReady) {
    StartWatch watch({});
    EXPECT_EQ(at(watch, 1'000'000, lobby_of(3, 2)), "wait");
    EXPECT_EQ(at(watch, 1'000'000, lobby_of(3, 3, false)), "wait");
    EXPECT_EQ(at(watch, 1'000'000, lobby_of(3, 3)), "begin");
    EXPECT_EQ(at(watch, 0, lobby_of(3, 0), true), "wait");  // nobody to play
    EXPECT_EQ(at(watch, 0, lobby_of(3, 1), true), "begin");
}

TEST(StartRule, AQuorumAwaitsTheOthersAsLongAsSomeCome) {
    StartRule rule;
    rule.quorum = 2;
    StartWatch watch(rule);
    EXPECT_EQ(at(watch, 100, lobby_of(4, 1)), "wait");
    EXPECT_EQ(at(watch, 101, lobby_of(4, 2)), "wait");
    EXPECT_EQ(at(watch, 110, lobby_of(4, 3)), "wait");
    EXPECT_EQ(at(watch, 119, lobby_of(4, 3)), "wait");
    EXPECT_EQ(at(watch, 120, lobby_of(4, 3)), "begin");
    EXPECT_EQ(at(watch, 121, lobby_of(4, 1), true), "begin");  // a person wants it
    EXPECT_EQ(at(watch, 122, lobby_of(4, 4)), "begin");
}

TEST(StartRule, ATimeEndsTheWaitOneWayOrTheOther) {
    StartRule rule;
    rule.quorum = 2;
    rule.within = seconds(30);
    StartWatch watch(rule);
    EXPECT_EQ(at(watch, 29, lobby_of(4, 3)), "wait");
    EXPECT_EQ(at(watch, 30, lobby_of(4, 2)), "begin");
    EXPECT_EQ(at(watch, 30, lobby_of(4, 1)), "1 of 4 seats came within 30.0 s, and 2 were to come");
    rule.quorum.reset();
    StartWatch all(rule);
    EXPECT_EQ(at(all, 30, lobby_of(4, 3)), "3 of 4 seats came within 30.0 s, and 4 were to come");
}

TEST(StartRule, ATimeOfDayIsNotBeforeAndNotAfter) {
    StartRule rule;
    rule.at = seconds(60);
    rule.at_text = "14:30";
    StartWatch watch(rule);
    EXPECT_EQ(at(watch, 59, lobby_of(2, 2)), "wait");
    EXPECT_EQ(at(watch, 60, lobby_of(2, 2)), "begin");
    EXPECT_EQ(at(watch, 60, lobby_of(2, 1)), "1 of 2 seats came until 14:30, and 2 were to come");
    rule.quorum = 1;
    StartWatch quorum(rule);
    EXPECT_EQ(at(quorum, 60, lobby_of(2, 1)), "begin");
}

TEST(StartRule, AKeyAloneBegins) {
    StartRule rule;
    rule.by_key = true;
    StartWatch watch(rule);
    EXPECT_EQ(at(watch, 100, lobby_of(2, 2)), "wait");
    EXPECT_EQ(at(watch, 100, lobby_of(2, 2), true), "begin");
}

/// The host of a meeting, which sees its lobby on a thread of its own.
class Meeting {
public:
    explicit Meeting(std::uint32_t seats) {
        meeting_.seats = seats;
        meeting_.address = "127.0.0.1";
        meeting_.keys = seats::SeatKeys::make();
        meeting_.version = "1";
        meeting_.targets = {"/mnt/a", "/mnt/b"};
        host_ = std::move(seats::Ranks::meet(meeting_)).value();
        meeting_.port = host_->join_token().port;
        thread_ = std::thread([this] {
            (void)host_->wait_for_seats([this](const Lobby& lobby) -> Result<bool> {
                const std::lock_guard lock(mutex_);
                for (const std::string& each : lobby.news) news_.push_back(each);
                lobby_ = lobby;
                return begins_.load();
            });
        });
    }
    ~Meeting() {
        begin();
        host_->stop();
    }
    Meeting(const Meeting&) = delete;
    Meeting& operator=(const Meeting&) = delete;

    static std::vector<seats::TargetSeen> look_at(const std::vector<std::string>& targets) {
        std::vector<seats::TargetSeen> seen;
        for (const std::string& each : targets)
            seen.push_back({each, each == "/mnt/b" ? "/mnt/b: is not mounted" : "", 4711});
        return seen;
    }
    Result<std::unique_ptr<seats::Ranks>> join(const std::string& name,
                                               const std::string& version = "1",
                                               const seats::LookAtTargets& look = look_at,
                                               std::optional<std::uint16_t> port = std::nullopt) const {
        seats::Ranks::Meeting meeting = meeting_;
        meeting.version = version;
        meeting.port = port.value_or(meeting.port);
        return seats::Ranks::join_meeting(
            meeting, {name, {"/mnt"}, look}, [] { return false; }, [](const std::string&) {});
    }
    void begin() {
        begins_ = true;
        if (thread_.joinable()) thread_.join();
    }
    /// The lobby when `holds` of it, or after ten seconds.
    Lobby when(const std::function<bool(const Lobby&)>& holds) {
        for (int i = 0; i < 200; ++i) {
            {
                const std::lock_guard lock(mutex_);
                if (holds(lobby_)) break;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
        const std::lock_guard lock(mutex_);
        return lobby_;
    }
    seats::Ranks& host() { return *host_; }
    std::uint16_t port() const { return meeting_.port; }
    std::vector<std::string> news() {
        const std::lock_guard lock(mutex_);
        return news_;
    }

private:
    seats::Ranks::Meeting meeting_;
    std::unique_ptr<seats::Ranks> host_;
    std::mutex mutex_;
    Lobby lobby_;
    std::vector<std::string> news_;
    std::atomic<bool> begins_ = false;
    std::thread thread_;
};

TEST(Lobby, ShowsWhoIsThereAndHowItFindsTheTargets) {
    Meeting meeting(2);
    const auto seat = meeting.join("edit1");
    ASSERT_TRUE(seat.has_value());
    const Lobby lobby = meeting.when([](const Lobby& now) { return now.ready() == 1; });
    ASSERT_EQ(lobby.ready(), 1u);
    ASSERT_EQ(lobby.seats.size(), 2u);
    const seats::LobbySeat& there = lobby.seats.front();
    EXPECT_THAT(there.name, HasSubstr("edit1"));
    EXPECT_THAT(there.allows, ElementsAre("/mnt"));
    ASSERT_TRUE(there.report.has_value());
    ASSERT_EQ(there.report->targets.size(), 2u);
    EXPECT_EQ(there.report->targets[0].problem, "");
    EXPECT_EQ(there.report->targets[0].free_bytes, 4711u);
    EXPECT_EQ(there.report->targets[1].problem, "/mnt/b: is not mounted");
    ASSERT_TRUE(there.report->clock_error && there.report->ahead);
    // One computer has one time of day; reading it here and there takes a moment.
    EXPECT_LT(std::abs(there.report->ahead->ns), there.report->clock_error->ns + 1'000'000'000);
    EXPECT_FALSE(lobby.seats.back().here);
    EXPECT_THAT(meeting.news(), Contains(HasSubstr("(host edit1): /mnt/b: is not mounted")));
}

TEST(Lobby, ThePlaceOfASeatThatLeftIsFreeUntilTheRunBegins) {
    Meeting meeting(1);
    auto first = meeting.join("first");
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(meeting.when([](const Lobby& now) { return now.ready() == 1; }).ready(), 1u);
    const auto beyond = meeting.join("beyond");
    ASSERT_FALSE(beyond.has_value());
    EXPECT_THAT(beyond.error().problems.front(),
                HasSubstr("the host has refused this one: all places are taken"));
    *first = nullptr;
    EXPECT_TRUE(meeting.when([](const Lobby& now) { return now.seats.front().gone; }).seats.front().gone);
    auto second = meeting.join("second");
    ASSERT_TRUE(second.has_value());
    EXPECT_THAT(meeting.when([](const Lobby& now) { return now.ready() == 1; }).seats.front().name,
                HasSubstr("second"));
    meeting.begin();
    *second = nullptr;
    EXPECT_FALSE(meeting.join("third").has_value());
    EXPECT_THAT(meeting.news(), Contains(HasSubstr("beyond was refused: all places are taken")));
}

TEST(Lobby, ASeatThatStillLooksWhenTheRunBeginsTakesNoPart) {
    Meeting meeting(2);
    const auto ready = meeting.join("ready");
    ASSERT_TRUE(ready.has_value());
    std::promise<void> begun;
    auto joining = std::async(std::launch::async, [&] {
        return meeting.join("slow", "1", [&](const std::vector<std::string>& targets) {
            begun.get_future().wait();
            return Meeting::look_at(targets);
        });
    });
    EXPECT_EQ(meeting.when([](const Lobby& now) { return now.here() == 2; }).here(), 2u);
    meeting.begin();
    EXPECT_TRUE(meeting.host().share("words").has_value());
    EXPECT_EQ((*ready)->share({}).value(), "words");
    begun.set_value();
    const auto slow = joining.get();
    ASSERT_TRUE(slow.has_value());
    EXPECT_FALSE((*slow)->share({}).has_value());
    EXPECT_THAT(
        (*slow)->why_rank_0_is_gone().problems,
        ElementsAre("the host has ended: the run has begun without this seat: it still looked at the targets"));
    (void)(*slow)->finish(3);
    auto agreed = std::async(std::launch::async, [&] { return (*ready)->agree({}).has_value(); });
    EXPECT_TRUE(meeting.host().agree({}).has_value()) << "the error of the other seat is not of this run";
    EXPECT_TRUE(agreed.get());
}

TEST(Lobby, ASeatThatIsCutOffWhenTheRunBeginsTakesNoPart) {
    Meeting meeting(2);
    test::Relay relay(meeting.port());
    const auto ready = meeting.join("ready");
    const auto far = meeting.join("far", "1", Meeting::look_at, relay.port());
    ASSERT_TRUE(ready.has_value() && far.has_value());
    EXPECT_EQ(meeting.when([](const Lobby& now) { return now.ready() == 2; }).ready(), 2u);
    relay.cut(true);
    EXPECT_EQ(meeting.when([](const Lobby& now) { return now.ready() == 1; }).ready(), 1u);
    meeting.begin();
    EXPECT_TRUE(meeting.host().share("words").has_value());
    EXPECT_EQ((*ready)->share({}).value(), "words");
    auto agreed = std::async(std::launch::async, [&] { return (*ready)->agree({}).has_value(); });
    EXPECT_TRUE(meeting.host().agree({}).has_value());
    EXPECT_TRUE(agreed.get());
    EXPECT_THAT(meeting.host().newly_lost(),
                Contains(HasSubstr("(host far) was lost: it was cut off when the run began")));
    relay.cut(false);
    EXPECT_FALSE((*far)->share({}).has_value());
    EXPECT_THAT((*far)->why_rank_0_is_gone().problems,
                ElementsAre("the host has ended: the run has begun without this seat: it was cut off when the "
                            "run began"));
    (void)(*far)->finish(3);
}

TEST(Lobby, AnotherVersionIsRefusedByItsName) {
    Meeting meeting(1);
    const auto other = meeting.join("old", "0");
    ASSERT_FALSE(other.has_value());
    EXPECT_THAT(other.error().problems.front(), HasSubstr("it is streamsim 0, and this is 1"));
}

}  // namespace
}  // namespace streamsim::run
