// Meetings of many seats, over bad networks, in virtual time, and with all that a host may ask its seats for:
// their results are those of one process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "real/lab.h"
#include "real/meeting.h"

namespace streamsim::tests {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Seats = std::vector<std::unique_ptr<Process>>;

/// Waits for the host and its seats, which all end as they should.
void expect_success(Process& host, const Seats& seats) {
    for (const auto& seat : seats) {
        const Finished ended = seat->wait();
        EXPECT_EQ(ended.exit_code, 0) << ended.text();
    }
    const Finished ended = host.wait();
    EXPECT_EQ(ended.exit_code, 0) << ended.text();
}

TEST(MeetingOfTwoHundredSeats, PlaysWhatOneProcessPlays) {
    constexpr int kSeats = 200;
    const Meeting meeting(meeting_scenario(kSeats, "null:", "3s", 1));
    const auto host = meeting.host();
    const Seats seats = meeting.all_seats();
    expect_success(*host, seats);
    const Json all = meeting.result();
    EXPECT_EQ(all["seats"].size(), kSeats);
    EXPECT_EQ(all["totals"]["frames_on_time"], kSeats * 3 * 30);
    expect_what_one_process_plays(all, meeting.alone());
}

class MeetingFarAwayOf : public ::testing::TestWithParam<unsigned> {};

/// Each seat has a network of its own, whose cable delays by 20 ms in each direction and loses 1 %.
TEST_P(MeetingFarAwayOf, PlaysWhatOneProcessPlays) {
    const unsigned seats = GetParam();
    const Lab lab({"--seats", std::to_string(seats + 1), "--wire", STREAMSIM_WIRE_BINARY, "--nfs"});
    if (lab.skipped_because()) GTEST_SKIP() << *lab.skipped_because();
    ASSERT_EQ(lab.problem(), "");
    for (unsigned seat = 0; seat < seats; ++seat)
        lab.lab({"wire", std::to_string(seat), "delay_us 20000", "loss 1"});
    const Meeting meeting(static_cast<int>(seats), "null:", "5s");
    const auto host = lab.streamsim(meeting.host_line(), seats);
    ASSERT_TRUE(says(*host, "streamsim join"));
    const std::string address = lab.facts()["seats"][seats]["address"];
    Seats all;
    for (unsigned seat = 0; seat < seats; ++seat)
        all.push_back(lab.streamsim(meeting.seat_line("edit" + std::to_string(seat), address), seat));
    expect_success(*host, all);
    const Json result = meeting.result();
    for (const Json& seat : result["seats"]) {
        if (seat["seats"].empty()) continue;
        EXPECT_GE(seat["clock_bound_ns"], 20'000'000) << "half of what a message there and back takes";
    }
    expect_what_one_process_plays(result, meeting.alone());
}

INSTANTIATE_TEST_SUITE_P(Sizes, MeetingFarAwayOf, ::testing::Values(8u, 40u));

/// Virtual time, in which the storage delays some frames, and others not at all.
Json delayed_scenario(int seats) {
    Json scenario = meeting_scenario(seats, "sim:null", "4s");
    scenario["faults"] = {
        {{"kind", "delays"}, {"at", "500ms"}, {"for", "1s"}, {"delay", "7ms"}, {"probability", 0.3}},
        {{"kind", "delays"}, {"at", "2s"}, {"for", "1s"}, {"delay", "900ms"}, {"seat", 1}},
        {{"kind", "delays"}, {"at", "3s"}, {"for", "500ms"}, {"delay", "31ms"}, {"seat", 3}, {"stream", 1}}};
    return scenario;
}

TEST(MeetingInVirtualTime, HasThePercentilesOfOneProcess) {
    constexpr int kSeats = 5;
    const Meeting meeting(delayed_scenario(kSeats));
    const auto host = meeting.host();
    const Seats seats = meeting.all_seats();
    for (const auto& seat : seats) EXPECT_EQ(seat->wait().exit_code, 0);
    EXPECT_EQ(host->wait().exit_code, 1);  // the delay of 900 ms makes frames late
    const Json all = meeting.result();
    const Json one = meeting.alone({"--journal", meeting.file("journal")});  // so that it keeps histograms
    EXPECT_THAT(result_problems(all), IsEmpty());
    EXPECT_EQ(all["digest"], one["digest"]);
    EXPECT_EQ(all["drops"], one["drops"]);
    EXPECT_GT(all["drops"].size(), 0u);
    ASSERT_EQ(all["streams"].size(), 2u * kSeats);
    ASSERT_EQ(one["streams"].size(), 2u * kSeats);
    for (std::size_t i = 0; i < all["streams"].size(); ++i) {
        for (const auto& [key, value] : one["streams"][i].items())
            EXPECT_EQ(all["streams"][i][key], value) << "stream " << i << ", " << key;
    }
    for (const auto& [key, value] : one["totals"].items()) {
        if (key.find("wall") != std::string::npos || key.find("per_s") != std::string::npos) continue;
        EXPECT_EQ(all["totals"][key], value) << key;
    }
    // There is something to compare.
    EXPECT_GT(one["streams"][0]["response_ns"]["max"], one["streams"][0]["response_ns"]["p50"]);
    EXPECT_GT(one["totals"]["histograms"]["response_ns"]["times"].size(), 2u);
}

/// The seats keep their parts where the host was killed: what is merged of them has the times of all.
TEST(MeetingInRealTime, HasThePercentilesOfTheFramesOfAllSeats) {
    const TempDir allowed;
    Meeting meeting(3, "null:", "5s");
    meeting.allow(allowed.path().string());
    const auto host = meeting.host();
    const Seats seats = meeting.all_seats();
    for (const auto& seat : seats) ASSERT_TRUE(says(*seat, "joined as seat"));
    sleep_ms(2500);
    host->send(SIGKILL);
    (void)host->wait();
    const auto other = meeting.host({"--within", "20s"});  // so that the seats know that theirs is gone
    for (const auto& seat : seats) ASSERT_THAT(seat->wait().err, HasSubstr("has what this seat played"));
    std::vector<std::string> merge = {"report", "--merge", "--json", meeting.file("merged.json"), "--quiet"};
    Json of_parts = {{"streams", Json::array()}};
    for (const auto& entry : std::filesystem::directory_iterator(allowed.path())) {
        merge.push_back(entry.path());
        const Json part = read_json(entry.path());
        for (const Json& stream : part["streams"]) of_parts["streams"].push_back(stream);
    }
    ASSERT_EQ(of_parts["streams"].size(), 6u);
    (void)streamsim(merge);
    const Json merged = read_json(meeting.file("merged.json"));
    of_parts["totals"] = merged["totals"];
    expect_percentiles_of_streams(of_parts);
    expect_percentiles_of_streams(merged);
    for (const Json& stream : merged["streams"]) {
        const auto own = std::ranges::find_if(of_parts["streams"], [&stream](const Json& each) {
            return each["seat"] == stream["seat"] && each["stream"] == stream["stream"];
        });
        ASSERT_NE(own, of_parts["streams"].end());
        for (const char* times : {"service_ns", "response_ns", "margin_ns"})
            EXPECT_EQ(stream[times], (*own)[times]) << times;
    }
}

/// A workload that is the same in every run: its reads and writes take no time.
Json thinking() {
    return {{"schema", "streamsim.workload"},
            {"version", 1},
            {"name", "thinking"},
            {"duration", "5s"},
            {"clients", 5},
            {"meters",
             {{{"name", "edit"},
               {"users", 2},
               {"operations", {{"read", 3}, {"write", 1}}},
               {"random_percent", 50},
               {"think_time", "5ms"},
               {"blocks", "4KiB"},
               {"files", {{"count", 1}, {"bytes", "1MiB"}}}}}}};
}

TEST(MeetingForAWorkload, HasTheMetersOfOneProcess) {
    const Meeting meeting(2, "null:");
    write_text(meeting.file("load.json"), thinking().dump());
    const std::vector<std::string> words = {meeting.file("load.json"), "--quiet", "sim:null", "--json"};
    std::vector<std::string> of_all = words;
    of_all.push_back(meeting.result_file());
    const auto host = Meeting::begun(meeting.host_of(of_all));
    const Seats seats = meeting.all_seats();
    expect_success(*host, seats);
    std::vector<std::string> of_one = words;
    of_one.insert(of_one.begin(), "run");
    of_one.push_back(meeting.file("one.json"));
    const Finished alone = streamsim(of_one);
    ASSERT_EQ(alone.exit_code, 0) << alone.text();
    const Json all = meeting.result();
    const Json one = read_json(meeting.file("one.json"));
    ASSERT_EQ(all["steps"].size(), 1u);
    const Json& result = all["steps"][0]["result"];
    EXPECT_EQ(result["meters"], one["steps"][0]["result"]["meters"]);
    EXPECT_EQ(result["meters"].size(), 5u);
    ASSERT_EQ(result["seats"].size(), 2u);
    EXPECT_EQ(result["seats"][0]["seats"], Json({0, 2, 4}));
    EXPECT_EQ(result["seats"][1]["seats"], Json({1, 3}));
    for (const Json& seat : result["seats"]) EXPECT_EQ(seat["state"], "complete");
}

/// The journals of seats in this directory hold operations.
bool has_worked(const TempDir& directory) {
    for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
        if (entry.path().extension() != ".json") continue;
        std::ifstream file(entry.path());
        const Json journal = Json::parse(file, nullptr, false);
        if (journal.is_discarded() || !journal.contains("meters")) continue;
        for (const Json& meter : journal["meters"])
            if (meter["all"]["done"] > 0) return true;
    }
    return false;
}

/// Further steps would have fewer clients than they name.
TEST(MeetingForAWorkload, EndsAfterTheStepInWhichASeatWasInterrupted) {
    const TempDir allowed;
    Meeting meeting(2, "null:");
    meeting.allow(allowed.path().string());
    Json document = thinking();
    document["sweep"] = {{"over", "clients"}, {"values", {4, 6}}};
    write_text(meeting.file("load.json"), document.dump());
    const auto host = Meeting::begun(
        meeting.host_of({meeting.file("load.json"), "--quiet", "--json", meeting.result_file(), "null:"}));
    const Seats seats = meeting.all_seats();
    for (int i = 0; i < 600 && !has_worked(allowed); ++i) sleep_ms(50);
    seats.front()->send(SIGINT);
    EXPECT_EQ(seats.front()->wait().exit_code, 130);
    EXPECT_EQ(seats.back()->wait().exit_code, 0);
    const Finished ended = host->wait();
    EXPECT_EQ(ended.exit_code, 1) << ended.text();
    EXPECT_THAT(ended.err, HasSubstr("the workload ends after 1 of 2 steps"));
    const Json all = meeting.result();
    EXPECT_EQ(all["interrupted"], true);
    ASSERT_EQ(all["steps"].size(), 1u);
    const Json& of_step = all["steps"][0]["result"]["seats"];
    EXPECT_EQ(std::ranges::count_if(of_step, [](const Json& seat) { return seat["state"] == "interrupted"; }),
              1);
}

/// Every byte of a client's file is read once, and all clients share another file.
Json reading_once() {
    return {{"schema", "streamsim.workload"},
            {"version", 1},
            {"name", "once"},
            {"duration", "30s"},
            {"clients", 5},
            {"meters",
             {{{"name", "own"},
               {"operations", {{"read", 1}}},
               {"blocks", "64KiB"},
               {"direct", false},
               {"files", {{"count", 2}, {"bytes", "1MiB"}}}},
              {{"name", "shared"},
               {"operations", {{"read", 1}}},
               {"random_percent", 100},
               {"non_repeating", true},
               {"blocks", "64KiB"},
               {"direct", false},
               {"files", {{"count", 1}, {"bytes", "2MiB"}, {"shared", true}}}}}},
            {"sweep", {{"over", "cache"}, {"values", {"cold"}}}}};
}

TEST(MeetingForAWorkload, ReadsTheFilesThatOneProcessReads) {
    const TempDir media;
    Meeting meeting(2, "null:");
    meeting.allow(media.path().string());
    write_text(meeting.file("load.json"), reading_once().dump());
    const auto host = Meeting::begun(meeting.host_of({meeting.file("load.json"), "--quiet", "--yes", "--json",
                                                      meeting.result_file(), media.path().string()}));
    const Seats seats = meeting.all_seats();
    expect_success(*host, seats);
    const Finished alone = streamsim({"run", meeting.file("load.json"), "--quiet", "--yes", "--json",
                                      meeting.file("one.json"), media.path().string()});
    ASSERT_EQ(alone.exit_code, 0) << alone.text();
    const Json all = meeting.result()["steps"][0]["result"]["meters"];
    const Json one = read_json(meeting.file("one.json"))["steps"][0]["result"]["meters"];
    ASSERT_EQ(all.size(), 10u);
    ASSERT_EQ(one.size(), 10u);
    for (std::size_t i = 0; i < one.size(); ++i) {
        for (const char* key : {"seat", "name", "users", "blocks_done", "blocks_failed"})
            EXPECT_EQ(all[i][key], one[i][key]) << key;
        for (const char* key : {"done", "failed", "bytes"})
            EXPECT_EQ(all[i]["all"][key], one[i]["all"][key]) << key;
    }
}

TEST(MeetingForMax, FindsTheMostOfAllSeats) {
    const Meeting meeting(2, "null:");
    for (const bool seats_searched : {false, true}) {
        std::vector<std::string> words = {"max",       "--prores-hd", "--duration",         "1100ms",
                                          "--confirm", "0s",          "--streams",          "2",
                                          "--quiet",   "--json",      meeting.result_file()};
        if (seats_searched) words.insert(words.end(), {"--find", "seats"});
        words.emplace_back("null:");
        const auto host = Meeting::begun(meeting.host_of(words));
        const Seats seats = meeting.all_seats();
        expect_success(*host, seats);
        const Json found = meeting.result();
        EXPECT_EQ(found["schema"], "streamsim.max");
        EXPECT_EQ(found["counts"], seats_searched ? "seats" : "streams-per-seat");
        ASSERT_EQ(found["formats"].size(), 1u);
        EXPECT_EQ(found["formats"][0]["streams"], 4);
        EXPECT_EQ(found["formats"][0][seats_searched ? "seats" : "streams_per_seat"], 2);
    }
}

/// Targets without media get the format that one process gives them. The frames may be too many for this disk.
TEST(MeetingForMax, GivesATargetWithoutMediaTheDefaultFormat) {
    const TempDir empty;
    for (const std::string& target : {std::string("null:"), empty.path().string()}) {
        Meeting meeting(2, "null:");
        meeting.allow(empty.path().string());
        const auto host = Meeting::begun(meeting.host_of(
            {"max", "--duration", "1100ms", "--confirm", "0s", "--streams", "1", "--clip-duration", "50ms",
             "--readahead", "2", "--yes", "--quiet", "--json", meeting.result_file(), target}));
        const Seats seats = meeting.all_seats();
        const Finished ended = host->wait();
        EXPECT_THAT(ended.exit_code, AnyOf(0, target == "null:" ? 0 : 1)) << ended.text();
        for (const auto& seat : seats) EXPECT_EQ(seat->wait().exit_code, 0);
        const Json found = meeting.result();
        ASSERT_EQ(found["formats"].size(), 1u);
        EXPECT_EQ(found["formats"][0]["format"], "dpx12");
    }
}

TEST(MeetingForMax, NamesASeatThatSeesFewerClips) {
    const TempDir media;
    streamsim({"prepare", media.path().string(), "--prores-hd", "--streams", "2", "--clip-duration", "200ms"});
    std::filesystem::create_directory(media / "both");
    std::filesystem::create_directory(media / "one");
    const std::filesystem::path set = media / "streamsim-media/prores-hd/6-frames";
    for (const char* clip : {"clip-0001.mov", "clip-0002.mov"})
        std::filesystem::copy(set / clip, std::filesystem::path(media / "both") / clip);
    std::filesystem::copy(set / "clip-0001.mov", media / "one/clip-0001.mov");
    Meeting meeting(1, "null:");
    meeting.allow((media / "both") + "=" + (media / "one"));
    const auto host = Meeting::begun(meeting.host_of(
        {"max", "--duration", "1100ms", "--confirm", "0s", "--readahead", "2", "--quiet", media / "both"}));
    const Seats seats = meeting.all_seats();
    const Finished ended = host->wait();
    EXPECT_EQ(ended.exit_code, 2) << ended.text();
    EXPECT_THAT(ended.text(), HasSubstr("sees 1 clip of prores"));
    EXPECT_THAT(ended.text(), HasSubstr(" at 30 fps, and the first computer 2: expected the same media"));
    EXPECT_LT(seats.front()->wait().exit_code, 4);
}

/// A seat that is gone is no sign of what the storage plays.
TEST(MeetingForMax, EndsWhereASeatIsLost) {
    const Meeting meeting(3, "null:");
    const auto host =
        Meeting::begun(meeting.host_of({"max", "--prores-hd", "--duration", "2s", "--confirm", "0s",
                                        "--streams", "64", "--json", meeting.result_file(), "null:"}));
    const Seats seats = meeting.all_seats();
    ASSERT_TRUE(says(*host, "trying 4 a seat"));
    seats.back()->send(SIGKILL);
    const Finished ended = host->wait();
    EXPECT_EQ(ended.exit_code, 130) << ended.text();
    EXPECT_THAT(ended.text(), HasSubstr("the search ends, since the seats of further runs"));
    for (const auto& seat : seats) EXPECT_FALSE(seat->wait().timed_out);
    const Json found = meeting.result();
    EXPECT_EQ(found["interrupted"], true);
    ASSERT_EQ(found["formats"].size(), 1u);
    EXPECT_GE(found["formats"][0]["streams"], 2 * 3);
}

auto calibrating(const Meeting& meeting, const TempDir& media, const std::string& duration) {
    return Meeting::begun(
        meeting.host_of({"calibrate", media.path().string(), "-o", meeting.file("model.json"), "--prores-hd",
                         "--duration", duration, "--set-size", "64MiB", "--yes"}));
}

/// This computer's disk plays too many streams for the held-back run: the probes are enough.
TEST(MeetingForCalibrate, MeasuresFromAllSeats) {
    const TempDir media;
    Meeting meeting(2, "null:");
    meeting.allow(media.path().string());
    const auto host = calibrating(meeting, media, "200ms");
    const Seats seats = meeting.all_seats();
    EXPECT_TRUE(says(*host, "held-back run"));
    host->send(SIGINT);
    const Finished ended = host->wait();
    EXPECT_EQ(ended.exit_code, 130) << ended.text();
    for (const auto& seat : seats) EXPECT_FALSE(seat->wait().timed_out);
    const Json measured = read_json(meeting.file("model.measured.json"));
    EXPECT_EQ(measured["seats"], 2);
    EXPECT_GE(measured["rows"].size(), 20u);
    for (const Json& row : measured["rows"]) {
        // A synced write may take longer than its probe.
        if (row["probe"]["kind"] != "writes") EXPECT_GT(row["operations"], 0) << row["probe"]["id"];
        EXPECT_EQ(row["failed"], 0) << row["probe"]["id"];
    }
    // Two seats have read together what the first of them alone had not.
    const auto of_two = std::ranges::count_if(
        measured["rows"], [](const Json& row) { return row["probe"]["seats"] == 2 && row["operations"] > 0; });
    EXPECT_GE(of_two, 1) << ended.text();
}

/// No row has the rates of fewer seats than it names.
TEST(MeetingForCalibrate, EndsWhereASeatIsLost) {
    const TempDir media;
    Meeting meeting(2, "null:");
    meeting.allow(media.path().string());
    const auto host = calibrating(meeting, media, "2s");
    const Seats seats = meeting.all_seats();
    ASSERT_TRUE(says(*host, "3 of "));
    seats.back()->send(SIGKILL);
    const Finished ended = host->wait();
    EXPECT_EQ(ended.exit_code, 3) << ended.text();
    EXPECT_THAT(ended.text(), HasSubstr("not measured from all seats"));
    for (const auto& seat : seats) EXPECT_FALSE(seat->wait().timed_out);
    const Json measured = read_json(meeting.file("model.measured.json"));
    EXPECT_GE(measured["rows"].size(), 3u);
    EXPECT_LT(measured["rows"].size(), 20u);
}

/// The seat that is lost came last: the media are made by the other one.
TEST(MeetingForCalibrate, EndsWhereASeatIsLostInTheHeldBackRun) {
    const TempDir media;
    Meeting meeting(2, "null:");
    meeting.allow(media.path().string());
    const auto host = calibrating(meeting, media, "200ms");
    Seats seats;
    for (const char* name : {"edit0", "edit1"}) {
        seats.push_back(meeting.seat(name));
        ASSERT_TRUE(says(*host, name + std::string(") is here")));
    }
    ASSERT_TRUE(says(*host, "trying 1 for"));
    seats.back()->send(SIGKILL);
    const Finished ended = host->wait();
    EXPECT_EQ(ended.exit_code, 3) << ended.text();
    EXPECT_THAT(ended.err, HasSubstr("the held-back run is not of all seats: seat 1 (host edit1)"));
    EXPECT_THAT(ended.text(), HasSubstr("the same command goes on from there"));
    for (const auto& seat : seats) EXPECT_FALSE(seat->wait().timed_out);
    const Json measured = read_json(meeting.file("model.measured.json"));
    EXPECT_GE(measured["rows"].size(), 20u);
    EXPECT_EQ(measured["complete"], false);
}

/// The program of the package for Windows: of $STREAMSIM_WINDOWS_PACKAGE, else of where tools/package makes it.
/// Empty: there is none.
std::string windows_program() {
    const char* const chosen = std::getenv("STREAMSIM_WINDOWS_PACKAGE");
    const std::string folder =
        chosen != nullptr ? chosen : STREAMSIM_SOURCE_DIR "/.build/packages/windows-x86_64";
    std::error_code error;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error)) {
        if (entry.path().filename() == "streamsim.exe" && entry.path().parent_path().filename() == "bin")
            return entry.path();
    }
    return "";
}

/// Empty: there is no wine.
std::string wine_program() {
    Spawn asked;
    asked.args = {"-c", "PATH=$PATH:/usr/lib/wine; command -v wine64"};
    const std::string found = run("/bin/sh", asked).out;
    return found.substr(0, found.find('\n'));
}

/// The path as wine's drive Z: has it.
std::string as_windows_has_it(std::string path) {
    std::ranges::replace(path, '/', '\\');
    return "Z:" + path;
}

TEST(MeetingOfTwoSystems, PlaysWhatOneProcessPlays) {
    const std::string wine = wine_program();
    const std::string program = windows_program();
    if (wine.empty()) GTEST_SKIP() << "there is no wine64";
    if (program.empty())
        GTEST_SKIP()
            << "there is no package for Windows (tools/package windows-x86_64, or its unpacked archive "
               "as STREAMSIM_WINDOWS_PACKAGE)";
    const TempDir prefix;
    const std::vector<std::pair<std::string, std::string>> environment = {
        {"WINEPREFIX", prefix.path().string()},
        {"WINEDEBUG", "-all"},
        {"DISPLAY", ""},
        {"WINEDLLOVERRIDES", "mscoree=;mshtml="}};
    Spawn made;
    made.args = {"wineboot", "--init"};
    made.env = environment;
    ASSERT_EQ(run(wine, made).exit_code, 0);
    const Meeting meeting(3, "null:");
    const auto host = meeting.host();
    Seats seats;
    for (const char* name : {"linux", "windows", "windows-too"}) {
        Spawn line = meeting.seat_line(name);
        if (name == std::string("linux")) {
            seats.push_back(std::make_unique<Process>(streamsim_binary(), line));
            continue;
        }
        line.args[3] = as_windows_has_it(line.args[3]);  // --key
        line.args[5] = as_windows_has_it(line.args[5]);  // --allow
        line.args.insert(line.args.begin(), program);
        line.env = environment;
        seats.push_back(std::make_unique<Process>(wine, line));
    }
    expect_success(*host, seats);
    Spawn ended;
    ended.args = {"wineboot", "--kill"};
    ended.env = environment;
    (void)run(wine, ended);
    const Json all = meeting.result();
    EXPECT_EQ(std::ranges::count_if(all["seats"],
                                    [](const Json& seat) {
                                        return seat["host"]["os"].get<std::string>().find("Windows") !=
                                               std::string::npos;
                                    }),
              2);
    expect_what_one_process_plays(all, meeting.alone(), false);
}

}  // namespace
}  // namespace streamsim::tests
