// streamsim run: what is typed, what comes back.
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "cli/fixture.h"

namespace streamsim::tests {
namespace {

using testing::HasSubstr;

class ScenarioTest : public CliTest {
protected:
    /// A scenario of 2 s: an editor with two streams, and a second who begins after half a second.
    Json scenario(const std::string& where) const {
        const Json streams = {{{"format", small()}, {"count", 2}, {"clip_duration", "1s"}}};
        return {{"schema", "streamsim.scenario"},
                {"version", 1},
                {"description", "two editors"},
                {"duration", "2s"},
                {"seats",
                 {{{"target", where}, {"streams", streams}},
                  {{"target", where}, {"start", "500ms"}, {"streams", streams}}}}};
    }
    std::string write(const Json& document) const {
        const std::string path = dir_ / "scenario.json";
        write_text(path, document.dump());
        return path;
    }
    Json result_of(const Json& document, int exit_code, std::vector<std::string> options = {}) {
        options.insert(options.begin(), {"run", write(document), "--json", json_path()});
        finished_ = streamsim(options);
        EXPECT_EQ(finished_.exit_code, exit_code) << finished_.text();
        Json result = read_json(json_path());
        EXPECT_THAT(result_problems(result), testing::IsEmpty());
        return result;
    }

    Finished finished_;
};

TEST_F(ScenarioTest, IsPlayedInVirtualTimeAndSaysSo) {
    Json document = scenario("sim:null");
    document["expect"] = {{"effect", "it plays"}, {"plays", true}};
    const Json result = result_of(document, 0);
    EXPECT_THAT(finished_.out, HasSubstr("PLAYS: 4 streams"));
    EXPECT_THAT(finished_.out, HasSubstr("two editors"));
    EXPECT_THAT(finished_.out, HasSubstr("as expected"));
    EXPECT_LT(finished_.wall_s, 1.5) << "two seconds of play";
    EXPECT_EQ(result["scenario"]["file"], dir_ / "scenario.json");
    EXPECT_EQ(result["scenario"]["as_expected"], true);
    EXPECT_EQ(result["scenario"]["surprises"], Json::array());
    EXPECT_EQ(result["streams"].size(), 4u);
    EXPECT_EQ(result["streams"][2]["play_start_ns"], 500'000'000);
    EXPECT_EQ(result["streams"][2]["frames_scheduled"], 36);
}

TEST_F(ScenarioTest, ThatIsNotAsItsAuthorSaidIsToldAndStillJudgedByItsFrames) {
    Json document = scenario("sim:null");
    document["faults"] = {{{"kind", "throughput-gap"}, {"at", "1s"}, {"for", "800ms"}}};
    document["expect"] = {{"effect", "nothing"}, {"plays", true}};
    const Json result = result_of(document, 1);
    EXPECT_EQ(result["scenario"]["as_expected"], false);
    EXPECT_EQ(result["scenario"]["surprises"].size(), 1u);
    EXPECT_THAT(finished_.out, HasSubstr("not as expected: it does not play"));
}

TEST_F(ScenarioTest, OnRealFilesMakesItsMediaAndPlaysTheSame) {
    const Json modelled = result_of(scenario("null:"), 0);
    const Json real = result_of(scenario(target()), 0, {"--csv", dir_ / "frames.csv"});
    EXPECT_EQ(clip_directories().size(), 4u) << "each stream its own";
    EXPECT_EQ(real["totals"]["bytes_read"], modelled["totals"]["bytes_read"]);
    EXPECT_EQ(real["digest"], modelled["digest"])
        << "seat, stream, slot, kind, reason and bytes of every frame";
    EXPECT_GE(real["streams"][2]["play_start_ns"], 500'000'000);
    EXPECT_LT(real["streams"][2]["play_start_ns"], 900'000'000);
    EXPECT_THAT(read_text(dir_ / "frames.csv"), HasSubstr("clip-0004"));
}

TEST_F(ScenarioTest, PlaysTheClipsThatAPlaceHolds) {
    prepare(2);
    const std::string clips = clip_directories().front() + "/..";
    Json document = scenario(clips);
    for (Json& seats : document["seats"]) seats["streams"] = Json::array({Json::object()});
    EXPECT_EQ(result_of(document, 0)["totals"]["frames_on_time"], 48 + 36);
    document["seats"][0]["streams"][0]["count"] = 2;
    const Finished finished = streamsim({"run", write(document)});
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_THAT(finished.err, HasSubstr("3 streams need 3 clips"));
}

TEST_F(ScenarioTest, StreamsWithAndWithoutAudioPlayClipsOfTheirOwn) {
    prepare(2);
    Json document = scenario(clip_directories().front() + "/..");
    document["duration"] = "1s";
    document["seats"].erase(1);
    document["seats"][0]["streams"] = Json::array({Json::object(), Json{{"audio", true}}});
    const std::string csv = dir_ / "frames.csv";
    (void)result_of(document, 0, {"--csv", csv});
    EXPECT_THAT(read_text(csv), testing::AllOf(HasSubstr("clip-0001"), HasSubstr("clip-0002")));
}

TEST_F(ScenarioTest, AClipOfTwoStreamsMayBeWarmHoweverItWasFound) {
    if (!LaterClock::works()) GTEST_SKIP() << "no library is loaded before those of sanitizers";
    copy_clip_of_others();
    const std::string shot = target() + "/shot";
    const LaterClock a_day_later;
    const auto may_be_warm = [&](const Json& streams, const std::string& second_target) {
        Json document = scenario(target());
        document["duration"] = "500ms";
        document["seats"][0]["streams"] = streams;
        document["seats"][1] = {{"target", second_target}, {"streams", Json::array({Json::object()})}};
        if (second_target.empty()) document["seats"].erase(1);
        return result_of(document, 0)["media"]["server_cache_may_be_warm"].get<bool>();
    };
    const Json own = Json::array({Json::object()});
    const Json silent = {{"media", "same"}, {"audio", false}},
               with_audio = {{"media", "same"}, {"audio", true}};
    EXPECT_FALSE(may_be_warm(own, ""));
    EXPECT_TRUE(may_be_warm(Json::array({silent, with_audio}), ""));
    EXPECT_TRUE(may_be_warm(own, shot));
}

TEST_F(ScenarioTest, EachStreamReadsTheAudioThatItAsksFor) {
    if (std::system("ffmpeg -version > /dev/null 2>&1") != 0) GTEST_SKIP() << "needs ffmpeg";
    const Finished made = run(
        "/bin/sh", {.args = {"-c", "cd " + target() +
                                       " && ffmpeg -v error -f lavfi -i testsrc2=s=320x180:r=25 -f lavfi -i "
                                       "sine=r=48000 -t 1 -c:v prores_ks -c:a pcm_s16le a.mov "
                                       "&& cp a.mov b.mov && cp a.mov c.mov"}});
    ASSERT_EQ(made.exit_code, 0) << made.text();
    const Json silent = Json::object(), with_audio = {{"audio", true}};
    Json document = scenario(target());
    document["duration"] = "400ms";
    document["seats"].erase(1);
    document["seats"][0]["streams"] = Json::array({silent, with_audio, silent});
    const Json result = result_of(document, 0, {"--csv", dir_ / "frames.csv"});
    EXPECT_EQ(result["play"]["audio"], true);
    const Json& streams = result["streams"];
    const auto read = [&](std::size_t stream) { return streams.at(stream)["bytes_read"].get<std::int64_t>(); };
    EXPECT_GT(read(1), read(0) + 20'000) << "96,000 bytes of audio a second";
    EXPECT_EQ(read(0), read(2));
    const std::string csv = read_text(dir_ / "frames.csv");
    for (const char* clip : {"/a.mov", "/b.mov", "/c.mov"}) EXPECT_THAT(csv, HasSubstr(clip));
}

TEST_F(ScenarioTest, SeedIsItsOwnOrTyped) {
    Json document = scenario("sim:null");
    document["seed"] = 5;
    const Json first = result_of(document, 0);
    EXPECT_EQ(first["seed"], 5);
    EXPECT_EQ(result_of(document, 0)["timing_digest"], first["timing_digest"]);
    const Json other = result_of(document, 0, {"--seed", "6", "--quiet"});
    EXPECT_EQ(other["seed"], 6);
    EXPECT_NE(other["timing_digest"], first["timing_digest"]);
    EXPECT_EQ(finished_.out, "");
}

TEST_F(ScenarioTest, MistakesAreAllToldWithTheirPlaces) {
    Json document = scenario("sim:null");
    document["seats"][0]["streams"][0]["format"] = "vhs";
    document["seats"][1]["target"] = "null:";
    document["faults"] = {{{"kind", "drive-dies"}, {"at", "1s"}, {"node", 0}, {"drive", 0}}};
    const Finished finished = streamsim({"run", write(document)});
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_EQ(finished.out, "");
    for (const char* place : {"/seats/0/streams/0/format: ", "/seats/1/target: ", "/faults/0/kind: "}) {
        EXPECT_THAT(finished.err, HasSubstr(dir_ / "scenario.json" + ": " + place));
    }
}

TEST_F(ScenarioTest, TwoFormatsOfOneNameAreRefused) {
    Json other = read_json(small());
    other["raster"]["width"] = 2 * kSmallWidth;
    const std::string file = dir_ / "other.json";
    write_text(file, other.dump());
    for (const std::string& where : {std::string("sim:h500"), target()}) {
        Json document = scenario(where);
        document["seats"][1]["streams"][0]["format"] = file;
        const Finished finished = streamsim({"run", write(document)});
        EXPECT_EQ(finished.exit_code, 2) << finished.text();
        EXPECT_THAT(finished.err, HasSubstr("/seats/1/streams/0/format: two formats have the name small"));
    }
    EXPECT_TRUE(std::filesystem::is_empty(target()));
}

TEST_F(ScenarioTest, OnTwoTargetsWritesToTheFirstAlone) {
    const std::string other = dir_ / "other";
    std::filesystem::create_directory(other);
    const Json recorder = {{"format", small()}, {"count", 1}};
    const Json recorders = Json::array({recorder});
    Json document = scenario(target());
    document["seats"][1]["target"] = other;
    document["seats"][1]["recorders"] = recorders;
    const Finished refused = streamsim({"run", write(document)});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("/seats/1/recorders: "));
    document["seats"][1].erase("recorders");
    const Finished missing = streamsim({"run", write(document)});
    EXPECT_EQ(missing.exit_code, 2);
    EXPECT_THAT(missing.err, HasSubstr(other + ": of 2 clips of"));
    EXPECT_TRUE(std::filesystem::is_empty(target()) && std::filesystem::is_empty(other));
    const Finished made = streamsim(
        {"prepare", "--quiet", "--format", small(), "--streams", "2", "--clip-duration", "1s", other});
    EXPECT_EQ(made.exit_code, 0) << made.text();
    document["seats"][0]["recorders"] = recorders;
    const Json result = result_of(document, 0, {"--csv", dir_ / "frames.csv"});
    EXPECT_EQ(result["streams"].size(), 5U);
    EXPECT_THAT(read_text(dir_ / "frames.csv"), testing::AllOf(HasSubstr(other + "/streamsim-media"),
                                                               HasSubstr(target() + "/streamsim-media")));
}

TEST_F(ScenarioTest, TheCommandLineIsCheckedToo) {
    EXPECT_EQ(streamsim({"run", "--help"}).exit_code, 0);
    for (const std::vector<std::string>& wrong : {std::vector<std::string>{"run"},
                                                  {"run", dir_ / "none.json"},
                                                  {"run", dir_.path()},
                                                  {"run", write(scenario("sim:null")), "x"},
                                                  {"run", write(scenario("sim:null")), "--streams", "3"},
                                                  {"run", write(scenario("sim:null")), "--seed", "x"}}) {
        const Finished finished = streamsim(wrong);
        EXPECT_EQ(finished.exit_code, 2) << finished.text();
        EXPECT_NE(finished.err, "");
    }
    EXPECT_EQ(streamsim({"run", write(scenario(dir_ / "nowhere"))}).exit_code, 3);
}

TEST_F(ScenarioTest, SaysWhichOptionsHaveNoEffect) {
    const Finished done = streamsim({"run", write(scenario("sim:null")), "--duration", "5s", "--scale", "0.1",
                                     "--clients", "2", "--users", "3"});
    EXPECT_EQ(done.exit_code, 0) << done.text();
    EXPECT_THAT(done.err, HasSubstr("--duration, --scale, --clients, --users have no effect"));
    const Finished on_model = streamsim({"run", write(scenario("sim:h500")), "--wait", "--yes"});
    EXPECT_EQ(on_model.exit_code, 0) << on_model.text();
    EXPECT_THAT(on_model.err, HasSubstr("--wait, --yes have no effect on sim:h500: a model has no files"));
}

TEST_F(ScenarioTest, InterruptedHasItsResult) {
    Json document = scenario("null:");
    document["duration"] = "60s";
    document["expect"] = {{"effect", "it plays"}, {"plays", false}};
    Process process(streamsim_binary(), {.args = {"run", write(document), "--json", json_path()}});
    process.wait_until_it_hears(SIGINT);
    sleep_ms(700);
    process.send(SIGINT);
    const Json result = expect_interrupted(process.wait(), json_path());
    EXPECT_EQ(result["scenario"]["as_expected"], nullptr);
}

TEST_F(ScenarioTest, OnAModelHasItsNodesItsLinksAndItsFaults) {
    Json document = scenario("sim:h500");
    document["seats"][0]["node"] = 3;
    document["seats"][1]["link"] = {{"bits_per_s", 1e7}};
    document["faults"] = {{{"kind", "node-lost"}, {"at", "1s"}, {"node", 3}, {"failover", "700ms"}}};
    const Json result = result_of(document, 1);
    EXPECT_EQ(result["model"]["nodes_with_seats"], 2) << "by hand, and round robin";
    for (const Json& stream : result["streams"]) {
        EXPECT_GT(stream["frames_dropped"], 0) << "a seat whose node is lost, and one whose link is too narrow";
    }
    document["seats"][1].erase("link");
    document["faults"].clear();
    EXPECT_EQ(result_of(document, 0)["totals"]["frames_dropped"], 0);
    document["seats"][0]["node"] = 4;
    const Finished finished = streamsim({"run", write(document)});
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_THAT(finished.err, HasSubstr("/seats/0/node: there is no node 4"));
}

TEST_F(ScenarioTest, ThoseThatComeWithTheProgramAreAsTheySay) {
    for (const char* name : {"morning", "throughput-gap-null", "errors-null"}) {
        const Finished finished =
            streamsim({"run", std::string(STREAMSIM_SOURCE_DIR "/formats/scenario/") + name + ".json", "--json",
                       json_path(), "--quiet"});
        const Json result = read_json(json_path());
        EXPECT_EQ(finished.exit_code, exit_code_of(result)) << name;
        EXPECT_EQ(result["scenario"]["surprises"], Json::array()) << name;
    }
}

}  // namespace
}  // namespace streamsim::tests
