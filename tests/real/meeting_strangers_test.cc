// Meetings beside strangers, and seats and hosts that are not what they should be: nobody is let in without the
// key, nobody disturbs the run, and no seat does more than play.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <sstream>
#include <thread>

#include "real/meeting.h"

namespace streamsim::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using Seats = std::vector<std::unique_ptr<Process>>;

constexpr std::size_t kStrangers = 1000;
const std::string kNobody = "somebody was refused: without the key of this run";

/// The first bytes of ZeroMQ, of a client that calls for this mechanism.
std::string greeting_of(const std::string& mechanism) {
    std::string text("\xff\0\0\0\0\0\0\0\x01\x7f\x03\x01", 12);
    text += mechanism;
    text.resize(64, '\0');
    return text;
}

/// The first words of strangers. Whoever begins with a single byte sends one more now and then.
std::vector<std::string> openings() {
    std::string hello("\x04\xc8\x05HELLO\x01\0", 10);  // a command of 200 bytes, as CURVE begins with
    hello.resize(202, 'x');
    return {std::string(100'000, '\xff'),
            std::string("GET / HTTP/1.1\r\nHost: streamsim.example\r\n\r\n"),
            greeting_of("CURVE").substr(0, 11),
            greeting_of("NULL") + std::string("\x04\x19\x05READY", 8),
            greeting_of("CURVE") + hello,
            greeting_of("CURVE"),
            "s"};
}

/// Lets this process have as many connections as the tests need. False: the system does not allow them.
bool may_have_strangers() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur >= 2 * kStrangers;
}

/// Connections that come again whenever they are closed.
class Crowd {
public:
    Crowd(std::uint16_t port, std::size_t count)
        : port_(port), openings_(openings()), sockets_(count, -1), connections_(count) {
        for (std::size_t i = 0; i < count; ++i) connect_again(i);
        thread_ = std::thread([this] { talk(); });
    }
    ~Crowd() {
        stopped_ = true;
        thread_.join();
        for (const int fd : sockets_) close(fd);
    }
    Crowd(const Crowd&) = delete;
    Crowd& operator=(const Crowd&) = delete;
    /// Ends the crowd. Returns how often the least successful of them has connected.
    std::size_t finish() {
        stopped_ = true;
        thread_.join();
        thread_ = std::thread([] {});
        return *std::ranges::min_element(connections_);
    }

private:
    void connect_again(std::size_t i) {
        if (sockets_[i] >= 0) close(sockets_[i]);
        sockets_[i] = connection_to(port_);
        if (sockets_[i] < 0) return;
        ++connections_[i];
        fcntl(sockets_[i], F_SETFL, O_NONBLOCK);
        say(i, openings_[i % openings_.size()]);
    }
    void say(std::size_t i, const std::string& text) const {
        (void)send(sockets_[i], text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    bool is_closed(std::size_t i) const {
        std::array<char, 4096> some{};
        ssize_t got = 0;
        while ((got = recv(sockets_[i], some.data(), some.size(), MSG_DONTWAIT)) > 0) {
        }
        return got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
    }
    void talk() {
        while (!stopped_) {
            for (std::size_t i = 0; i < sockets_.size() && !stopped_; ++i) {
                if (is_closed(i)) connect_again(i);
                if (openings_[i % openings_.size()].size() == 1) say(i, "s");
            }
            sleep_ms(50);
        }
    }

    const std::uint16_t port_;
    const std::vector<std::string> openings_;
    std::vector<int> sockets_;
    std::vector<std::size_t> connections_;  // of each
    std::atomic<bool> stopped_ = false;
    std::thread thread_;
};

int count_of(const std::string& text, const std::string& word) {
    int count = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
    return count;
}

/// The host and its seats, which were disturbed by strangers only.
void expect_undisturbed(const Meeting& meeting, Process& host, const Seats& seats) {
    for (const auto& seat : seats) {
        const Finished ended = seat->wait();
        EXPECT_EQ(ended.exit_code, 0) << ended.text();
    }
    const Finished ended = host.wait();
    EXPECT_EQ(ended.exit_code, 0) << ended.text();
    EXPECT_EQ(count_of(ended.err, " is here: "), static_cast<int>(seats.size())) << ended.err;
    EXPECT_THAT(ended.err, AllOf(HasSubstr(kNobody), Not(HasSubstr("is cut off")), Not(HasSubstr("lost"))));
    expect_what_one_process_plays(meeting.result(), meeting.alone());
}

TEST(MeetingBesideStrangers, PlaysWhatItPlaysAlone) {
    if (!may_have_strangers()) GTEST_SKIP() << "this process may not have " << 2 * kStrangers << " descriptors";
    const Meeting meeting(3, "null:", "5s");
    const auto host = meeting.host();
    Crowd crowd(meeting.port(), kStrangers);
    sleep_ms(2500);  // longer than the time that each of them has
    Seats seats;
    seats.push_back(meeting.seat("edit0"));
    EXPECT_TRUE(says(*host, "edit0) is here"));
    for (const char* name : {"edit1", "edit2"}) seats.push_back(meeting.seat(name));
    for (const auto& seat : seats) (void)seat->wait();
    EXPECT_GE(crowd.finish(), 2u) << "each of them is sent away, and comes again";
    expect_undisturbed(meeting, *host, seats);
}

std::size_t descriptors_of(pid_t pid) {
    std::error_code error;
    const std::filesystem::directory_iterator all("/proc/" + std::to_string(pid) + "/fd", error);
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// A host that may have few descriptors, while many connections come.
TEST(MeetingBesideStrangers, PlaysOnWhereTheyTakeAllDescriptorsOfTheHost) {
    const Meeting meeting(2, "null:", "6s");
    Spawn line = meeting.host_line();
    constexpr std::size_t kDescriptors = 200;
    const std::string limit = std::to_string(kDescriptors);
    line.args.insert(line.args.begin(), {"--nofile=" + limit + ":" + limit, streamsim_binary()});
    Process host("prlimit", line);
    ASSERT_TRUE(says(host, "streamsim join"));
    const Seats seats = meeting.all_seats();
    for (const auto& seat : seats) ASSERT_TRUE(says(*seat, "joined as seat"));
    const Crowd crowd(meeting.port(), kStrangers);
    std::size_t open = 0;
    for (int i = 0; i < 100 && open < kDescriptors; ++i) {
        open = descriptors_of(host.pid());
        sleep_ms(20);
    }
    EXPECT_GE(open, kDescriptors);
    expect_undisturbed(meeting, host, seats);
}

/// Sends what a seat sent when it joined, part by part, and returns what is answered until the connection ends.
std::string replayed(std::uint16_t port, const std::vector<std::string>& parts, bool at_once) {
    const int fd = connection_to(port);
    EXPECT_GE(fd, 0);
    std::string answers;
    const auto listen_for = [&](int ms) {
        pollfd waiting{fd, POLLIN, 0};
        std::array<char, 65536> some{};
        if (poll(&waiting, 1, ms) <= 0) return true;
        const ssize_t got = recv(fd, some.data(), some.size(), 0);
        if (got > 0) answers.append(some.data(), static_cast<std::size_t>(got));
        return got > 0;
    };
    bool open = true;
    for (const std::string& part : parts) {
        (void)send(fd, part.data(), part.size(), MSG_NOSIGNAL);
        if (!at_once && open) open = listen_for(200);
    }
    for (int i = 0; i < 100 && open; ++i) open = listen_for(100);
    EXPECT_FALSE(open) << "a replayed connection is held for ten seconds";
    close(fd);
    return answers;
}

/// The answer of a host that lets a seat in. Its name is all of it that crosses the wire in clear.
constexpr const char* kReady = "\x05READY";

void expect_refusal(std::uint16_t port, const std::vector<std::string>& parts) {
    EXPECT_THAT(replayed(port, parts, false), AllOf(HasSubstr("\x07WELCOME"), Not(HasSubstr(kReady))));
    EXPECT_THAT(replayed(port, parts, true), Not(HasSubstr(kReady)));
}

TEST(MeetingBesideStrangers, LetsNobodyInWhoReplaysTheHandshakeOfASeat) {
    Meeting meeting(2, "null:", "5s");
    const std::uint16_t port = meeting.port();
    const auto host = meeting.host();
    Wire wire(port);
    Seats seats;
    meeting.use_port(wire.port());
    seats.push_back(meeting.seat("edit0"));
    ASSERT_TRUE(says(*host, "edit0) is here"));
    ASSERT_TRUE(says(*seats[0], "joined as seat"));
    sleep_ms(500);
    const Wire::Kept before = wire.kept();
    ASSERT_GT(before.parts.size(), 2u);
    EXPECT_THAT(before.answers, HasSubstr(kReady));
    expect_refusal(port, before.parts);  // in the lobby
    meeting.use_port(port);
    seats.push_back(meeting.seat("edit1"));
    ASSERT_TRUE(says(*seats[1], "joined as seat"));
    sleep_ms(1000);
    expect_refusal(port, before.parts);  // while it plays
    expect_undisturbed(meeting, *host, seats);
}

TEST(MeetingSeats, MayHaveOneNameAndASeatTooManyIsRefusedAndNamed) {
    const Meeting meeting(2, "null:", "5s");
    const auto host = meeting.host();
    Seats seats;
    for (int i = 0; i < 2; ++i) seats.push_back(meeting.seat("twin"));
    for (const auto& seat : seats) ASSERT_TRUE(says(*seat, "joined as seat"));
    const Finished third = meeting.seat("twin")->wait();
    EXPECT_EQ(third.exit_code, 3) << third.text();
    EXPECT_THAT(third.err, HasSubstr("the host has refused this one: the run has begun"));
    for (const auto& seat : seats) EXPECT_EQ(seat->wait().exit_code, 0);
    const Finished ended = host->wait();
    EXPECT_EQ(ended.exit_code, 0) << ended.text();
    EXPECT_THAT(ended.err, HasSubstr("twin was refused: the run has begun"));
    const Json all = meeting.result();
    ASSERT_EQ(all["seats"].size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(all["seats"][i]["host"]["name"], "twin");
    expect_what_one_process_plays(all, meeting.alone());
}

TEST(MeetingSeats, WhoseHostIsStartedAgainBeforeTheyPlayComeToTheNextOne) {
    const Meeting meeting(2, "null:");
    auto host = meeting.host();
    Seats seats;
    seats.push_back(meeting.seat("early"));
    ASSERT_TRUE(says(*seats.front(), "joined as seat"));
    host->send(SIGKILL);
    (void)host->wait();
    host = meeting.host();
    EXPECT_TRUE(says(*host, "early) is here"));
    EXPECT_TRUE(says(*seats.front(), "it tries on"));
    seats.push_back(meeting.seat("late"));
    for (const auto& seat : seats) EXPECT_EQ(seat->wait().exit_code, 0);
    EXPECT_EQ(host->wait().exit_code, 0);
    expect_what_one_process_plays(meeting.result(), meeting.alone());
}

TEST(MeetingSeats, HearWhyTheirHostEndsBeforeTheyPlay) {
    const Meeting meeting(2, "null:");
    const auto host = meeting.host({"--within", "3s"});
    const Finished seat = meeting.seat("only")->wait();
    EXPECT_EQ(seat.exit_code, 3);
    EXPECT_THAT(seat.err, HasSubstr("the host has ended: 1 of 2 seats came within 3.0 s, and 2 were to come"));
    EXPECT_EQ(host->wait().exit_code, 3);
    Spawn line = meeting.seat_line("lonely");
    line.args.insert(line.args.end(), {"--within", "1s"});
    const Finished lonely = streamsim(line);
    EXPECT_EQ(lonely.exit_code, 3);
    EXPECT_THAT(lonely.err, HasSubstr("no host within 1.0 s"));
}

/// Ctrl-C at one seat is no business of the others.
TEST(MeetingSeats, ThatAreInterruptedEndAlone) {
    const Meeting meeting(meeting_scenario(2, "null:", "5s"));
    const auto host = meeting.host();
    const Seats seats = meeting.all_seats();
    for (const auto& seat : seats) ASSERT_TRUE(says(*seat, "joined as seat"));
    sleep_ms(2500);
    seats.front()->send(SIGINT);
    EXPECT_EQ(seats.front()->wait().exit_code, 130);
    EXPECT_EQ(seats.back()->wait().exit_code, 0);
    EXPECT_EQ(host->wait().exit_code, 1);
    const Json all = meeting.result();
    int complete = 0;
    for (const Json& seat : all["seats"]) {
        if (seat["state"] != "complete") continue;
        ++complete;
        EXPECT_EQ(seat["totals"]["frames_on_time"], 2 * 5 * 30);
    }
    EXPECT_EQ(complete, 1) << all["seats"];
    EXPECT_GT(all["totals"]["frames_scheduled"], 2 * 5 * 30);
}

/// Nobody has played to the end.
TEST(MeetingSeats, ThatAreAllInterruptedEndTheRunAsInterrupted) {
    const Meeting meeting(meeting_scenario(1, "null:", "60s"));
    const auto host = meeting.host();
    const auto seat = meeting.seat("only");
    ASSERT_TRUE(says(*seat, "joined as seat"));
    sleep_ms(2500);
    seat->send(SIGINT);
    EXPECT_EQ(seat->wait().exit_code, 130);
    const Finished ended = host->wait();
    EXPECT_EQ(ended.exit_code, 130) << ended.text();
    const Json all = meeting.result();
    EXPECT_EQ(all["interrupted"], true);
    EXPECT_GT(all["totals"]["frames_on_time"], 0);
}

/// One end of the channel that the test speaks by itself, with the keys of a file.
class OwnEnd {
public:
    OwnEnd(const Meeting& meeting, bool is_host)
        : is_host_(is_host),
          context_(zmq_ctx_new()),
          socket_(zmq_socket(context_, is_host ? ZMQ_ROUTER : ZMQ_DEALER)) {
        const Json key = read_json(meeting.key());
        const int on = 1, off = 0;
        zmq_setsockopt(socket_, ZMQ_LINGER, &off, sizeof off);
        const std::string address = "tcp://127.0.0.1:" + std::to_string(meeting.port());
        if (is_host) {
            zmq_setsockopt(socket_, ZMQ_CURVE_SERVER, &on, sizeof on);
            set(ZMQ_CURVE_SECRETKEY, key["host"]["secret"]);
            EXPECT_EQ(zmq_bind(socket_, address.c_str()), 0);
        } else {
            set(ZMQ_CURVE_SERVERKEY, key["host"]["public"]);
            set(ZMQ_CURVE_PUBLICKEY, key["seat"]["public"]);
            set(ZMQ_CURVE_SECRETKEY, key["seat"]["secret"]);
            EXPECT_EQ(zmq_connect(socket_, address.c_str()), 0);
        }
    }
    ~OwnEnd() {
        zmq_close(socket_);
        zmq_ctx_term(context_);
    }
    OwnEnd(const OwnEnd&) = delete;
    OwnEnd& operator=(const OwnEnd&) = delete;

    /// `number`: 0 for what nobody has to acknowledge.
    void say(std::uint8_t number, const std::string& text) {
        std::array<char, 16> numbers{};
        numbers[7] = static_cast<char>(number);
        numbers[15] = static_cast<char>(heard_);
        if (is_host_) zmq_send(socket_, peer_.data(), peer_.size(), ZMQ_SNDMORE);
        zmq_send(socket_, numbers.data(), numbers.size(), ZMQ_SNDMORE);
        zmq_send(socket_, text.data(), text.size(), 0);
    }
    /// The next message; null: none comes within `ms`.
    Json hear(int ms) {
        zmq_pollitem_t item{socket_, 0, ZMQ_POLLIN, 0};
        if (zmq_poll(&item, 1, ms) <= 0) return {};
        std::vector<std::string> frames;
        int more = 1;
        for (std::size_t size = sizeof more; more != 0; zmq_getsockopt(socket_, ZMQ_RCVMORE, &more, &size)) {
            std::string frame(1 << 20, '\0');
            const int got = zmq_recv(socket_, frame.data(), frame.size(), 0);
            frame.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
            frames.push_back(std::move(frame));
        }
        if (is_host_) peer_ = frames.front();
        const std::string& numbers = frames[frames.size() - 2];
        if (numbers.size() == 16 && numbers[7] != 0) heard_ = static_cast<std::uint8_t>(numbers[7]);
        return frames.back().empty() ? Json::object() : Json::parse(frames.back());
    }

private:
    void set(int option, const std::string& text) {
        EXPECT_EQ(zmq_setsockopt(socket_, option, text.data(), text.size()), 0);
    }

    const bool is_host_;
    void* const context_;
    void* const socket_;
    std::string peer_;
    std::uint8_t heard_ = 0;
};

TEST(MeetingSeats, OfAnotherVersionAreRefusedAndNamed) {
    const Meeting meeting(1, "null:");
    const auto host = meeting.host();
    {
        OwnEnd seat(meeting, false);
        seat.say(1, R"({"do": "hello", "channel": 2, "rank": null, "introduction": {"seat": "old"}})");
        const Json answer = seat.hear(10'000);
        EXPECT_EQ(answer.value("do", ""), "refused") << answer;
        EXPECT_EQ(answer.value("why", ""), "it is another version of streamsim");
    }
    EXPECT_TRUE(says(*host, "old was refused: it is another version of streamsim"));
    Seats seats = meeting.all_seats();
    EXPECT_EQ(seats[0]->wait().exit_code, 0);
    EXPECT_EQ(host->wait().exit_code, 0);
    expect_what_one_process_plays(meeting.result(), meeting.alone());
}

/// A host with the key that has a seat do this. Returns how the seat ended.
Finished seat_that_is_told(const Meeting& meeting, const std::vector<std::string>& words) {
    OwnEnd host(meeting, true);
    const auto seat = meeting.seat("careful");
    bool told = false;
    for (int left = 400; left > 0 && seat->running(); --left) {
        Json message = host.hear(50);
        const std::string what = message.is_object() ? message.value("do", "") : "";
        if (what == "hello") {
            host.say(1, R"({"do": "welcome", "rank": 1, "ranks": 2, "run": "00112233"})");
            host.say(2, R"({"do": "targets", "targets": []})");
        }
        if (what == "ping") {
            message["do"] = "pong";
            message["arrived"] = message["answered"] = message["sent"];
            host.say(0, message.dump());
        }
        if (what == "ready" && !std::exchange(told, true)) {
            host.say(3, Json{{"do", "share"}, {"step", 1}, {"value", words}}.dump());
            left = 100;
        }
        if (what == "failed") host.say(4, R"({"do": "end"})");
    }
    EXPECT_TRUE(told);
    EXPECT_FALSE(seat->running()) << "it does as it is told";
    seat->send(SIGKILL);
    return seat->wait();
}

TEST(MeetingSeats, TakeNoCommandOfAHostThatHasTheKey) {
    Meeting meeting(1, "null:");
    { const auto maker = meeting.host(); }  // makes the key
    std::filesystem::create_directory(meeting.file("allowed"));
    const std::string inside = meeting.file("allowed/inside");
    write_text(inside, "");
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"streamsim", "prepare", "--prores-hd", meeting.file("allowed")},
             {"streamsim", "clean", meeting.file("allowed")},
             {"streamsim", "profile", "-o", meeting.file("allowed/p"), "/bin/touch", meeting.file("touched")},
             {"streamsim", "host", "--key", meeting.file("allowed/key"), "null:"},
             {"streamsim"},
             {},
             {"streamsim", "run", meeting.document(), "--faults", "/etc/passwd"},
             {"streamsim", "run", meeting.document(), "--journal=" + meeting.file("allowed")},
             {"streamsim", "max", "--format", "/etc/passwd", "null:"},
             {"streamsim", "run", meeting.document(), "--credentials=/etc/passwd"}}) {
        const Finished ended = seat_that_is_told(meeting, words);
        EXPECT_EQ(ended.exit_code, 2) << Json(words) << ended.text();
        EXPECT_THAT(ended.err, ::testing::AnyOf(HasSubstr("the host wants another command"),
                                                HasSubstr("is not for seats that join"),
                                                HasSubstr("seats that join read no file")))
            << Json(words);
    }
    EXPECT_FALSE(std::filesystem::exists(meeting.file("touched")));
    std::vector<std::string> left;
    for (const auto& entry : std::filesystem::directory_iterator(meeting.file("allowed")))
        left.push_back(entry.path());
    EXPECT_EQ(left, std::vector<std::string>{inside});
}

/// A document of a format, of a workload or of a model.
TEST(MeetingSeats, AreAskedForNoFileThatAScenarioNames) {
    const TempDir elsewhere;
    Json format = read_json(STREAMSIM_SOURCE_DIR "/formats/media/prores-hd.json");
    format["name"] = "elsewhere";
    write_text(elsewhere / "format.json", format.dump());
    write_text(elsewhere / "load.json", meeting_workload("elsewhere").dump());
    Json of_format = meeting_scenario(1, "null:", "1s");
    of_format["seats"][0]["streams"][0]["format"] = elsewhere / "format.json";
    Json of_load = meeting_scenario(1, "null:", "1s");
    of_load["seats"][0]["meters"] = {{{"workload", elsewhere / "load.json"}}};
    for (const Json& scenario :
         {of_format, of_load, meeting_scenario(1, "sim:" + (elsewhere / "format.json"), "1s")}) {
        const Meeting meeting(scenario);
        const Finished host = streamsim(meeting.host_line());
        EXPECT_EQ(host.exit_code, 2) << scenario << host.text();
        EXPECT_THAT(host.err, HasSubstr("seats that join read no file that the run names"));
        EXPECT_THAT(host.err, Not(HasSubstr("/codec: "))) << "a key of the file";
    }
}

/// The seat before play that ended gives its place to the next one, whether it says that it leaves or not.
TEST(MeetingSeats, ThatEndBeforePlayGiveTheirPlacesToOthers) {
    for (const int how : {SIGINT, SIGKILL}) {
        const Meeting meeting(2, "null:");
        const auto host = meeting.host();
        const auto first = meeting.seat("first");
        ASSERT_TRUE(says(*first, "joined as seat"));
        first->send(how);
        (void)first->wait();
        sleep_ms(how == SIGKILL ? 11'000 : 500);  // until it is lost
        Seats seats;
        for (const char* name : {"first", "second"}) seats.push_back(meeting.seat(name));
        for (const auto& seat : seats)
            ASSERT_TRUE(says(*seat, "joined as seat")) << how << seat->err_so_far() << host->err_so_far();
        for (const auto& seat : seats) EXPECT_EQ(seat->wait().exit_code, 0);
        EXPECT_EQ(host->wait().exit_code, 0);
        expect_what_one_process_plays(meeting.result(), meeting.alone());
    }
}

/// No run begins with a seat that has gone before.
TEST(MeetingSeats, ThatAreKilledBeforePlayAreNotCountedAsPresent) {
    const Meeting meeting(2, "null:");
    const auto host = meeting.host();
    const auto first = meeting.seat("first");
    ASSERT_TRUE(says(*first, "joined as seat"));
    first->send(SIGKILL);
    (void)first->wait();
    ASSERT_TRUE(says(*host, "first) is cut off"));
    const auto second = meeting.seat("second");
    ASSERT_TRUE(says(*second, "joined as seat"));
    for (int i = 0; i < 100 && second->running(); ++i) sleep_ms(50);
    EXPECT_TRUE(second->running()) << "it plays, and the first seat is not there: " << host->err_so_far();
    const auto third = meeting.seat("third");
    EXPECT_EQ(third->wait().exit_code, 0);
    EXPECT_EQ(second->wait().exit_code, 0);
    EXPECT_EQ(host->wait().exit_code, 0);
}

/// The command before a step, and that of the counters, are the host's own.
TEST(MeetingSeats, RunNoCommandOfTheHostsLine) {
    const TempDir media;
    const Meeting meeting(2, media.path().string());
    const std::string ran = meeting.file("ran");
    const auto host = meeting.host(
        {"--yes", "--before-step", "echo $PPID >> " + ran, "--counters", "echo seconds $(date +%s)"});
    const Seats seats = meeting.all_seats();
    for (const auto& seat : seats) EXPECT_EQ(seat->wait().exit_code, 0);
    const Finished ended = host->wait();
    ASSERT_LE(ended.exit_code, 1) << ended.text();
    EXPECT_EQ(read_text(ran), std::to_string(host->pid()) + "\n");
    const Json counters = meeting.result()["counters"];
    ASSERT_EQ(counters["values"].size(), 1u) << counters;
    EXPECT_GE(counters["values"][0]["difference"], 3) << "they are read before play and after it";
    EXPECT_GT(counters["bytes_read"], 0);
}

}  // namespace
}  // namespace streamsim::tests
