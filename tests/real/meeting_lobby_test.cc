// Meetings before they begin, as people see them: the page of the host, its times, and storages that seats call
// by other names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "real/meeting.h"

namespace streamsim::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The page at this port of this computer.
std::string page_at(std::uint16_t port, const std::string& path = "/") {
    const int fd = connection_to(port);
    const std::string request = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    std::string out;
    if (fd < 0 || send(fd, request.data(), request.size(), MSG_NOSIGNAL) < 0) return out;
    std::array<char, 65536> part{};
    for (ssize_t got = 0; (got = read(fd, part.data(), part.size())) > 0;)
        out.append(part.data(), static_cast<std::size_t>(got));
    close(fd);
    return out;
}

/// Waits until the page has a text; empty: it does not come within half a minute.
std::string page_with(std::uint16_t port, const std::string& text, const std::string& path = "/") {
    for (int i = 0; i < 300; ++i) {
        const std::string page = page_at(port, path);
        if (page.find(text) != std::string::npos) return page;
        sleep_ms(100);
    }
    return {};
}

TEST(MeetingLobby, IsAPageThatBecomesTheOneOfTheRun) {
    const TempDir media;
    Meeting meeting(meeting_scenario(2, media.path().string(), "4s"));
    meeting.allow(media.path().string());
    const std::uint16_t port = free_port();
    const auto host = meeting.host({"--web", std::to_string(port)});
    EXPECT_THAT(page_with(port, "0 of 2 seats are here"), HasSubstr("begins when all 2 seats are here"));
    const auto first = meeting.seat("<first>");
    const std::string page = page_with(port, " free<");
    EXPECT_THAT(page, HasSubstr("1 of 2 seats are here"));
    EXPECT_THAT(page, HasSubstr("&lt;first&gt;"));
    EXPECT_THAT(page, HasSubstr(media.path().string() + ": "));
    EXPECT_THAT(page, HasSubstr("Linux"));
    EXPECT_THAT(page, Not(HasSubstr("<first>")));
    const auto second = meeting.seat("second");
    EXPECT_THAT(page_with(port, "2 of 2 computers"), HasSubstr("PLAYING"));
    EXPECT_EQ(host->wait().exit_code, 0);
    for (const auto* seat : {&first, &second}) EXPECT_EQ((*seat)->wait().exit_code, 0);
}

TEST(MeetingMetrics, HaveTheSumsOfEachSeat) {
    const Meeting meeting(2, "null:", "6s");
    const std::uint16_t port = free_port();
    const auto host = meeting.host({"--metrics", std::to_string(port)});
    const auto seats = meeting.all_seats();
    const std::string sums = "streamsim_computer_frames_on_time_total{computer=\"seat ";
    for (const char* const seat : {"0 (host ", "1 (host "})
        EXPECT_THAT(page_with(port, sums + seat, "/metrics"), HasSubstr("# EOF")) << seat;
    for (const auto& seat : seats) EXPECT_EQ(seat->wait().exit_code, 0);
    EXPECT_EQ(host->wait().exit_code, 0);
}

/// It listens on 0.0.0.0, which is no address that a seat can join.
TEST(MeetingLobby, SaysHowToJoinItBesideADocumentOnStandardOutput) {
    const Meeting meeting(1, "null:");
    for (const std::string file : {"--json=-", "-"}) {
        std::vector<std::string> words = {meeting.document(), "--within", "1s", "--quiet"};
        if (file == "-") words.emplace_back("--json");
        words.push_back(file);
        const Finished ended = streamsim(meeting.host_of(words));
        EXPECT_EQ(ended.exit_code, 3) << ended.text();
        EXPECT_EQ(ended.out, "") << file;
        EXPECT_THAT(ended.err, HasSubstr("streamsim join "));
        EXPECT_THAT(ended.err, Not(HasSubstr("join 0.0.0.0")));
    }
}

TEST(MeetingLobby, NamesATargetThatASeatDoesNotReach) {
    const TempDir media;
    const TempDir elsewhere;
    Meeting meeting(meeting_scenario(2, media.path().string(), "2s"));
    meeting.allow(elsewhere.path().string());
    const auto host = meeting.host({"--within", "2s"});
    const auto seat = meeting.seat("edit1");
    EXPECT_TRUE(says(*host, "edit1): '" + media.path().string() + "': is outside of what this seat allows"));
    EXPECT_EQ(host->wait().exit_code, 3);
}

TEST(MeetingLobby, IsNotOpenedForARunWhoseResultCannotBeWritten) {
    const Meeting meeting(2, "null:");
    Spawn line = meeting.host_line({"--csv", meeting.file("no/such/folder/rows.csv")});
    line.timeout_s = 20;
    const Finished refused = streamsim(line);
    EXPECT_EQ(refused.exit_code, 3) << refused.text();
    EXPECT_THAT(refused.err, HasSubstr("no/such/folder/rows.csv: cannot be written"));
    EXPECT_FALSE(std::filesystem::exists(meeting.key()));
}

TEST(MeetingLobby, IsNotOpenedForARunThatWouldBeRefused) {
    const Meeting meeting(2, "null:");
    const auto refused_with = [&meeting](const std::vector<std::string>& words) {
        Spawn line = meeting.host_of(words);
        line.timeout_s = 20;
        const Finished refused = streamsim(line);
        EXPECT_EQ(refused.exit_code, 2) << Json(words) << refused.text();
        EXPECT_FALSE(std::filesystem::exists(meeting.key())) << Json(words);
        return refused.err;
    };
    const std::string other = meeting.file("other.json"), filling = meeting.file("filling.json");
    write_text(other, "{}");
    EXPECT_THAT(refused_with({meeting.document(), "--json", other}), HasSubstr("not an earlier result"));
    EXPECT_THAT(refused_with({"max", "--json", other, "null:"}), HasSubstr("not an earlier result"));
    EXPECT_THAT(refused_with({"max", "null:", "sim:null"}), HasSubstr("one TARGET is expected"));
    write_text(filling, meeting_scenario(1, "null:", "1s").dump());
    EXPECT_THAT(refused_with({filling}), HasSubstr("filling.json: has 1 seat, and 2 computers were to play"));
    EXPECT_THAT(refused_with({"calibrate", "-o", other, meeting.file("")}), HasSubstr("is there already"));
    Json load = meeting_workload("filling");
    load["before_step"] = "flush";
    write_text(filling, load.dump());
    const std::string target = meeting.file("");
    EXPECT_THAT(refused_with({filling, target}), HasSubstr("--allow-commands runs it"));
    load.erase("before_step");
    load["sweep"] = {{"over", "fill_percent"}, {"values", {50, 60}}};
    write_text(filling, load.dump());
    EXPECT_THAT(refused_with({filling, target, "--scale", "0.1"}),
                HasSubstr("--scale: filling fills the volume"));
    EXPECT_THAT(refused_with({filling, target, "--trace", meeting.file("t")}),
                HasSubstr("--trace: is not for a"));
}

/// "14:30:05", so many seconds from now.
std::string time_in(int seconds, const char* form = "%H:%M:%S") {
    const std::time_t then = std::time(nullptr) + seconds;
    std::array<char, 32> text{};
    std::tm local{};
    std::strftime(text.data(), text.size(), form, localtime_r(&then, &local));
    return text.data();
}

TEST(MeetingLobby, SaysOnWhichDayItBegins) {
    const Meeting meeting(1, "null:");
    const std::string tomorrow = time_in(86'340, "%Y-%m-%d ");
    const std::string before_now = time_in(-60);
    const auto host = Meeting::begun(meeting.host_of({meeting.document(), "--at", before_now}));
    EXPECT_TRUE(says(*host, "begins at " + tomorrow + before_now + ", in 23 h 5")) << host->err_so_far();
}

TEST(MeetingLobby, BeginsAtItsTime) {
    const Meeting meeting(2, "null:");
    const std::int64_t began_ns = monotonic_ns();
    const auto host = meeting.host({"--at", time_in(6), "--quorum", "1"});
    const auto seat = meeting.seat("only");
    EXPECT_EQ(host->wait().exit_code, 1) << "one of two seats has played";
    EXPECT_GE(monotonic_ns() - began_ns, 5'000'000'000 + 3'000'000'000);
    EXPECT_EQ(seat->wait().exit_code, 0);
    const Json all = meeting.result();
    EXPECT_EQ(all["totals"]["frames_on_time"], 2 * 3 * 30);
    EXPECT_THAT(all["verdict"].dump(), HasSubstr("it did not come"));
}

TEST(MeetingLobby, BeginsWithAQuorumWhenNobodyElseComes) {
    const Meeting meeting(3, "null:");
    const auto host = meeting.host({"--quorum", "2"});
    const auto first = meeting.seat("first");
    const auto second = meeting.seat("second");
    EXPECT_EQ(host->wait().exit_code, 1);
    EXPECT_EQ(meeting.result()["totals"]["frames_on_time"], 2 * 2 * 3 * 30);
    for (const auto* seat : {&first, &second}) EXPECT_EQ((*seat)->wait().exit_code, 0);
}

/// The seat with the first place, which makes the media otherwise, has left.
TEST(MeetingLobby, LeavesTheMediaToTheFirstSeatThatIsThere) {
    const TempDir media;
    const Meeting meeting(3, media.path().string());
    const auto host = meeting.host({"--yes", "--quorum", "2"});
    {
        const auto first = meeting.seat("first");
        ASSERT_TRUE(says(*first, "joined as seat 0"));
        first->send(SIGINT);
        (void)first->wait();
    }
    std::vector<std::unique_ptr<Process>> seats;
    for (const int place : {1, 2}) {
        seats.push_back(meeting.seat("edit" + std::to_string(place)));
        ASSERT_TRUE(says(*seats.back(), "joined as seat " + std::to_string(place)));
    }
    const Finished ended = host->wait();
    EXPECT_EQ(ended.exit_code, 1) << ended.text();
    for (const auto& seat : seats) EXPECT_EQ(seat->wait().exit_code, 0);
    const Json all = meeting.result();
    EXPECT_EQ(all["streams"].size(), 4u);
    EXPECT_GT(all["totals"]["bytes_read"], 0);
}

/// The journals in a directory.
std::vector<std::string> journals_in(const std::filesystem::path& directory) {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
        if (entry.path().filename().string().starts_with("seat-")) out.push_back(entry.path().string());
    }
    return out;
}

TEST(MeetingJournals, HoldWhatAKilledSeatHadPlayedAndNothingElseIsLeft) {
    const TempDir media;
    Meeting meeting(meeting_scenario(2, media.path().string(), "6s"));
    meeting.allow(media.path().string());
    const auto host = meeting.host();
    const auto seats = meeting.all_seats();
    for (int i = 0; i < 200 && journals_in(media.path()).size() < 2; ++i) sleep_ms(50);
    sleep_ms(3000);
    seats.front()->send(SIGKILL);
    (void)seats.front()->wait();
    EXPECT_EQ(seats.back()->wait().exit_code, 0);
    EXPECT_EQ(host->wait().exit_code, 1);
    const std::vector<std::string> kept = journals_in(media.path());
    ASSERT_EQ(kept.size(), 1u);
    (void)streamsim({"report", "--merge", meeting.result_file(), kept.front(), "--quiet", "--json",
                     meeting.file("merged.json")});
    const Json merged = read_json(meeting.file("merged.json"));
    EXPECT_GT(merged["totals"]["frames_on_time"], meeting.result()["totals"]["frames_on_time"]);
    EXPECT_EQ(merged["seats"].size(), 2u);
}

TEST(MeetingJournals, StayWhereTheHostCannotWriteTheResult) {
    const TempDir allowed;
    Meeting meeting(2, "null:", "4s");
    meeting.allow(allowed.path().string());
    const std::string folder = meeting.file("results");
    std::filesystem::create_directory(folder);
    const auto host =
        Meeting::begun(meeting.host_of({meeting.document(), "--json", folder + "/all.json", "--quiet"}));
    const auto seats = meeting.all_seats();
    for (int i = 0; i < 200 && journals_in(allowed.path()).size() < 2; ++i) sleep_ms(50);
    std::filesystem::remove_all(folder);
    for (const auto& seat : seats) EXPECT_THAT(seat->wait().err, HasSubstr("has what this seat played"));
    EXPECT_EQ(host->wait().exit_code, 3);
    const std::vector<std::string> kept = journals_in(allowed.path());
    ASSERT_EQ(kept.size(), 2u);
    for (const std::string& journal : kept)
        EXPECT_EQ(read_json(journal)["seats"][0]["state"], "complete") << journal;
}

/// The second signal of the host comes while it waits for a seat that does not answer.
TEST(MeetingJournals, AndTheResultOfTheOthersOutliveASecondInterruption) {
    const TempDir allowed;
    Meeting meeting(2, "null:", "60s");
    meeting.allow(allowed.path().string());
    const auto host = meeting.host();
    const auto seats = meeting.all_seats();
    for (int i = 0; i < 200 && journals_in(allowed.path()).size() < 2; ++i) sleep_ms(50);
    sleep_ms(2500);
    seats.back()->send(SIGSTOP);
    host->send(SIGINT);
    sleep_ms(1500);
    host->send(SIGINT);
    const Finished ended = host->wait();
    EXPECT_EQ(ended.exit_code, 130) << ended.text();
    const Json result = meeting.result();
    EXPECT_EQ(result["interrupted"], true);
    EXPECT_GT(result["totals"]["frames_on_time"], 0);
    (void)seats.front()->wait();
    EXPECT_FALSE(journals_in(allowed.path()).empty());
}

TEST(MeetingSeats, ThatAllowNothingByAccidentAreRefused) {
    const Meeting meeting(1, "null:");
    { const auto maker = meeting.host(); }
    for (const std::string place : {"", "/x=", "=/x"}) {
        Spawn line = meeting.seat_line("careless");
        line.args[5] = place;
        const Finished refused = streamsim(line);
        EXPECT_EQ(refused.exit_code, 2) << place;
        EXPECT_THAT(refused.err, HasSubstr("--allow: '" + place + "': expected PATH"));
    }
}

TEST(MeetingSeats, ThatComeAfterAStartWithFewerAreRefused) {
    const Meeting meeting(3, "null:");
    const auto host = meeting.host({"--quorum", "1", "--within", "2s"});
    const auto first = meeting.seat("first");
    ASSERT_TRUE(says(*host, "lost: it did not come"));
    const Finished late = meeting.seat("late")->wait();
    EXPECT_EQ(late.exit_code, 3);
    EXPECT_THAT(late.err, HasSubstr("the host has refused this one: the run has begun"));
    EXPECT_EQ(first->wait().exit_code, 0);
    EXPECT_EQ(host->wait().exit_code, 1);
}

/// The host has no such storage, and each seat has it at another place.
TEST(MeetingNames, AreThoseOfTheRunForWhatEachSeatHasElsewhere) {
    const TempDir media;
    std::filesystem::create_directory(media / "real");
    std::filesystem::create_directory_symlink(media / "real", media / "link");
    const Meeting meeting(meeting_scenario(2, "/no/such/storage", "2s"));
    const auto host = meeting.host();
    std::vector<std::unique_ptr<Process>> seats;
    for (const char* place : {"real", "link"}) {
        Spawn line = meeting.seat_line(place);
        for (std::string& word : line.args) {
            if (word == "/no/such/storage") word += "=" + (media / place);
        }
        seats.push_back(std::make_unique<Process>(streamsim_binary(), line));
    }
    const Finished ended = host->wait();
    EXPECT_EQ(ended.exit_code, 0) << ended.text();
    for (const auto& seat : seats) EXPECT_EQ(seat->wait().exit_code, 0);
    const Json all = meeting.result();
    EXPECT_EQ(all["target"]["url"], "/no/such/storage");
    const Finished one = streamsim({"run", meeting.document(), "--quiet", "--json", meeting.file("one.json")});
    EXPECT_EQ(one.exit_code, 3) << "it is not here: " << one.text();
    EXPECT_EQ(all["totals"]["frames_on_time"], 2 * 2 * 2 * 30);
}

}  // namespace
}  // namespace streamsim::tests
