// host and join from outside: seats that meet play what one process plays, and each that is lost, late or wrong
// is named.
#include "real/meeting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>

#include "real/lab.h"

namespace streamsim::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

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

TEST(Meeting, ClipsOfTheTargetArePlayedThoughTheHostDoesNotReadThem) {
    const TempDir media;
    const Finished made =
        streamsim({"prepare", "--prores-hd", "--streams", "2", "--clip-duration", "1s", media.path().string()});
    ASSERT_EQ(made.exit_code, 0) << made.text();
    Json scenario = meeting_scenario(1, media / "streamsim-media", "1s");
    scenario["seats"][0]["streams"] = Json::array({{{"count", 2}}});
    const Meeting meeting(scenario);
    const auto host = meeting.host();
    const auto seat = meeting.seat("edit");
    const Finished ended = host->wait();
    ASSERT_LE(ended.exit_code, 1) << ended.text();  // 1: frames were late on this machine
    ASSERT_GE(ended.exit_code, 0) << ended.text();
    EXPECT_LE(seat->wait().exit_code, 1);
    EXPECT_EQ(meeting.result()["streams"].size(), 2u);
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
    EXPECT_THAT(late.err, HasSubstr("the run has begun"));
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
    EXPECT_EQ(seat.exit_code, 2) << seat.text();
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
    for (auto& seat : seats) {
        const Finished ended = seat->wait();
        EXPECT_THAT(ended.err, HasSubstr("`streamsim report --merge " + (allowed / "seat-*-")));
        EXPECT_THAT(ended.err, HasSubstr("has what this seat played"));
    }
    for (const auto& entry : std::filesystem::directory_iterator(allowed.path())) {
        merge.push_back(entry.path());
        const Json part = read_json(entry.path())["seats"][0];
        EXPECT_EQ(part["journal"], entry.path().string());
        EXPECT_THAT(entry.path().filename().string(), StartsWith("seat-" + part["rank"].dump() + "-"));
    }
    EXPECT_EQ(merge.size(), 7u);
    (void)streamsim(merge);
    EXPECT_EQ(read_json(meeting.file("merged.json"))["totals"]["frames_scheduled"], 2 * 2 * 6 * 30);
}

TEST(Meeting, ASeatThatIsInterruptedDoesNotWaitForAHostThatDoesNotAnswer) {
    const TempDir allowed;
    Meeting meeting(1, "null:", "60s");
    meeting.allow(allowed.path().string());
    const auto host = meeting.host();
    const auto seat = meeting.seat("cut-off");
    ASSERT_TRUE(says(*seat, "joined as seat"));
    sleep_ms(2500);
    host->send(SIGSTOP);
    seat->send(SIGINT);
    const Finished ended = seat->wait();
    EXPECT_EQ(ended.exit_code, 130) << ended.text();
    EXPECT_THAT(ended.err, HasSubstr("has what this seat played"));
    EXPECT_FALSE(std::filesystem::is_empty(allowed.path()));
    host->send(SIGKILL);
    (void)host->wait();
}

TEST(Meeting, ACaptureOfTheWireShowsNoNameNoPathAndNoKey) {
    const TempDir media;
    Meeting meeting(1, media.path().string());
    const auto host = meeting.host({"--yes"});
    Wire wire(meeting.port());
    meeting.use_port(wire.port());
    const auto seat = meeting.seat("the-name-of-this-seat");
    EXPECT_EQ(seat->wait().exit_code, 0);
    EXPECT_LE(host->wait().exit_code, 1);
    const std::string bytes = wire.finish().both;
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
