// streamsim max from outside: on models it finds what arithmetic gives, on files it says what keeps it from
// more.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>

#include <cmath>

#include "cli/fixture.h"

namespace streamsim::tests {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

/// The rate of a stream of the small format: a frame with its header, 24 times a second.
constexpr double kSmallBytesPerS = (8192.0 + 4.0 * kSmallWidth * kSmallHeight) * 24;

class Max : public CliTest {
protected:
    /// Searches, and gives the document; finished() is what came back besides.
    Json search(std::vector<std::string> options, const std::string& where) {
        options.insert(options.begin(), {"max", "-v"});
        options.insert(options.end(), {"--json", json_path(), where});
        std::filesystem::remove(json_path());
        done_ = streamsim(options);
        Json result = read_json(json_path());
        EXPECT_EQ(result["schema"], "streamsim.max") << done_.text();
        return result;
    }

    /// A model that only its seats' links hold up: each carries so many bytes a second.
    std::string links_of(double bytes_per_s) const { return model_of(bytes_per_s, 100e9 / 8); }

    /// The same with the rate of the server's link, too.
    std::string model_of(double seat_bytes_per_s, double server_bytes_per_s) const {
        Json model = read_json(std::string(STREAMSIM_SOURCE_FORMATS) + "/storage/nfs-generic.json");
        const auto number = [](double value) {
            return Json{{"value", value}, {"basis", "assumed: for a test"}};
        };
        model["client"]["link"]["bits_per_s"] = number(seat_bytes_per_s * 8);
        model["client"]["link"]["efficiency"] = number(1);
        model["client"].erase("decode");
        model["node"]["front_end"]["bits_per_s"] = number(server_bytes_per_s * 8);
        const std::string path = dir_ / "model.json";
        write_text(path, model.dump());
        return "sim:" + path;
    }

    std::vector<std::string> small_with(std::vector<std::string> options) const {
        options.insert(options.end(), {"--format", small()});
        return options;
    }

    /// A directory with two clips that belong to no media set.
    std::string two_clips_of_others() {
        prepare(2);
        const std::string theirs = dir_ / "theirs";
        std::filesystem::create_directory(theirs);
        int number = 0;
        for (const std::string& clip : clip_directories())
            std::filesystem::copy(clip, theirs + "/shot" + std::to_string(++number));
        return theirs;
    }

    static Json steps_of(const Json& found, std::uint64_t streams) {
        Json out = Json::array();
        for (const Json& step : found["steps"]) {
            if (step["streams"] == streams) out.push_back(step);
        }
        return out;
    }

    const Finished& done() const { return done_; }

private:
    Finished done_;
};

TEST_F(Max, FindsWhatTheLinkCarries) {
    for (const double streams : {0.6, 1.5, 5.97, 6.03, 9.5}) {
        const Json result = search(small_with({"--quiet"}), links_of(streams * kSmallBytesPerS));
        const Json& found = result["formats"][0];
        EXPECT_EQ(found["streams"], std::floor(streams)) << streams << " " << done().text();
        EXPECT_EQ(found["fails_at"], std::floor(streams) + 1) << streams;
        EXPECT_EQ(found["limit"], "network") << found["reason"];
        EXPECT_EQ(found["at_least"], false);
        EXPECT_EQ(found["confirmed"], streams > 1);
        EXPECT_EQ(done().exit_code, streams > 1 ? 0 : 1);
    }
}

// A twentieth of a stream too much: the buffers last for half a minute, longer than a step.
TEST_F(Max, BuffersThatEmptyDoNotPlay) {
    const Json result = search(small_with({}), links_of(4.95 * kSmallBytesPerS));
    const Json& found = result["formats"][0];
    EXPECT_EQ(found["streams"], 4);
    const Json five = steps_of(found, 5);
    ASSERT_EQ(five.size(), 1U);
    ASSERT_EQ(five[0]["runs"].size(), 2U) << five;
    EXPECT_EQ(five[0]["runs"][0]["pass"], true);
    EXPECT_EQ(five[0]["runs"][0]["undecided"], true);
    const double empty_s = five[0]["runs"][0]["empty_after_ns"].get<double>() * 1e-9;
    EXPECT_NEAR(empty_s, 8.0 / 24 * 5 / 0.05, 8) << "read-ahead, streams, shortfall";
    EXPECT_EQ(five[0]["runs"][1]["pass"], false);
    EXPECT_THAT(done().out, HasSubstr("the buffers emptied"));
}

// Too slowly for a step to see: the confirmation does.
TEST_F(Max, GoesDownWhereTheConfirmationFails) {
    const Json result = search(small_with({"--confirm", "10m"}), links_of(4.993 * kSmallBytesPerS));
    const Json& found = result["formats"][0];
    EXPECT_EQ(found["streams"], 4) << done().text();
    EXPECT_EQ(found["fails_at"], 5);
    EXPECT_EQ(found["confirmed"], true);
    EXPECT_EQ(found["confirm_ns"], 600'000'000'000);
    EXPECT_EQ(steps_of(found, 5).back()["purpose"], "confirm");
    EXPECT_THAT(done().out, HasSubstr("not confirmed: 5 streams do not play"));
}

TEST_F(Max, IsATableOfFormats) {
    const Json result = search({"--prores-hd", "--prores-uhd", "--dpx10", "--dpx12"}, "sim:h500?nodes=1");
    std::vector<std::pair<std::string, int>> rows;
    for (const Json& found : result["formats"]) rows.emplace_back(found["format"], found["streams"]);
    EXPECT_EQ(rows, (std::vector<std::pair<std::string, int>>{
                        {"dpx10", 2}, {"dpx12", 1}, {"prores-hd", 15}, {"prores-uhd", 7}}));
    EXPECT_EQ(done().exit_code, 0);
    EXPECT_THAT(done().out, HasSubstr("This is no measurement: h500 is a model"));
    EXPECT_THAT(done().err, HasSubstr("prores-hd: 8 play, 16 fail; trying 12 for 20.0 s"));
    EXPECT_THAT(done().err, Not(HasSubstr("left"))) << "virtual time takes none";
}

TEST_F(Max, SeatsShareOneTotal) {
    const Json result = search(small_with({"--seats", "3"}), links_of(2.5 * kSmallBytesPerS));
    EXPECT_EQ(result["formats"][0]["streams"], 6);
    EXPECT_EQ(result["formats"][0]["streams_per_seat"], 2);
    EXPECT_THAT(done().out, HasSubstr("plays 6, 2 a seat"));
}

// The server's link carries two streams outwards and two recordings inwards, but not three of either.
TEST_F(Max, EverySeatRecordsInEachStep) {
    const std::string storage = model_of(100 * kSmallBytesPerS, 2.6 * kSmallBytesPerS);
    const Json two = search(small_with({"--seats", "2", "--record", "1"}), storage)["formats"][0];
    EXPECT_EQ(two["streams"], 2) << done().text();
    EXPECT_EQ(two["fails_at"], 3);
    const Json three = search(small_with({"--seats", "3", "--record", "1"}), storage)["formats"][0];
    EXPECT_EQ(three["streams"], 0) << done().text();
    EXPECT_EQ(three["fails_at"], 1);
}

TEST_F(Max, HeadroomLeavesRoom) {
    // The fuller the link the longer a frame takes, and two frames of read-ahead leave little more than a
    // period.
    const std::string storage = links_of(4.5 * kSmallBytesPerS);
    const std::vector<std::string> tight{"--readahead", "2", "--inflight", "1"};
    const Json all = search(small_with(tight), storage)["formats"][0];
    std::vector<std::string> with = tight;
    with.insert(with.end(), {"--headroom", "90%"});
    const Json some = search(small_with(with), storage)["formats"][0];
    EXPECT_EQ(all["streams"], 4);
    EXPECT_LT(some["streams"], 4);
    EXPECT_GE(some["streams"], 1);
    EXPECT_GE(some["margin_p1_percent"], 90);
    EXPECT_THAT(some["reason"].get<std::string>(), HasSubstr("without the headroom"));
    EXPECT_LT(steps_of(some, some["fails_at"].get<std::uint64_t>())[0]["margin_p1_percent"], 90);
}

TEST_F(Max, StorageThatNeverFailsEndsTheSearch) {
    const Json result = search(small_with({"--duration", "1200ms", "--confirm", "1100ms"}), "sim:null");
    const Json& found = result["formats"][0];
    EXPECT_EQ(found["at_least"], true);
    EXPECT_GE(found["streams"], 1'000);
    EXPECT_TRUE(found["fails_at"].is_null());
    EXPECT_EQ(found["limit"], "none");
    const Json asked =
        search(small_with({"--duration", "1200ms", "--total-streams", "37"}), "sim:null")["formats"][0];
    EXPECT_EQ(asked["streams"], 37);
    EXPECT_EQ(asked["at_least_because"], "not asked for more");
}

TEST_F(Max, MakesTheMediaThatItNeeds) {
    const Json result = search(small_with({"--duration", "1200ms", "--clip-duration", "1s", "--confirm",
                                           "1100ms", "--total-streams", "3", "--media", "own"}),
                               target());
    EXPECT_EQ(done().exit_code, 0) << done().text();
    EXPECT_EQ(result["formats"][0]["streams"], 3);
    EXPECT_EQ(clip_directories().size(), 3U);
    EXPECT_THAT(done().err, HasSubstr("missing clips, of 3, are made as the search needs them"));
    EXPECT_THAT(done().err, HasSubstr("small: trying 1 for 1.2 s; at most"));
    const std::string second = "small: 1 play; trying 2";
    EXPECT_LT(done().err.find("small: trying 1"), done().err.find(second));
    search(small_with({"--duration", "1200ms", "--confirm", "0", "--total-streams", "2"}), target());
    EXPECT_THAT(done().err, Not(HasSubstr("what is missing")));
}

TEST_F(Max, PlaysTheClipsOfOthersAndSaysHowManyThereAre) {
    const std::string theirs = two_clips_of_others();
    const Json result = search({"--duration", "1200ms", "--confirm", "0"}, theirs);
    ASSERT_EQ(result["formats"].size(), 1U) << done().text();
    EXPECT_EQ(result["formats"][0]["streams"], 2);
    EXPECT_THAT(result["formats"][0]["at_least_because"].get<std::string>(), HasSubstr("no more clips"));
    const Json same =
        search({"--duration", "1200ms", "--confirm", "0", "--media", "same", "--streams", "5"}, theirs);
    EXPECT_EQ(same["formats"][0]["streams"], 5);
}

TEST_F(Max, ClipsOfOthersThatAreTooFewForOneStepAreRefused) {
    const std::string theirs = two_clips_of_others();
    const auto refusal = [&theirs](std::vector<std::string> options) {
        options.insert(options.begin(), "max");
        options.push_back(theirs);
        const Finished done = streamsim(options);
        EXPECT_EQ(done.exit_code, 2) << done.text();
        return done.err;
    };
    EXPECT_THAT(refusal({"--find", "streams", "--seats", "4"}), HasSubstr("need 4 clips and there are 2"));
    EXPECT_THAT(refusal({"--find", "seats", "--seats", "2", "--streams", "4"}),
                HasSubstr("need 4 clips and there are 2"));
    EXPECT_THAT(refusal({"--layers", "3"}), HasSubstr("needs 3 clips and there are 2"));
    const Json enough =
        search({"--find", "streams", "--seats", "2", "--duration", "1200ms", "--confirm", "0"}, theirs);
    EXPECT_EQ(enough["formats"][0]["streams"], 2) << done().text();
}

TEST_F(Max, ADamagedClipPlaysNowhere) {
    prepare(1);
    std::filesystem::remove(frames_in(clip_directories().front())[3]);
    const Json result = search(small_with({"--duration", "1200ms", "--total-streams", "1"}), target());
    EXPECT_EQ(done().exit_code, 1) << done().text();
    EXPECT_EQ(result["formats"][0]["streams"], 0);
    EXPECT_EQ(result["formats"][0]["fails_at"], 1);
    EXPECT_EQ(result["formats"][0]["limit"], "media");
    EXPECT_THAT(done().out, HasSubstr("plays none"));
}

TEST_F(Max, AnInterruptionWritesWhatIsKnown) {
    Spawn spawn;
    spawn.args = small_with({"max", "--duration", "1200ms", "--clip-duration", "1s", "--json", json_path()});
    spawn.args.push_back(target());
    Process process(streamsim_binary(), spawn);
    while (process.running() && process.err_so_far().find("1 play; trying 2") == std::string::npos)
        sleep_ms(10);
    process.send(SIGINT);
    const Finished done = process.wait();
    EXPECT_EQ(done.exit_code, 130) << done.text();
    const Json result = read_json(json_path());
    EXPECT_EQ(result["interrupted"], true);
    EXPECT_EQ(result["formats"][0]["interrupted"], true);
    EXPECT_EQ(result["formats"][0]["streams"], 1) << done.text();
    EXPECT_EQ(result["formats"][0]["at_least"], true);
    EXPECT_EQ(result["formats"][0]["confirmed"], false);
    EXPECT_THAT(done.out, HasSubstr("interrupted"));
}

/// On several processors steps are played before they are asked for, which changes no answer.
TEST_F(Max, InVirtualTimeOneProcessorGivesTheSameAnswer) {
    cpu_set_t all;
    CPU_ZERO(&all);
    ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    if (CPU_COUNT(&all) == 1) GTEST_SKIP() << "there is one processor";
    std::size_t first = 0;
    while (!CPU_ISSET(first, &all)) ++first;
    const std::string large = write_format("large", 4 * kSmallWidth, kSmallHeight);
    const auto search_on = [&](const std::string& model, int seats, bool one_processor) {
        Spawn spawn;
        // Steps are as long as the confirmation: those of one format could be taken for those of the other.
        spawn.args = small_with({"max", "-v", "--seats", std::to_string(seats), "--total-streams", "40"});
        for (const std::string& more : {std::string("--format"), large, std::string("--duration"),
                                        std::string("60s"), std::string("--json"), json_path(), model})
            spawn.args.push_back(more);
        std::filesystem::remove(json_path());
        if (one_processor)
            spawn.args.insert(spawn.args.begin(), {"-c", std::to_string(first), streamsim_binary()});
        const Finished done = run(one_processor ? "/usr/bin/taskset" : streamsim_binary(), spawn);
        const Json result = read_json(json_path());
        EXPECT_EQ(result["formats"].size(), 2U) << done.text();
        return Json{result["formats"], result["notices"], done.out, done.err};
    };
    for (const int seats : {1, 3}) {
        const std::string model = links_of((seats == 1 ? 2.5 : 5.5) * kSmallBytesPerS);
        EXPECT_EQ(search_on(model, seats, false), search_on(model, seats, true));
    }
}

TEST_F(Max, AnInterruptionEndsAllThatIsPlayedAhead) {
    Spawn spawn;
    spawn.args = small_with({"max", "--duration", "2000h", "--json", json_path(), "sim:nfs-generic"});
    Process process(streamsim_binary(), spawn);
    while (process.running() && process.err_so_far().find("trying 1") == std::string::npos) sleep_ms(10);
    process.send(SIGINT);
    const Finished done = process.wait();
    EXPECT_EQ(done.exit_code, 130) << done.text();
    EXPECT_EQ(read_json(json_path())["interrupted"], true);
}

TEST_F(Max, ComparesTargets) {
    const std::string two = links_of(2.5 * kSmallBytesPerS);
    const Finished done = streamsim(
        {"max", "--format", small(), two, "sim:null", "--streams", "4", "--html", dir_ / "sheet.html"});
    EXPECT_EQ(done.exit_code, 0) << done.text();
    EXPECT_THAT(done.out, HasSubstr("plays 2"));
    EXPECT_THAT(done.out, HasSubstr("from sim:null"));
    const std::string page = read_text(dir_ / "sheet.html");
    EXPECT_THAT(page, HasSubstr("2 searches compared"));
    EXPECT_THAT(page, HasSubstr("<strong>2</strong> streams"));
    EXPECT_THAT(page, HasSubstr("sim:null"));
    const Finished piped =
        streamsim({"max", "--format", small(), two, "sim:null", "--streams", "1", "--html", "-"});
    EXPECT_THAT(piped.out, ::testing::StartsWith("<!DOCTYPE html>"));
    EXPECT_THAT(piped.err, HasSubstr("from sim:null"));
    const Finished wrong = streamsim({"max", "sim:null", "sim:h50", "sim:f80", "--json", json_path()});
    EXPECT_EQ(wrong.exit_code, 2);
    EXPECT_THAT(wrong.err, HasSubstr("--json: is the result of one TARGET"));
    EXPECT_THAT(wrong.err, HasSubstr("no model 'h50'"));
    EXPECT_THAT(wrong.err, HasSubstr("no model 'f80'"));
    const Finished gone =
        streamsim({"max", "--format", small(), dir_ / "nothing", "sim:null", "--streams", "1"});
    EXPECT_EQ(gone.exit_code, 3) << "the worst of all";
    EXPECT_THAT(gone.out, HasSubstr("from sim:null")) << "the others are searched all the same";
}

TEST_F(Max, RefusesRunsWithinTheReadAhead) {
    for (const char* option : {"--duration", "--confirm"}) {
        const auto with = [&](const char* readahead) {
            return streamsim(small_with(
                {"max", "--quiet", "--streams", "1", option, "3s", "--readahead", readahead, "sim:null"}));
        };
        const Finished refused = with("72");
        EXPECT_EQ(refused.exit_code, 2) << option;
        EXPECT_THAT(refused.err, HasSubstr(std::string("streamsim: ") + option + ": 3.0 s is no longer than"));
        EXPECT_THAT(refused.err, HasSubstr("--readahead"));
        EXPECT_EQ(with("71").exit_code, 0) << option;
    }
    const Json found = search(small_with({"--streams", "1", "--readahead", "1440"}), "sim:null");
    EXPECT_EQ(found["formats"][0]["confirm_ns"], 300'000'000'000) << "five read-aheads";
}

TEST_F(Max, SaysEveryMistake) {
    const Finished done = streamsim({"max", "--fps", "max", "--confirm", "5", "--headroom", "120%",
                                     "--multicam", "active", "--frames", "9", "sim:h500"});
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_EQ(done.out, "");
    for (const char* option : {"--fps", "--confirm", "--headroom", "--multicam", "--frames"})
        EXPECT_THAT(done.err, HasSubstr(std::string("streamsim: ") + option + ": "));
    EXPECT_EQ(streamsim({"max", dir_ / "nothing"}).exit_code, 3);
    EXPECT_EQ(streamsim({"--headroom", "20", "sim:null"}).exit_code, 2) << "is not for playing";
}

}  // namespace
}  // namespace streamsim::tests
