// Modelled storage from outside: what is typed, what comes back, and every mistake.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "cli/fixture.h"

namespace streamsim::tests {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class Models : public CliTest {
protected:
    Models() : model_(read_json(std::string(STREAMSIM_SOURCE_FORMATS) + "/storage/nfs-generic.json")) {}

    /// Writes model_, which a test has changed, and gives its URL.
    std::string url(const std::string& options = "") {
        const std::string path = dir_ / "mine.json";
        write_text(path, model_.dump());
        return "sim:" + path + options;
    }

    /// The message about a mistake: exit 2, nothing on standard output.
    static std::string mistake(const std::string& target) {
        const Finished done = streamsim({"--dpx10", "--frames", "24", target});
        EXPECT_EQ(done.exit_code, 2) << target << "\n" << done.text();
        EXPECT_EQ(done.out, "");
        return done.err;
    }

    static Json number(const Json& value) { return {{"value", value}, {"basis", "assumed: for a test"}}; }

    /// The part that is meant, by its name.
    static Json part_of(const Json& result, const std::string& name) {
        for (const Json& part : result["parts"]) {
            if (part["name"] == name) return part;
        }
        ADD_FAILURE() << "there is no part " << name;
        return {};
    }

    Json model_;
};

TEST_F(Models, WhatItCanDeliverIsTheSameHoweverMuchIsAsked) {
    std::vector<double> gives;
    for (const char* seats : {"10", "20", "40"}) {  // 5 play
        const Json result = play({"--dpx12", "--seats", seats, "--duration", "3s"}, "sim:h500?nodes=4");
        EXPECT_EQ(finished().exit_code, 1) << finished().text();
        ASSERT_EQ(result["probes"].size(), 1U);
        gives.push_back(result["probes"][0]["bytes_per_s"]);
        EXPECT_THAT(result["verdict"]["reason"].get<std::string>(),
                    HasSubstr("read without deadlines the model gives"));
    }
    for (const double each : gives) {
        EXPECT_NEAR(each / gives.front(), 1, 0.03);
        EXPECT_GT(each, 0.95 * 5 * 1194.6e6) << "what plays";
        EXPECT_LT(each, 1.2 * 5 * 1194.6e6);
    }
    const Json fine = play({"--dpx12", "--seats", "5", "--duration", "3s"}, "sim:h500?nodes=4");
    EXPECT_EQ(finished().exit_code, 0) << finished().text();
    EXPECT_TRUE(fine["probes"].empty()) << "nothing is asked of a model that does it";
}

TEST_F(Models, WhatPlaysSaysThatItIsAModel) {
    const Json result =
        play({"--prores-hd", "--streams", "2", "--seats", "2", "--duration", "5s"}, "sim:h500?nodes=2");
    EXPECT_EQ(finished().exit_code, 0) << finished().text();
    EXPECT_EQ(result["model"], (Json{{"name", "h500"},
                                     {"title", result["model"]["title"]},
                                     {"nodes", 4},
                                     {"nodes_with_seats", 2},
                                     {"cache", "cold"},
                                     {"trust", result["model"]["trust"]}}));
    ASSERT_EQ(result["model"]["trust"].size(), 2u);
    EXPECT_THAT(result["model"]["trust"][0], HasSubstr("fitted to 8 rows of Collaborative video editing"));
    EXPECT_THAT(result["model"]["trust"][1], HasSubstr("checked on 8 rows"));
    EXPECT_THAT(result["model"]["trust"][1], HasSubstr("52 streams instead of 48")) << "its errors";
    EXPECT_THAT(streamsim({"--prores-hd", "--duration", "5s", "sim:h500"}).out,
                HasSubstr("Trust       checked on"));
    EXPECT_EQ(result["target"]["io"], "sim");
    EXPECT_EQ(result["verdict"]["limit"], "none");
    EXPECT_FALSE(result["media"]["looped"]) << "a planned clip is as long as play";
    EXPECT_EQ(result["totals"]["frames_on_time"], 4 * 150);
    const Json cpu = part_of(result, "seat 1 processor");
    // Two streams at 30 fps and 0.058 core seconds a frame, of 85 % of 32 cores.
    EXPECT_NEAR(cpu["utilisation"].get<double>(), 2 * 30 * 0.058 / 27.2, 0.02);
    EXPECT_TRUE(cpu["utilisation_missed"].is_null());
    EXPECT_GE(cpu["utilisation_per_interval"].size(), 5U);
    EXPECT_GT(part_of(result, "node 0 RAM")["misses"], 0);
    const Finished text = streamsim({"-v", "--prores-hd", "--duration", "1s", "sim:h500"});
    EXPECT_EQ(text.exit_code, 0) << text.text();
    const std::size_t second = text.out.find('\n') + 1;
    EXPECT_THAT(text.out.substr(second, text.out.find('\n', second) - second),
                HasSubstr("this is no measurement; model h500 ("));
    EXPECT_THAT(text.out, HasSubstr("The busiest parts of the model"));
    EXPECT_THAT(text.out, Not(HasSubstr("delivery to this computer")));
}

TEST_F(Models, TheSameSeedGivesTheSameTimes) {
    const std::vector<std::string> options{"--dpx10", "--streams", "1", "--frames", "48", "--seed", "7"};
    const Json first = play(options, "sim:h500");
    const Json again = play(options, "sim:h500");
    EXPECT_EQ(first["timing_digest"], again["timing_digest"]);
    EXPECT_EQ(first["parts"], again["parts"]);
    const Json other = play({"--dpx10", "--streams", "1", "--frames", "48", "--seed", "8"}, "sim:h500");
    EXPECT_NE(first["timing_digest"], other["timing_digest"]);
}

TEST_F(Models, ASeatWithoutProcessorTimeIsTheLimit) {
    model_["client"]["cores"] = number(1);
    model_["client"]["link"]["bits_per_s"] = number(100e9);
    const Json result = play({"--prores-hd", "--duration", "5s"}, url());
    EXPECT_EQ(finished().exit_code, 1);
    EXPECT_EQ(result["verdict"]["limit"], "client-cpu");
    EXPECT_THAT(result["verdict"]["reason"].get<std::string>(), HasSubstr("the processor of seat 0 was"));
    EXPECT_GE(part_of(result, "seat 0 processor")["utilisation_missed"], 0.9);
}

TEST_F(Models, ANarrowLinkOfASeatIsTheLimit) {
    model_["client"]["link"]["bits_per_s"] = number(200e6);
    model_["client"].erase("decode");
    const Json result = play({"--prores-hd", "--duration", "5s"}, url());
    EXPECT_EQ(finished().exit_code, 1);
    EXPECT_EQ(result["verdict"]["limit"], "network") << result["verdict"];
    EXPECT_THAT(result["verdict"]["reason"].get<std::string>(), HasSubstr("the link of seat 0 was"));
}

TEST_F(Models, ANarrowSwitchPortIsTheLimit) {
    model_["network"] = {{"port_bits_per_s", number(200e6)}};
    model_["client"].erase("decode");
    const Json result = play({"--prores-hd", "--duration", "5s"}, url());
    EXPECT_EQ(finished().exit_code, 1);
    EXPECT_EQ(result["verdict"]["limit"], "network") << result["verdict"];
    EXPECT_THAT(result["verdict"]["reason"].get<std::string>(), HasSubstr("switch port"));
}

TEST_F(Models, ANarrowFrontEndIsTheLimit) {
    model_["node"]["front_end"]["bits_per_s"] = number(500e6);
    const Json result = play({"--prores-uhd", "--duration", "5s"}, url());
    EXPECT_EQ(finished().exit_code, 1);
    EXPECT_EQ(result["verdict"]["limit"], "storage");
    EXPECT_THAT(result["verdict"]["reason"].get<std::string>(), HasSubstr("the front end of node 0 was"));
    const Finished text = streamsim({"-v", "--prores-uhd", "--duration", "5s", url()});
    EXPECT_THAT(text.out, HasSubstr("Limit       storage"));
    EXPECT_THAT(text.out, HasSubstr("when frames were missed"));
}

TEST_F(Models, WhatAStallWaitedForIsTheLimitAlsoWhereItWasFullForAPartOfTheRun) {
    model_["client"]["link"]["bits_per_s"] = number(10e9);
    model_["client"].erase("decode");
    model_["node"]["front_end"]["bits_per_s"] = number(100e9);
    model_["drive"] = {{"kind", "flash"},
                       {"channel_bytes_per_s", number(10e9)},
                       {"channels", number(4)},
                       {"capacity_bytes", number("1TB")},
                       {"access", {{"median", number("10us")}}}};
    const Json result =
        play({"--prores-uhd", "--streams", "14", "--stagger", "3s", "--duration", "42s", "--on-miss", "stall"},
             url());
    EXPECT_GT(result["totals"]["stalls"], 0);
    EXPECT_EQ(result["verdict"]["limit"], "network") << result["verdict"];
}

TEST_F(Models, WhatAPortLosesIsTheNetworks) {
    model_["network"] = {{"port_bits_per_s", number(1e9)},
                         {"flow_control", number(false)},
                         {"port_buffer_bytes", number("256KiB")},
                         {"retransmit_after", number("200ms")}};
    model_["client"].erase("decode");
    const Json result = play({"--prores-uhd", "--duration", "5s"}, url());
    EXPECT_EQ(result["verdict"]["limit"], "network") << result["verdict"];
}

TEST_F(Models, ALongWayIsTheNetworks) {
    model_["client"]["link"]["latency"] = number("300ms");
    model_["client"].erase("decode");
    const Json result = play({"--prores-uhd", "--duration", "5s"}, url());
    EXPECT_EQ(finished().exit_code, 1);
    EXPECT_EQ(result["verdict"]["limit"], "network") << result["verdict"];
}

TEST_F(Models, RatesAndTimesOfNoMachineAreNoCrash) {
    model_["node"]["front_end"]["bits_per_s"] = number(1);
    model_["node"]["cpu_s_per_byte"] = number(1e-300);
    EXPECT_EQ(streamsim({"--prores-hd", "--frames", "9", url()}).exit_code, 3) << "preroll never ends";
    model_["node"]["front_end"]["bits_per_s"] = number(1e9);
    model_["client"]["cores"] = number(0.01);
    model_["client"]["decode"] = Json::array({{{"s_per_pixel", number(1)}}});
    EXPECT_EQ(streamsim({"--prores-uhd", "--frames", "9", url()}).exit_code, 3);
}

TEST_F(Models, WhatIsOnlyDeliveredWaitsForNoProcessor) {
    // Copies take 97 % of the processor, and nothing is decoded.
    model_["client"].erase("decode");
    model_["client"]["cores"] = number(10);
    model_["client"]["cpu_s_per_byte"] = number(10e-9);
    model_["client"]["link"]["bits_per_s"] = number(100e9);
    model_["node"]["front_end"]["bits_per_s"] = number(100e9);
    const Json result = play({"--prores-uhd", "--streams", "8", "--duration", "30s"}, url("?cache=warm"));
    EXPECT_EQ(result["totals"]["frames_dropped"], 0) << result["verdict"];
    EXPECT_GT(part_of(result, "seat 0 processor")["utilisation"], 0.9);
}

TEST_F(Models, AClipIsAsLongAsWhatIsPlayedOfIt) {
    for (const auto& options : {std::vector<std::string>{"--order", "shuttle:-8", "--duration", "10s"},
                                {"--fps", "max", "--duration", "2s"}}) {
        std::vector<std::string> all = {"--prores-uhd", "--require-cold"};
        all.insert(all.end(), options.begin(), options.end());
        const Json result = play(all, "sim:f800");
        EXPECT_FALSE(result["media"]["looped"]) << options.back();
        EXPECT_FALSE(result["media"]["server_cache_may_be_warm"]);
        EXPECT_EQ(finished().exit_code, 0);
    }
    // Looped by order: that it came from the caches is said where it did, and only there.
    const std::vector<std::string> looped = {"--prores-hd", "--duration", "10s", "--clip-duration", "1s"};
    EXPECT_TRUE(play(looped, "sim:h500")["media"]["server_cache_may_be_warm"]);
    EXPECT_THAT(streamsim({"-v", "--prores-hd", "--duration", "10s", "--clip-duration", "1s", "sim:h500"}).out,
                HasSubstr("came from them in part"));
    model_["node"]["ram_bytes"] = number(0);
    EXPECT_FALSE(play(looped, url())["media"]["server_cache_may_be_warm"]);
    EXPECT_THAT(finished().out, Not(HasSubstr("came from them")));
}

TEST_F(Models, WhatCameTooLateToBeDecodedIsInTheTimes) {
    const Json result =
        play({"--dpx12", "--streams", "4", "--duration", "10s", "--csv", dir_ / "rows.csv"}, "sim:h500");
    EXPECT_EQ(result["verdict"]["limit"], "network");
    EXPECT_LE(result["totals"]["read_bytes_per_s"], 2.17e9) << "its two connections";
    std::uint64_t on_time_line = 0;
    for (const Json& interval : result["timeline"]) on_time_line += interval["bytes"].get<std::uint64_t>();
    EXPECT_EQ(on_time_line, result["totals"]["bytes_read"]);
    std::size_t came = 0;
    for (const Json& drop : result["drops"]) {
        if (drop["completed_ns"].is_null()) continue;
        ++came;
        EXPECT_GT(drop["completed_ns"], drop["due_ns"]);
    }
    EXPECT_GT(came, 0U);
    // The rows of --csv say the same: "dropped", and a margin where the frame came.
    std::istringstream rows(read_text(dir_ / "rows.csv"));
    std::size_t with_margin = 0;
    for (std::string row; std::getline(rows, row);) {
        const bool dropped = row.find(",dropped,") != std::string::npos;
        if (dropped && row.find(",-") != std::string::npos && row.rfind(",-") == row.rfind(',')) ++with_margin;
    }
    EXPECT_EQ(with_margin, came);
    EXPECT_GT(result["streams"][0]["service_ns"]["p50"], 80'000'000) << "two of 50 MB in flight in each of 4";
}

TEST_F(Models, WhatIsReadAheadHasToFitIntoTheRam) {
    model_["node"]["ram_bytes"] = number("4MiB");
    EXPECT_THAT(mistake(url()), HasSubstr("/strategy: streaming_bytes: expected at most the 4194304 bytes"));
    model_["node"]["ram_bytes"] = number(0);
    const Json result = play({"--prores-hd", "--duration", "5s"}, url());
    std::uint64_t read = 0;
    for (const Json& part : result["parts"]) {
        if (part["kind"] == "drive") read += part["bytes"].get<std::uint64_t>();
    }
    const auto played = result["totals"]["bytes_read"].get<std::uint64_t>();
    EXPECT_LT(read, played + played / 4) << "without RAM nothing is read ahead";
}

TEST_F(Models, DecodeCpuAddsToWhatTheModelSays) {
    const auto busy = [&](std::vector<std::string> options) {
        options.insert(options.end(), {"--prores-hd", "--duration", "4s"});
        return part_of(play(options, "sim:h500"), "seat 0 processor")["busy_ns"].get<double>();
    };
    const double model = busy({});
    // 120 frames at 100 ms of one core each, of 27.2 cores as one.
    EXPECT_NEAR(busy({"--decode-cpu", "100ms"}) - model, 120 * 100e6 / 27.2, 8 * 100e6 / 27.2)
        << "but for preroll";
    // Two layers are two frames to decode.
    EXPECT_NEAR(busy({"--layers", "2"}) / model, 2, 0.1);
}

TEST_F(Models, AStreamThatBeginsLateAndCannotPrerollLeavesTheResultUpToThen) {
    const Finished late = streamsim({"--prores-uhd", "--readahead", "240", "--streams", "7", "--stagger", "4s",
                                     "--preroll-timeout", "3s", "--quiet", "--json", json_path(), "sim:h500"});
    EXPECT_EQ(late.exit_code, 3) << late.text();
    EXPECT_THAT(late.err, HasSubstr("preroll did not end within 3.0 s"));
    const Json result = read_json(json_path());
    EXPECT_THAT(result_problems(result), testing::IsEmpty());
    EXPECT_EQ(result["interrupted"], true);
    EXPECT_EQ(result["verdict"]["limit"], "unknown") << "no frame was missed";
    EXPECT_THAT(result["verdict"]["next"].get<std::string>(), HasSubstr("a longer --preroll-timeout"));
    EXPECT_THAT(result["verdict"]["reason"].get<std::string>(), HasSubstr("preroll did not end within 3.0 s"));
    EXPECT_GT(result["streams"][0]["frames_on_time"], 0);
}

TEST_F(Models, AFormatThatTheModelCannotDecodeIsDeliveredAndSaid) {
    const Json result = play({"--format", "dnxhr-hqx-hd", "--frames", "24"}, "sim:h500");
    EXPECT_EQ(finished().exit_code, 0) << finished().text();
    EXPECT_THAT(result["notices"].dump(), HasSubstr("does not know what decoding dnxhr-hqx-hd costs"));
}

TEST_F(Models, WarmCachesAreSaidAndNotCold) {
    const Json result = play({"--prores-hd", "--frames", "24"}, "sim:h500?cache=warm");
    EXPECT_EQ(result["model"]["cache"], "warm");
    for (int node = 0; node < 4; ++node)
        EXPECT_EQ(part_of(result, fmt::format("node {} L2", node))["misses"], 0) << "each block is at its home";
    EXPECT_TRUE(result["media"]["server_cache_may_be_warm"]);
    const Finished warm = streamsim({"--prores-hd", "--frames", "24", "--require-cold", "sim:h500?cache=warm"});
    EXPECT_EQ(warm.exit_code, 1) << warm.text();
    EXPECT_THAT(warm.out, HasSubstr("the model's caches were warm"));
    play({"--prores-hd", "--frames", "24", "--require-cold"}, "sim:h500");
    EXPECT_EQ(finished().exit_code, 0) << finished().text();
}

TEST_F(Models, WhatIsNoModelIsToldWhatThereIs) {
    EXPECT_THAT(mistake("sim:h5000"),
                HasSubstr("there is no model 'h5000': expected one of cvs, ebu-tech-3362, "
                          "ebu-tech-3362-ordinary-windows, f800, f800-hpc, h500, h600, nfs-generic, sc7020f"));
    EXPECT_THAT(mistake("sim:"), HasSubstr("names no model"));
    EXPECT_THAT(mistake("sim:nowhere/model.json"), HasSubstr("nowhere/model.json: there is no such file"));
    EXPECT_THAT(mistake("sim:" + dir_.path().string() + "/"), HasSubstr("expected a file"));
}

TEST_F(Models, EveryMistakeInItsUrl) {
    const std::string all = mistake("sim:h500?nodes=0&colour=blue&cache=hot&cache=warm&cluster=many");
    for (const char* problem :
         {"nodes=0: expected a whole number from 1", "'colour=blue' is not known: expected nodes=N",
          "cache=hot: expected cold or warm", "the option cache is given twice",
          "cluster=many: expected a whole number"}) {
        EXPECT_THAT(all, HasSubstr(problem));
    }
    EXPECT_THAT(mistake("sim:h500?nodes=5"), HasSubstr("nodes=5: this cluster has 4 of them"));
    EXPECT_THAT(mistake("sim:h500?nodes=4&cluster=3"), HasSubstr("nodes=4: this cluster has 3 of them"));
    EXPECT_THAT(mistake("sim:nfs-generic?cluster=2"), HasSubstr("several nodes has a \"back_end\""));
    EXPECT_THAT(mistake("sim:null?nodes=2"), HasSubstr("sim:null completes at once and has no options"));
}

TEST_F(Models, EveryMistakeInItsDocumentWithItsPointer) {
    model_["nodes"]["value"] = 0;
    model_["node"].erase("cores");
    model_["drive"]["outer_bytes_per_s"] = 1e8;
    model_["client"]["link"]["bits_per_s"].erase("basis");
    model_["client"]["cpu_ceiling"]["basis"] = "I think";
    model_["colour"] = "blue";
    const std::string all = mistake(url("?nodes=1"));
    for (const char* pointer :
         {"/nodes/value: ", "/node/cores: ", "/drive/outer_bytes_per_s: ", "/client/link/bits_per_s/basis: ",
          "/client/cpu_ceiling/basis: ", "/colour: "}) {
        EXPECT_THAT(all, HasSubstr(std::string("mine.json: ") + pointer));
    }
    write_text(dir_ / "mine.json", "{");
    EXPECT_THAT(mistake("sim:" + (dir_ / "mine.json")), HasSubstr("mine.json: byte"));
}

TEST_F(Models, MistakesOfTheUrlAndOfOptionsTogether) {
    const Finished done = streamsim({"--streams", "0", "--fps", "fast", "sim:h5000"});
    EXPECT_EQ(done.exit_code, 2);
    for (const char* said : {"--streams", "--fps", "h5000"}) EXPECT_THAT(done.err, HasSubstr(said));
}

TEST_F(Models, NothingIsMadeOnAModel) {
    EXPECT_EQ(streamsim({"prepare", "--dpx10", "sim:h500"}).exit_code, 2);
    EXPECT_EQ(streamsim({"inspect", "sim:h500"}).exit_code, 2);
    EXPECT_EQ(streamsim({"clean", "sim:h500"}).exit_code, 2);
}

}  // namespace
}  // namespace streamsim::tests
