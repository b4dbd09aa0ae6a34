// host and join from outside: seats that meet play what one process plays, and each that is lost, late or wrong
// is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <thread>

#include "real/lab.h"

namespace streamsim::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::int64_t kStartsAgreeNs = 2'000'000;

/// A port of this computer that nobody has at the moment.
std::uint16_t free_port() {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&at), size), 0);
    getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size);
    close(fd);
    return ntohs(at.sin_port);
}

/// Waits for a text of a program; false: it does not come within half a minute.
bool says(Process& process, const std::string& text) {
    for (int i = 0; i < 600; ++i) {
        if ((process.out_so_far() + process.err_so_far()).find(text) != std::string::npos) return true;
        sleep_ms(50);
    }
    return false;
}

/// A host and its seats on this computer, or on those of a lab.
class Meeting {
public:
    explicit Meeting(int seats, const std::string& target, const std::string& duration = "3s")
        : seats_(seats), target_(target) {
        const Json scenario = {
            {"schema", "streamsim.scenario"},
            {"version", 1},
            {"description", "a meeting"},
            {"seed", 1},
            {"duration", duration},
            {"seats",
             {{{"count", seats},
               {"target", target},
               {"streams", {{{"format", "prores-hd"}, {"count", 2}, {"clip_duration", "1s"}}}}}}}};
        write_text(document(), scenario.dump());
    }

    std::string document() const { return dir_ / "day.json"; }
    std::string key() const { return dir_ / "day.key"; }
    std::string result_file() const { return dir_ / "all.json"; }
    Json result() const { return read_json(result_file()); }
    std::string file(const std::string& name) const { return dir_ / name; }

    Spawn host_line(const std::vector<std::string>& more = {}) const {
        Spawn spawn;
        spawn.args = {"host",   document(),    "--seats",  std::to_string(seats_),
                      "--key",  key(),         "--listen", "0.0.0.0:" + std::to_string(port_),
                      "--json", result_file(), "--quiet"};
        spawn.args.insert(spawn.args.end(), more.begin(), more.end());
        spawn.directory = dir_.path().string();
        return spawn;
    }
    Spawn seat_line(const std::string& name, const std::string& address = "127.0.0.1") const {
        Spawn spawn;
        spawn.args = {"join",    address + ":" + std::to_string(port_),          "--key",  key(),
                      "--allow", target_ == "null:" ? file("allowed") : target_, "--name", name};
        return spawn;
    }
    std::unique_ptr<Process> host(const std::vector<std::string>& more = {}) const {
        auto process = std::make_unique<Process>(streamsim_binary(), host_line(more));
        EXPECT_TRUE(says(*process, "streamsim join"));
        return process;
    }
    std::unique_ptr<Process> seat(const std::string& name) const {
        return std::make_unique<Process>(streamsim_binary(), seat_line(name));
    }
    std::vector<std::unique_ptr<Process>> all_seats() const {
        std::vector<std::unique_ptr<Process>> all;
        for (int i = 0; i < seats_; ++i) all.push_back(seat("edit" + std::to_string(i)));
        return all;
    }
    Json alone() const {
        const Finished one = streamsim({"run", document(), "--quiet", "--json", file("one.json")});
        EXPECT_EQ(one.exit_code, 0) << one.text();
        return read_json(file("one.json"));
    }

    void use_port(std::uint16_t port) { port_ = port; }
    std::uint16_t port() const { return port_; }

private:
    const TempDir dir_;
    const int seats_;
    const std::string target_;
    std::uint16_t port_ = free_port();
};

/// The rules for the result of a meeting in which nothing was missed.
void expect_what_one_process_plays(const Json& all, const Json& one) {
    EXPECT_THAT(result_problems(all), IsEmpty());
    EXPECT_EQ(all["verdict"]["pass"], true) << all["verdict"];
    EXPECT_EQ(all["digest"], one["digest"]);
    for (const char* count : {"frames_scheduled", "frames_on_time", "frames_dropped", "bytes_read"})
        EXPECT_EQ(all["totals"][count], one["totals"][count]) << count;
    for (const Json& seat : all["seats"]) {
        EXPECT_EQ(seat["state"], "complete");
        if (!seat["seats"].empty()) {
            EXPECT_LE(std::abs(seat["start_ns"].get<std::int64_t>()),
                      kStartsAgreeNs + seat["clock_bound_ns"].get<std::int64_t>());
        }
    }
}

class MeetingsOf : public ::testing::TestWithParam<int> {};

TEST_P(MeetingsOf, SeatsPlayWhatOneProcessPlays) {
    const Meeting meeting(GetParam(), "null:");
    const auto host = meeting.host();
    auto seats = meeting.all_seats();
    for (auto& seat : seats) {
        const Finished ended = seat->wait();
        EXPECT_EQ(ended.exit_code, 0) << ended.text();
    }
    const Finished ended = host->wait();
    ASSERT_EQ(ended.exit_code, 0) << ended.text();
    expect_what_one_process_plays(meeting.result(), meeting.alone());
}

INSTANTIATE_TEST_SUITE_P(Sizes, MeetingsOf, ::testing::Values(1, 2, 8, 40));

TEST(Meeting, MediaAreMadeByASeatAndPlayedByAll) {
    const TempDir media;
    const Meeting meeting(2, media.path().string());
    const auto host = meeting.host({"--yes"});
    auto seats = meeting.all_seats();
    const Finished ended = host->wait();
    for (auto& seat : seats) EXPECT_EQ(seat->wait().exit_code, 0);
    ASSERT_LE(ended.exit_code, 1) << ended.text();  // 1: frames were late on this machine
    EXPECT_EQ(meeting.result()["streams"].size(), 4u);
    EXPECT_GT(meeting.result()["totals"]["bytes_read"], 0);
}

TEST(Meeting, ASeatThatIsStartedFirstWaitsForItsHost) {
    const Meeting meeting(1, "null:");
    { const auto maker = meeting.host(); }  // makes the key
    auto early = meeting.seat("early");
    EXPECT_TRUE(says(*early, "waiting for the host"));
    const auto host = meeting.host();
    EXPECT_EQ(host->wait().exit_code, 0);
    EXPECT_EQ(early->wait().exit_code, 0);
}

TEST(Meeting, SeatsThatAreKilledOrStoppedAreNamedAndWhatTheOthersPlayedIsKept) {
    const Meeting meeting(3, "null:", "16s");
    const auto host = meeting.host();
    auto seats = meeting.all_seats();
    EXPECT_TRUE(says(*host, "edit2) is here"));
    for (auto& seat : seats) EXPECT_TRUE(says(*seat, "joined as seat"));
    sleep_ms(2000);
    seats[0]->send(SIGKILL);
    seats[1]->send(SIGSTOP);
    EXPECT_TRUE(says(*host, "edit1) is cut off: no heartbeat"));
    seats[1]->send(SIGCONT);
    EXPECT_TRUE(says(*host, "edit1) is back"));
    const Finished ended = host->wait();
    EXPECT_EQ(ended.exit_code, 1) << ended.text();
    EXPECT_THAT(ended.text(), HasSubstr("edit0) was lost: its connection ended"));
    const Json result = meeting.result();
    EXPECT_EQ(
        std::ranges::count_if(result["seats"], [](const Json& seat) { return seat["state"] == "missing"; }), 1);
    EXPECT_EQ(result["totals"]["frames_scheduled"], 2 * 2 * 16 * 30);
}

TEST(Meeting, WhoIsLateOrHasNoKeyIsRefusedAndNamed) {
    const Meeting meeting(1, "null:", "4s");
    const auto host = meeting.host();
    const auto seat = meeting.seat("first");
    EXPECT_TRUE(says(*seat, "joined as seat"));
    const Finished late = meeting.seat("late")->wait();
    EXPECT_EQ(late.exit_code, 3) << late.text();
    EXPECT_THAT(late.err, HasSubstr("all places are taken"));
    // The key of another run.
    const Meeting other(1, "null:");
    { const auto maker = other.host(); }
    Spawn line = meeting.seat_line("stranger");
    line.args[3] = other.key();
    Process stranger(streamsim_binary(), line);
    EXPECT_TRUE(says(stranger, "its key is not the one of this run"));
    stranger.send(SIGINT);
    EXPECT_EQ(stranger.wait().exit_code, 130);
    const Finished ended = host->wait();
    EXPECT_EQ(ended.exit_code, 0) << ended.text();
}

TEST(Meeting, KeysThatAreOverOrOpenToOthersAreRefused) {
    const Meeting meeting(1, "null:");
    { const auto maker = meeting.host(); }
    EXPECT_EQ(std::filesystem::status(meeting.key()).permissions() & std::filesystem::perms::mask,
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    Json key = read_json(meeting.key());
    key["expires"] = "2026-01-01T00:00:00Z";
    write_text(meeting.key(), key.dump());
    for (const Spawn& line : {meeting.host_line(), meeting.seat_line("late")}) {
        const Finished refused = streamsim(line);
        EXPECT_EQ(refused.exit_code, 2);
        EXPECT_THAT(refused.err, HasSubstr("its time was over at 2026-01-01"));
    }
    std::filesystem::permissions(meeting.key(), std::filesystem::perms::others_read,
                                 std::filesystem::perm_options::add);
    EXPECT_EQ(streamsim(meeting.seat_line("open")).exit_code, 2);
}

TEST(Meeting, NoSeatReadsOutsideOfWhatItAllows) {
    const TempDir media;
    const Meeting meeting(1, media.path().string());
    const auto host = meeting.host({"--yes"});
    Spawn line = meeting.seat_line("careful");
    line.args[5] = meeting.file("allowed");
    const Finished seat = streamsim(line);
    const Finished ended = host->wait();
    EXPECT_EQ(ended.exit_code, 2) << ended.text();
    EXPECT_THAT(ended.err, HasSubstr("is outside of what this seat allows"));
    EXPECT_TRUE(std::filesystem::is_empty(media.path()));
}

TEST(Meeting, AHostAsksForNothingThatASeatWouldNotDo) {
    const Meeting meeting(1, "null:");
    for (const char* option : {"--faults=x.json", "--journal=/tmp", "--credentials=x"}) {
        const Finished refused = streamsim(meeting.host_line({option}));
        EXPECT_EQ(refused.exit_code, 2) << option;
        EXPECT_THAT(refused.err, HasSubstr("is not for seats that join"));
    }
}

TEST(Meeting, WhatWasPlayedOutlivesTheHost) {
    const TempDir allowed;
    const Meeting meeting(2, "null:", "6s");
    auto host = meeting.host();
    std::vector<std::unique_ptr<Process>> seats;
    for (const char* name : {"a", "b"}) {
        Spawn line = meeting.seat_line(name);
        line.args[5] = allowed.path().string();
        seats.push_back(std::make_unique<Process>(streamsim_binary(), line));
    }
    for (auto& seat : seats) EXPECT_TRUE(says(*seat, "joined as seat"));
    sleep_ms(2000);
    host->send(SIGKILL);
    (void)host->wait();
    host = meeting.host({"--within", "20s"});  // of another run
    std::vector<std::string> merge = {"report", "--merge", "--json", meeting.file("merged.json"), "--quiet"};
    for (auto& seat : seats) EXPECT_THAT(seat->wait().err, HasSubstr("has what this seat played"));
    for (const auto& entry : std::filesystem::directory_iterator(allowed.path())) merge.push_back(entry.path());
    EXPECT_EQ(merge.size(), 7u);
    (void)streamsim(merge);
    EXPECT_EQ(read_json(meeting.file("merged.json"))["totals"]["frames_scheduled"], 2 * 2 * 6 * 30);
}

/// Passes bytes on between a port and another, and keeps them.
class Wire {
public:
    explicit Wire(std::uint16_t to) : to_(to), listener_(socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in at = loopback(0);
        socklen_t size = sizeof at;
        EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&at), size), 0);
        EXPECT_EQ(listen(listener_, 4), 0);
        getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size);
        port_ = ntohs(at.sin_port);
        thread_ = std::thread([this] { carry(); });
    }
    ~Wire() {
        stopped_ = true;
        thread_.join();
        close(listener_);
    }
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;
    std::uint16_t port() const { return port_; }
    /// REQUIRES: the programs at both ends have ended.
    std::string finish() {
        stopped_ = true;
        thread_.join();
        thread_ = std::thread([] {});
        return bytes_;
    }

private:
    static sockaddr_in loopback(std::uint16_t port) {
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_port = htons(port);
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return at;
    }
    void carry() {
        std::vector<std::array<int, 2>> pairs;
        while (!stopped_) {
            std::vector<pollfd> all = {{listener_, POLLIN, 0}};
            for (const auto& pair : pairs) {
                for (const int fd : pair) all.push_back({fd, POLLIN, 0});
            }
            if (poll(all.data(), all.size(), 100) <= 0) continue;
            for (std::size_t i = 1; i < all.size(); ++i) {
                if (all[i].revents == 0 || all[i].fd < 0) continue;
                auto& pair = pairs[(i - 1) / 2];
                std::array<char, 65536> some{};
                const ssize_t got = recv(all[i].fd, some.data(), some.size(), 0);
                if (got > 0) {
                    bytes_.append(some.data(), static_cast<std::size_t>(got));
                    (void)send(pair[i % 2 == 1 ? 1 : 0], some.data(), static_cast<std::size_t>(got),
                               MSG_NOSIGNAL);
                } else {
                    for (int& fd : pair) close(std::exchange(fd, -1));
                }
            }
            if (all[0].revents != 0) {
                const int there = socket(AF_INET, SOCK_STREAM, 0);
                const sockaddr_in at = loopback(to_);
                (void)connect(there, reinterpret_cast<const sockaddr*>(&at), sizeof at);
                pairs.push_back({accept(listener_, nullptr, nullptr), there});
            }
        }
        for (const auto& pair : pairs) {
            for (const int fd : pair) close(fd);
        }
    }

    const std::uint16_t to_;
    const int listener_;
    std::uint16_t port_ = 0;
    std::atomic<bool> stopped_ = false;
    std::string bytes_;
    std::thread thread_;
};

TEST(Meeting, ACaptureOfTheWireShowsNoNameNoPathAndNoKey) {
    const TempDir media;
    Meeting meeting(1, media.path().string());
    const auto host = meeting.host({"--yes"});
    Wire wire(meeting.port());
    meeting.use_port(wire.port());
    const auto seat = meeting.seat("the-name-of-this-seat");
    EXPECT_EQ(seat->wait().exit_code, 0);
    EXPECT_LE(host->wait().exit_code, 1);
    const std::string bytes = wire.finish();
    EXPECT_GT(bytes.size(), 10'000u);
    EXPECT_THAT(bytes, HasSubstr("CURVE"));
    const Json key = read_json(meeting.key());
    for (const std::string& secret :
         {std::string("the-name-of-this-seat"), media.path().string(), std::string("prores"),
          std::string("schema"), std::string("\"do\""), key["host"]["secret"].get<std::string>(),
          key["seat"]["secret"].get<std::string>(), key["host"]["public"].get<std::string>(),
          key["seat"]["public"].get<std::string>()})
        EXPECT_EQ(bytes.find(secret), std::string::npos) << secret;
}

/// Over cables that delay and lose.
TEST(Meeting, SeatsFarAwayBeginTogetherAndOneThatIsCutOffDeliversWhenItIsBack) {
    const Lab lab({"--seats", "3", "--wire", STREAMSIM_WIRE_BINARY});
    if (lab.skipped_because()) GTEST_SKIP() << *lab.skipped_because();
    ASSERT_EQ(lab.problem(), "");
    const Meeting meeting(2, "null:", "20s");
    for (const char* seat : {"0", "1"}) {
        lab.lab({"wire", seat, "delay_us 10000"});
        lab.lab({"wire", seat, "loss 1"});
    }
    const auto host = lab.streamsim(meeting.host_line(), 2);
    EXPECT_TRUE(says(*host, "streamsim join"));
    const std::string address = lab.facts()["seats"][2]["address"];
    const auto near = lab.streamsim(meeting.seat_line("near", address), 0);
    const auto far = lab.streamsim(meeting.seat_line("far", address), 1);
    EXPECT_TRUE(says(*host, "near) is here"));
    EXPECT_TRUE(says(*far, "joined as seat"));
    sleep_ms(5000);
    lab.lab({"cut", "1"});
    EXPECT_TRUE(says(*host, "far) is cut off"));
    sleep_ms(15'000);
    lab.lab({"mend", "1"});
    EXPECT_TRUE(says(*host, "far) is back"));
    const Finished ended = host->wait();
    EXPECT_EQ(ended.exit_code, 0) << ended.text();
    expect_what_one_process_plays(meeting.result(), meeting.alone());
}

}  // namespace
}  // namespace streamsim::tests
