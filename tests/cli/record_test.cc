// --record: streams that write, from outside.
#include <fstream>

#include "cli/fixture.h"

namespace streamsim::tests {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RecordTest : public CliTest {
protected:
    std::vector<std::uint64_t> dropped(const Json& result) {
        std::vector<std::uint64_t> slots;
        for (const Json& drop : result["drops"]) {
            if (drop["kind"] == "dropped") slots.push_back(drop["frame"]);
        }
        return slots;
    }
};

TEST_F(RecordTest, AStallOfHalfASecondLosesWhatTheBufferCannotHold) {
    // At 24 fps 12 frames are captured in [2 s, 2.5 s), slots 48 to 59, and in [7 s, 7.5 s); 8 find a place.
    const Json result = play({"--dpx12", "--record", "1", "--duration", "10s", "--faults",
                              std::string(STREAMSIM_SOURCE_FORMATS) + "/faults/stall-500ms.json"},
                             "sim:null");
    EXPECT_THAT(dropped(result), ElementsAre(56, 57, 58, 59, 176, 177, 178, 179));
    EXPECT_EQ(result["totals"]["frames_on_time"], 232);
    EXPECT_EQ(result["streams"][0]["records"], true);
    EXPECT_EQ(result["totals"]["bytes_read"], 0);
    EXPECT_EQ(finished().exit_code, 1);
    const Json again = play({"--dpx12", "--record", "1", "--duration", "10s", "--on-miss", "stall", "--faults",
                             std::string(STREAMSIM_SOURCE_FORMATS) + "/faults/stall-500ms.json"},
                            "sim:null");
    EXPECT_EQ(again["totals"]["stalls"], 2);
    EXPECT_EQ(again["totals"]["frames_dropped"], 0);
}

TEST_F(RecordTest, AloneNeedsNothingPrepared) {
    const Finished alone = streamsim({"prepare", "--format", small(), "--record", "1", target()});
    EXPECT_EQ(alone.exit_code, 0) << alone.text();
    EXPECT_EQ(alone.out, "recorders alone need no clips\n");
    const Finished beside = streamsim(
        {"prepare", "--format", small(), "--record", "1", "--streams", "1", "--clip-duration", "1s", target()});
    EXPECT_THAT(beside.out, HasSubstr("1 clip of small ready below " + target() + "/streamsim-media"));
}

TEST_F(RecordTest, BesideStreamsTheyAreNumberedOn) {
    const Json result = play({"--dpx12", "--prores-hd", "--record", "1", "--streams", "2", "--seats", "2",
                              "--duration", "1s", "--durable"},
                             "sim:null");
    ASSERT_EQ(result["streams"].size(), 12U);
    std::size_t recorders = 0;
    for (std::size_t i = 0; i < 12; ++i) {
        const Json& stream = result["streams"][i];
        EXPECT_EQ(stream["seat"], i / 6);
        EXPECT_EQ(stream["stream"], i % 6);
        EXPECT_EQ(stream["records"], i % 6 >= 4);
        EXPECT_EQ(stream["durable"], i % 6 >= 4);
        recorders += stream["records"].get<bool>() ? 1U : 0U;
    }
    EXPECT_EQ(recorders, 4U);
}

TEST_F(RecordTest, WhatIsRecordedIsReadableAndGoesAgain) {
    std::ofstream(target() + "/mine") << "as it was";
    const std::vector<std::string> options = {"--format", small(), "--record", "2", "--frames", "12"};
    const Json result = play(options, target());
    EXPECT_EQ(result["totals"]["frames_on_time"], 24);
    EXPECT_FALSE(fs::exists(target() + "/streamsim-media"));
    auto keep = options;
    keep.emplace_back("--keep-recordings");
    play(keep, target());
    std::vector<fs::path> frames;
    for (const auto& entry : fs::recursive_directory_iterator(target())) {
        if (entry.path().extension() == ".dpx") frames.push_back(entry.path());
    }
    ASSERT_EQ(frames.size(), 24U);
    const Finished inspected = streamsim({"inspect", frames.front().parent_path().string()});
    EXPECT_EQ(inspected.exit_code, 0) << inspected.text();
    EXPECT_THAT(inspected.out, HasSubstr("dpx 10 bit filled 256x64"));
    EXPECT_EQ(streamsim({"clean", target()}).exit_code, 0);
    EXPECT_FALSE(fs::exists(target() + "/streamsim-media"));
    EXPECT_TRUE(fs::exists(target() + "/mine"));
}

TEST_F(RecordTest, WhatMeansNothingIsRefused) {
    const Finished hold = streamsim({"--record", "1", "--on-miss", "hold", target()});
    EXPECT_EQ(hold.exit_code, 2);
    EXPECT_THAT(hold.err, HasSubstr("--on-miss"));
    const Finished skip = streamsim({"--record", "1", "--on-miss", "skip", target()});
    EXPECT_EQ(skip.exit_code, 2);
    EXPECT_THAT(skip.err, HasSubstr("--on-miss: skip is not for --record"));
    const Finished alone = streamsim({"--durable", "--keep-recordings", target()});
    EXPECT_EQ(alone.exit_code, 2);
    EXPECT_THAT(alone.err, HasSubstr("--durable"));
    EXPECT_THAT(alone.err, HasSubstr("--keep-recordings"));
    EXPECT_TRUE(fs::is_empty(target()));
}

TEST_F(RecordTest, AScenarioRecords) {
    const std::string scenario = dir_ / "scenario.json";
    std::ofstream(scenario) << R"({"schema": "streamsim.scenario", "version": 1, "duration": "4s", "seats": [
        {"target": "sim:null", "streams": [{"format": "dpx12"}],
         "recorders": [{"format": "prores-hd", "count": 2, "start": "1s", "stop": "3s"}]}],
        "faults": [{"kind": "errors", "at": "2s", "for": "100ms", "seat": 0, "stream": 1, "error": "EIO"}]})";
    const Finished run = streamsim({"run", "--quiet", "--json", json_path(), scenario});
    EXPECT_EQ(run.exit_code, 1) << run.text();
    const Json result = read_json(json_path());
    EXPECT_THAT(result_problems(result), IsEmpty());
    ASSERT_EQ(result["streams"].size(), 3U);
    EXPECT_EQ(result["streams"][1]["frames_scheduled"], 60);
    EXPECT_EQ(result["streams"][1]["frames_failed"], 3);  // due at 2.0, 2.033 and 2.067 s
    EXPECT_EQ(result["streams"][2]["frames_on_time"], 60);
}

}  // namespace
}  // namespace streamsim::tests
