// streamsim predict from outside, and what play, max and scenarios say on a model that was calibrated.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "cli/fixture.h"

namespace streamsim::tests {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class Predict : public CliTest {
protected:
    Predict() : model_(read_json(std::string(STREAMSIM_SOURCE_FORMATS) + "/../tests/sim/calibrated.json")) {
        model_["node"].erase("other_load");  // at random: more draws would be needed
    }

    /// Writes model_, which a test has changed, and gives its file.
    std::string file() {
        const std::string path = dir_ / "mine.json";
        write_text(path, model_.dump());
        return path;
    }
    Json predict(std::vector<std::string> options) {
        options.insert(options.begin(), "predict");
        options.insert(options.end(), {"--duration", "5s", "--json", json_path(), file()});
        std::filesystem::remove(json_path());
        done_ = streamsim(options);
        const Json result = read_json(json_path());
        EXPECT_EQ(result["schema"], "streamsim.prediction") << done_.text();
        return result;
    }

    Json model_;
    Finished done_;
};

TEST_F(Predict, AnswersWithAnIntervalAndWhatIsFullFirst) {
    const Json result = predict({"--prores-uhd", "--seats", "2", "--draws", "40"});
    EXPECT_EQ(done_.exit_code, 0) << done_.text();
    const Json& prediction = result["predictions"][0];
    EXPECT_EQ(prediction["verdict"], "answered");
    EXPECT_EQ(prediction["question"], "most");
    EXPECT_EQ(prediction["draws"], 40);
    EXPECT_LE(prediction["low"], prediction["nominal"]);
    EXPECT_LE(prediction["nominal"], prediction["high"]);
    EXPECT_LT(prediction["low"], prediction["high"]);
    EXPECT_EQ(prediction["full_first"][0]["part"], "server network");
    const std::string sentence = prediction["sentence"];
    EXPECT_THAT(sentence,
                HasSubstr(fmt::format("2 seats: {} streams of prores-uhd ({} to {}, 90 %); full first: ",
                                      prediction["nominal"].get<int>(), prediction["low"].get<int>(),
                                      prediction["high"].get<int>())));
    EXPECT_THAT(done_.out, AllOf(HasSubstr(sentence.substr(0, 60)), HasSubstr("This is no measurement"),
                                 HasSubstr("held back: 2 streams of dpx12 on 2 seats, and 2 were predicted")));
    EXPECT_THAT(done_.err, HasSubstr("40 of 40 draws"));
    std::uint64_t draws = 0;
    for (const Json& count : prediction["distribution"]) draws += count["draws"].get<std::uint64_t>();
    EXPECT_EQ(draws, 40U);
    EXPECT_EQ(predict({"--prores-uhd", "--seats", "2", "--draws", "40"})["predictions"], result["predictions"])
        << "the same seed gives the same answer";
}

TEST_F(Predict, ThePageHasTheDistribution) {
    const std::string page = dir_ / "page.html";
    const Finished done = streamsim(
        {"predict", "-q", "--prores-uhd", "--draws", "20", "--duration", "5s", "--html", page, file()});
    EXPECT_EQ(done.exit_code, 0) << done.text();
    EXPECT_THAT(read_text(page),
                AllOf(HasSubstr("streamsim prediction"), HasSubstr("Streams of prores-uhd that play"),
                      HasSubstr("held back: "), HasSubstr("server network")));
}

TEST_F(Predict, AnInterruptionBeforeAnyAnswerKeepsAnEarlierOne) {
    const std::string earlier = "{\n  \"schema\": \"streamsim.prediction\"} of hours";
    write_text(json_path(), earlier);
    Process process(streamsim_binary(), {.args = {"predict", "--prores-uhd", "--duration", "1000h", "--json",
                                                  json_path(), file()}});
    while (process.running() && process.err_so_far().find("searching") == std::string::npos) sleep_ms(10);
    process.send(SIGINT);
    const Finished done = process.wait();
    EXPECT_EQ(done.exit_code, 130) << done.text();
    EXPECT_EQ(read_text(json_path()), earlier);
    EXPECT_THAT(done.err, HasSubstr("the earlier result stays: " + json_path()));
}

TEST_F(Predict, TheAnswerIsPrintedAlsoWhereAFileCannotBeWritten) {
    const Json result = predict({"--prores-uhd", "--draws", "20", "--html", "/dev/full"});
    EXPECT_EQ(done_.exit_code, 3) << done_.text();
    EXPECT_THAT(done_.err, HasSubstr("/dev/full: cannot be written"));
    EXPECT_THAT(done_.out, HasSubstr(result["predictions"][0]["sentence"].get<std::string>().substr(0, 60)));
}

TEST_F(Predict, GivenStreamsPlayInAShareOfTheDraws) {
    const Json few = predict({"--prores-uhd", "--total-streams", "4", "--draws", "20"});
    EXPECT_EQ(done_.exit_code, 0) << done_.text();
    EXPECT_EQ(few["predictions"][0]["question"], "plays");
    EXPECT_EQ(few["predictions"][0]["draws_that_play"], 20);
    EXPECT_THAT(done_.out, HasSubstr("4 streams of prores-uhd: play in 20 of 20 draws (100 %)"));
    const Json angles = predict({"--prores-uhd", "--streams", "4", "--multicam", "active", "--draws", "20"});
    EXPECT_EQ(angles["predictions"][0]["question"], "plays");
    const Json many = predict({"--prores-uhd", "--streams", "20", "--draws", "20"});
    EXPECT_EQ(done_.exit_code, 1) << done_.text();
    EXPECT_EQ(many["predictions"][0]["draws_that_play"], 0);
}

TEST_F(Predict, RefusesWhereOneSeatCannotTellItsLimitFromTheServers) {
    Json& rate = model_["node"]["front_end"]["bits_per_s"];
    rate = {{"value", 9e9}, {"low", 9e9}, {"basis", "measured: so"}};
    model_["calibration"]["seats"] = 1;
    model_["calibration"]["told_apart"] = false;
    const Json result = predict({"--prores-uhd", "--seats", "8", "--draws", "20"});
    EXPECT_EQ(done_.exit_code, 1) << done_.text();
    const Json& prediction = result["predictions"][0];
    EXPECT_EQ(prediction["verdict"], "refused");
    EXPECT_EQ(prediction["if_never_full"], prediction["high"]);
    EXPECT_EQ(prediction["full_first"][0]["part"], "seat or server, not told apart");
    EXPECT_THAT(done_.out,
                AllOf(HasSubstr("REFUSED: 8 seats: at least "), HasSubstr("calibrate with two seats: ")));
}

TEST_F(Predict, RefusesAModelThatItsHeldBackRunRejected) {
    model_["calibration"]["held_back"]["rejected"] = true;
    predict({"--prores-uhd", "--draws", "20"});
    EXPECT_EQ(done_.exit_code, 1) << done_.text();
    EXPECT_THAT(done_.out, HasSubstr("refused: the model does not hold: held back: "));
}

TEST_F(Predict, NamesWhatWasNotMeasured) {
    const Json result = predict({"--prores-hd", "--draws", "20"});
    EXPECT_THAT(result["predictions"][0]["outside"],
                Contains("not measured: prores-hd; the error of the model is doubled"));
}

TEST_F(Predict, IsForModelsThatWereCalibrated) {
    const Finished certain = streamsim({"predict", "h500"});
    EXPECT_EQ(certain.exit_code, 2) << certain.text();
    EXPECT_THAT(certain.err, HasSubstr("'sim:h500': no number of this model has \"low\" and \"high\""));
    const Finished storage = streamsim({"predict", "null:"});
    EXPECT_EQ(storage.exit_code, 2) << storage.text();
    EXPECT_THAT(storage.err, HasSubstr("'null:': predict is for a model"));
    model_["node"]["front_end"]["bits_per_s"]["low"] = 1e10;
    model_["client"]["link"]["bits_per_s"].erase("low");
    const Finished wrong = streamsim({"predict", file()});
    EXPECT_EQ(wrong.exit_code, 2) << wrong.text();
    EXPECT_THAT(wrong.err, AllOf(HasSubstr("/node/front_end/bits_per_s/low: expected no more than \"value\""),
                                 HasSubstr("/client/link/bits_per_s/low: missing")));
}

TEST_F(Predict, FewDrawsGiveNoInterval) {
    const Finished few = streamsim({"predict", "--draws", "19", file()});
    EXPECT_EQ(few.exit_code, 2) << few.text();
    EXPECT_THAT(few.err, HasSubstr("--draws: expected 20 or more"));
    EXPECT_EQ(streamsim({"predict", "--draws", "0", file()}).exit_code, 2);
    EXPECT_EQ(streamsim({"max", "--draws", "1", "sim:" + file()}).exit_code, 2);
    EXPECT_EQ(streamsim({"--draws", "19", "sim:" + file()}).exit_code, 2);
}

TEST_F(Predict, AModelHasNoFiles) {
    const Json result = play({"--prores-uhd", "--duration", "1s", "--draws", "0", "--cold", "--io", "threads"},
                             "sim:" + file());
    EXPECT_THAT(result["notices"], Contains(HasSubstr("--io, --cold have no effect on sim:")));
}

TEST_F(Predict, PlayAddsInHowManyDrawsItPlays) {
    const std::string url = "sim:" + file();
    const Json result = play({"--prores-uhd", "--streams", "4", "--duration", "3s", "--draws", "20"}, url);
    EXPECT_EQ(result["prediction"]["question"], "plays");
    EXPECT_EQ(result["prediction"]["draws_that_play"], 20);
    EXPECT_THAT(result["model"]["trust"], Contains(HasSubstr("held back: ")));
    const Json without = play({"--prores-uhd", "--streams", "4", "--duration", "3s", "--draws", "0"}, url);
    EXPECT_FALSE(without.contains("prediction"));
    const Json certain = play({"--prores-hd", "--duration", "3s", "--draws", "30"}, "sim:h500");
    EXPECT_FALSE(certain.contains("prediction"));
    EXPECT_THAT(certain["notices"],
                Contains("--draws has no effect: sim:h500 is no model that was calibrated"));
    const Finished done = streamsim({"--prores-uhd", "--duration", "3s", "--draws", "20", url});
    EXPECT_THAT(done.out, HasSubstr("1 stream of prores-uhd: plays in 20 of 20 draws (100 %)"));
}

TEST_F(Predict, MaxAddsTheInterval) {
    const Finished done = streamsim({"max", "-v", "--prores-uhd", "--duration", "5s", "--draws", "20", "--json",
                                     json_path(), "sim:" + file()});
    EXPECT_EQ(done.exit_code, 0) << done.text();
    const Json result = read_json(json_path());
    const Json& found = result["formats"][0];
    EXPECT_EQ(found["prediction"]["nominal"], found["streams"]);
    EXPECT_LE(found["prediction"]["low"], found["streams"]);
    EXPECT_THAT(result["model_trust"], Contains(HasSubstr("held back: ")));
    EXPECT_THAT(done.out, AllOf(HasSubstr("predicted: 1 seat: "), HasSubstr("held back: 2 streams of dpx12")));
    const Finished again = streamsim({"report", "-v", json_path()});
    EXPECT_EQ(again.exit_code, 0) << again.text();
    EXPECT_THAT(again.out, HasSubstr("predicted: 1 seat: ")) << "a document keeps it";
}

TEST_F(Predict, MaxThatTriesFewerThanPlayAddsTheIntervalOfAllThatPlay) {
    streamsim({"max", "--prores-uhd", "--duration", "5s", "--draws", "20", "--total-streams", "2", "--json",
               json_path(), "sim:" + file()});
    const Json found = read_json(json_path())["formats"][0];
    EXPECT_EQ(found["streams"], 2);
    EXPECT_EQ(found["at_least"], true);
    EXPECT_GT(found["prediction"]["nominal"], 3);
    EXPECT_GT(found["prediction"]["low"], 2);
}

/// A frame that is asked for when the one before it is shown has less than a period to spare.
TEST_F(Predict, TheIntervalOfMaxHasItsHeadroom) {
    streamsim({"max", "--prores-uhd", "--duration", "5s", "--draws", "20", "--readahead", "1", "--headroom",
               "100%", "--json", json_path(), "sim:" + file()});
    const Json found = read_json(json_path())["formats"][0];
    EXPECT_EQ(found["streams"], 0);
    EXPECT_EQ(found["prediction"]["high"], 0);
}

TEST_F(Predict, AScenarioAddsInHowManyDrawsItPlays) {
    const std::string scenario = dir_ / "scenario.json";
    write_text(scenario, Json{{"schema", "streamsim.scenario"},
                              {"version", 1},
                              {"duration", "3s"},
                              {"seats",
                               {{{"count", 2},
                                 {"target", "sim:" + file()},
                                 {"streams", {{{"format", "prores-uhd"}, {"count", 2}}}}}}}}
                             .dump());
    const Finished done = streamsim({"run", "--draws", "20", "--json", json_path(), scenario});
    EXPECT_EQ(done.exit_code, 0) << done.text();
    const Json result = read_json(json_path());
    EXPECT_EQ(result["prediction"]["streams"], 4);
    EXPECT_EQ(result["prediction"]["draws_that_play"], 20);
    EXPECT_THAT(done.out, Not(HasSubstr("refused")));
}

}  // namespace
}  // namespace streamsim::tests
