// Scenarios: every member is read, every mistake has its place, and all of them are told at once.
#include "scenario/scenario_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "unit/scenario/words.h"

namespace streamsim::scenario {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Result<Scenario> read(const std::string& text) {
    return read_scenario(text, "day.json", test::words());
}

/// A minute of one seat; `seat` and `all` are more members, each beginning with a comma.
std::string minute(const std::string& seat,
                   const std::string& all = "",
                   const std::string& target = "sim:h500") {
    return R"({"schema": "streamsim.scenario", "version": 1, "duration": "60s", "seats": [{"target": ")" +
           target + R"(")" + seat + "}]" + all + "}";
}
std::string minute_of(const std::string& stream, const std::string& target = "sim:h500") {
    return minute(R"(, "streams": [{)" + stream + "}]", "", target);
}
std::string faulty(const std::string& fault, const std::string& target = "sim:h500") {
    return minute(R"(, "count": 3, "streams": [{"format": "dpx10"}])", R"(, "faults": [{)" + fault + "}]",
                  target);
}

std::vector<std::string> problems(const std::string& text) {
    const auto scenario = read(text);
    return scenario ? std::vector<std::string>{} : scenario.error().problems;
}

TEST(ScenarioDocument, EveryMemberIsRead) {
    const auto scenario = read(R"({"schema": "streamsim.scenario", "version": 1, "description": "a day",
        "seed": 7, "duration": "2m", "seats": [
          {"count": 4, "target": "sim:h500", "node": [0, 2], "link": {"bits_per_s": 1e9, "latency": "1ms"},
           "start": "5s", "one_more_every": "10s", "stop": "1m", "streams": [
             {"format": "dpx12", "count": 3, "media": "same", "layers": 2, "clip_duration": "5s",
              "order": "random", "pattern": "on-demand", "on_miss": "stall", "fps": "23.976", "frames": 100,
              "readahead": 16, "inflight": 4, "io_size": "512KiB", "io_depth": 2,
              "start": "1s", "one_more_every": "2s", "stop": "20s"},
             {"format": "prores-hd", "fps": "max", "io_size": "frame"}]},
          {"target": "sim:h500", "node": 3, "streams": [{"format": "dpx10"}]}],
        "expect": {"effect": "nothing", "plays": true, "limit": "none", "dropped": [0, 3], "late": [1, 1],
                   "failed": [0, 0], "stalls": [2, 9]}})");
    ASSERT_TRUE(scenario) << testing::PrintToString(scenario.error().problems);
    EXPECT_EQ(scenario->source, "day.json");
    EXPECT_EQ(scenario->description, "a day");
    EXPECT_EQ(scenario->seed, 7u);
    EXPECT_EQ(scenario->duration, seconds(120));
    ASSERT_THAT(scenario->seats, SizeIs(2));
    const ScenarioSeats& seats = scenario->seats[0];
    EXPECT_EQ(seats.count, 4u);
    EXPECT_THAT(seats.nodes, ElementsAre(0, 2));
    EXPECT_EQ(seats.link_bits_per_s, 1e9);
    EXPECT_EQ(seats.link_latency, milliseconds(1));
    EXPECT_EQ(seats.end, seconds(60));
    ASSERT_THAT(seats.streams, SizeIs(2));
    const ScenarioStreams& streams = seats.streams[0];
    EXPECT_EQ(streams.format->name, "dpx12");
    EXPECT_EQ(streams.count, 3u);
    EXPECT_TRUE(streams.same_media);
    EXPECT_EQ(streams.layers, 2u);
    EXPECT_EQ(streams.clip_duration, seconds(5));
    EXPECT_EQ(streams.order, "random");
    EXPECT_EQ(streams.pattern, "on-demand");
    EXPECT_EQ(streams.on_miss, "stall");
    EXPECT_EQ(streams.rate, (FrameRate{24'000, 1001}));
    EXPECT_EQ(streams.frames, 100u);
    EXPECT_EQ(streams.readahead, 16u);
    EXPECT_EQ(streams.inflight, 4u);
    EXPECT_EQ(streams.io_size, 512u << 10);
    EXPECT_EQ(streams.io_depth, 2u);
    EXPECT_FALSE(seats.streams[1].paced);
    EXPECT_EQ(seats.streams[1].io_size, 0u);
    EXPECT_EQ(seats.start_of(2, streams, 1), seconds(5 + 2 * 10 + 1 + 2));
    EXPECT_EQ(seats.end_of(2, streams), seconds(5 + 2 * 10 + 20)) << "20 s after its seat began";
    EXPECT_EQ(seats.end_of(3, seats.streams[1]), seconds(60));
    EXPECT_EQ(scenario->seats[1].end, seconds(120));
    EXPECT_EQ(scenario->seats[1].start_of(0, scenario->seats[1].streams[0], 0), Duration{});
    EXPECT_EQ(scenario->expect->effect, "nothing");
    EXPECT_EQ(scenario->expect->dropped->max, 3u);
    EXPECT_EQ(scenario->expect->stalls->min, 2u);
}

TEST(ScenarioDocument, RecordersAreStreamsThatWrite) {
    const auto scenario = read_scenario(R"({"schema": "streamsim.scenario", "version": 1, "duration": "10s",
        "seats": [{"target": "sim:null", "streams": [{"format": "dpx12", "count": 3}],
                   "recorders": [{"format": "dpx10", "count": 2, "durable": true, "on_miss": "stall",
                                  "fps": "25", "readahead": 4, "inflight": 3, "io_size": "2MiB",
                                  "io_depth": 6, "start": "1s", "stop": "9s"}]},
                  {"target": "sim:null", "recorders": [{"format": "prores-hd"}]}]})",
                                        "s.json", test::words());
    ASSERT_TRUE(scenario) << scenario.error().problems.front();
    ASSERT_EQ(scenario->seats[0].streams.size(), 2U);
    EXPECT_FALSE(scenario->seats[0].streams[0].records);
    const ScenarioStreams& recorders = scenario->seats[0].streams[1];
    EXPECT_TRUE(recorders.records);
    EXPECT_TRUE(recorders.durable);
    EXPECT_EQ(recorders.format->name, "dpx10");
    EXPECT_EQ(recorders.count, 2U);
    EXPECT_EQ(recorders.on_miss, "stall");
    EXPECT_EQ(recorders.rate, (FrameRate{25, 1}));
    EXPECT_EQ(recorders.readahead, 4U);
    EXPECT_EQ(recorders.inflight, 3U);
    EXPECT_EQ(recorders.io_size, 2U << 20);
    EXPECT_EQ(recorders.io_depth, 6U);
    EXPECT_EQ(recorders.start, seconds(1));
    EXPECT_EQ(recorders.end, seconds(9));
    EXPECT_TRUE(scenario->seats[1].streams.front().records);
}

TEST(ScenarioDocument, WhatARecorderCannotDoIsAMistake) {
    const auto scenario = read_scenario(R"({"schema": "streamsim.scenario", "version": 1, "duration": "10s",
        "seats": [{"target": "sim:null",
                   "recorders": [{"on_miss": "hold", "layers": 2}]}]})",
                                        "s.json", test::words());
    ASSERT_FALSE(scenario);
    std::string all;
    for (const std::string& each : scenario.error().problems) all += each + "\n";
    EXPECT_NE(all.find("/seats/0/recorders/0/format"), std::string::npos) << all;
    EXPECT_NE(all.find("/seats/0/recorders/0/on_miss"), std::string::npos) << all;
    EXPECT_NE(all.find("/seats/0/recorders/0/layers"), std::string::npos) << all;
}

TEST(ScenarioDocument, StreamsSkipAndRecordersDoNot) {
    const auto streams = read(minute(R"(, "streams": [{"format": "dpx10", "on_miss": "skip"}])"));
    EXPECT_EQ(streams->seats.front().streams.front().on_miss, "skip");
    const auto recorders = read_scenario(
        R"({"schema": "streamsim.scenario", "version": 1, "duration": "10s", "seats": [
            {"target": "sim:null", "recorders": [{"format": "dpx10", "on_miss": "skip"}]}]})",
        "s.json", test::words());
    ASSERT_FALSE(recorders);
    ASSERT_EQ(recorders.error().problems.size(), 1u);
    EXPECT_NE(recorders.error().problems.front().find("/seats/0/recorders/0/on_miss"), std::string::npos);
}

TEST(ScenarioDocument, TheEarlierNameOfAThroughputGapIsRead) {
    const auto scenario = read(minute(R"(, "count": 3, "streams": [{"format": "dpx10"}])", R"(, "faults": [
        {"kind": "silence", "at": "1s", "for": "500ms"},
        {"kind": "silence", "at": "1s", "for": "500ms", "node": 1}])"));
    ASSERT_TRUE(scenario) << testing::PrintToString(scenario.error().problems);
    ASSERT_EQ(scenario->faults.size(), 2u);
    for (const ScenarioFault& fault : scenario->faults) {
        EXPECT_EQ(fault.kind, ScenarioFault::Kind::throughput_gap);
        EXPECT_EQ(fault.length, milliseconds(500));
    }
    EXPECT_EQ(scenario->faults[1].node, 1u);
}

TEST(ScenarioDocument, EveryFaultIsRead) {
    const auto scenario = read(minute(R"(, "count": 3, "streams": [{"format": "dpx10"}])", R"(, "faults": [
        {"kind": "throughput-gap", "at": "1s", "for": "500ms"},
        {"kind": "throughput-gap", "at": "1s", "for": "500ms", "node": 1},
        {"kind": "delays", "at": "2s", "for": "1s", "delay": "40ms", "seat": 2, "stream": 0,
         "probability": 0.5},
        {"kind": "errors", "at": "3s", "for": "1s", "error": "ESTALE"},
        {"kind": "drive-dies", "at": "4s", "node": 3, "drive": 14},
        {"kind": "node-lost", "at": "5s", "node": 0, "failover": "2s"},
        {"kind": "link-slows", "at": "6s", "seat": 1, "factor": 0.1, "for": "3s"},
        {"kind": "link-slows", "at": "6s", "node": 1, "factor": 0.1},
        {"kind": "cache-flush", "at": "7s"}])"));
    ASSERT_TRUE(scenario) << testing::PrintToString(scenario.error().problems);
    using Kind = ScenarioFault::Kind;
    std::vector<Kind> kinds;
    for (const ScenarioFault& fault : scenario->faults) kinds.push_back(fault.kind);
    EXPECT_THAT(kinds, ElementsAre(Kind::throughput_gap, Kind::throughput_gap, Kind::delays, Kind::errors,
                                   Kind::drive_dies, Kind::node_lost, Kind::link_slows, Kind::link_slows,
                                   Kind::cache_flush));
    EXPECT_EQ(scenario->faults[0].length, milliseconds(500));
    EXPECT_EQ(scenario->faults[1].node, 1u);
    EXPECT_EQ(scenario->faults[2].at, seconds(2));
    EXPECT_EQ(scenario->faults[2].delay, milliseconds(40));
    EXPECT_EQ(scenario->faults[2].seat, 2u);
    EXPECT_EQ(scenario->faults[2].stream, 0u);
    EXPECT_EQ(scenario->faults[2].probability, 0.5);
    EXPECT_EQ(scenario->faults[3].error, "ESTALE");
    EXPECT_EQ(scenario->faults[4].drive, 14u);
    EXPECT_EQ(scenario->faults[5].length, seconds(2));
    EXPECT_EQ(scenario->faults[6].factor, 0.1);
    EXPECT_FALSE(scenario->faults[7].length.has_value()) << "for good";
}

struct Mistake {
    std::string text;
    std::string pointer;
    std::string says;
};

void expect_told(const Mistake& mistake) {
    EXPECT_THAT(
        problems(mistake.text),
        ElementsAre(testing::AllOf(HasSubstr("day.json: " + mistake.pointer + ": "), HasSubstr(mistake.says))))
        << mistake.text;
}

TEST(ScenarioDocument, EachMistakeOfSeatsAndStreamsHasItsPlace) {
    const std::string dpx = R"("format": "dpx10")";
    const std::string stream = R"(, "streams": [{"format": "dpx10"}])";
    const Mistake mistakes[] = {
        {minute_of(R"("format": "vhs")"), "/seats/0/streams/0/format", "no such format"},
        {minute_of(""), "/seats/0/streams/0/format", "missing"},
        {minute_of(dpx + R"(, "count": 0)"), "/seats/0/streams/0/count", "from 1"},
        {minute_of(dpx + R"(, "colour": 1)"), "/seats/0/streams/0/colour", "unknown key"},
        {minute_of(dpx + R"(, "order": "sideways")"), "/seats/0/streams/0/order", "no such order"},
        {minute_of(dpx + R"(, "pattern": "x")"), "/seats/0/streams/0/pattern", "on-demand"},
        {minute_of(dpx + R"(, "on_miss": "cry")"), "/seats/0/streams/0/on_miss", "stall"},
        {minute_of(dpx + R"(, "media": "none")"), "/seats/0/streams/0/media", "same"},
        {minute_of(dpx + R"(, "fps": "x")"), "/seats/0/streams/0/fps", "or max"},
        {minute_of(dpx + R"(, "io_size": "1")"), "/seats/0/streams/0/io_size", "or frame"},
        {minute_of(dpx + R"(, "io_size": "1B")"), "/seats/0/streams/0/io_size", "512B"},
        {minute_of(dpx + R"(, "audio": true)"), "/seats/0/streams/0/audio", "real clips"},
        {minute_of(dpx + R"(, "audio": true)", "/mnt"), "/seats/0/streams/0/audio", "real clips"},
        {minute_of(dpx + R"(, "clip_duration": "0s")"), "/seats/0/streams/0/clip_duration",
         "more than no time"},
        {minute_of(dpx + R"(, "start": "1")"), "/seats/0/streams/0/start", "unit"},
        {minute_of(dpx + R"(, "start": "60s")"), "/seats/0/streams/0/start", "never plays"},
        {minute_of(dpx + R"(, "stop": "0s")"), "/seats/0/streams/0/stop", "more than no time"},
        {minute_of(dpx + R"(, "count": 7, "one_more_every": "10s")"), "/seats/0/streams/0/one_more_every",
         "when all ends"},
        {minute_of(dpx + R"(, "count": 9, "one_more_every": "1000h")"), "/seats/0/streams/0/one_more_every",
         "after all has ended"},
        {minute_of(dpx + R"(, "fps": "max")", "sim:null"), "/seats/0/streams/0/fps", "would never end"},
        {minute(stream + R"(, "count": 7, "one_more_every": "10s")"), "/seats/0/one_more_every",
         "when all ends"},
        {minute(stream + R"(, "stop": "61s")"), "/seats/0/stop", "after the end"},
        {minute(stream + R"(, "start": "1001h")"), "/seats/0/start", "at most"},
        {minute(stream + R"(, "node": 4)"), "/seats/0/node", "there is no node 4"},
        {minute(stream + R"(, "node": [])"), "/seats/0/node", "at least one"},
        {minute(stream + R"(, "node": [0, 1.5])"), "/seats/0/node/1", "number of a node"},
        {minute(stream + R"(, "node": 0)", "", "/mnt"), "/seats/0/node", "only a model"},
        {minute(stream + R"(, "link": {})", "", "null:"), "/seats/0/link", "only a model"},
        {minute(stream + R"(, "link": {"bits_per_s": 0})"), "/seats/0/link/bits_per_s", "from 1"},
        {minute(stream, "", "ftp:x"), "/seats/0/target", "no such target"},
        {minute(""), "/seats/0/streams", "missing"},
        {minute(stream, R"(, "expect": {})"), "/expect/effect", "missing"},
        {minute(stream, R"(, "expect": {"effect": "x", "dropped": [3, 2]})"), "/expect/dropped", "the least"},
        {minute(stream, R"(, "seed": -1)"), "/seed", "from 0"},
        {minute(stream, R"(, "faults": 3)"), "/faults", "an array"},
    };
    for (const Mistake& mistake : mistakes) expect_told(mistake);
}

TEST(ScenarioDocument, EachMistakeOfFaultsHasItsPlace) {
    const Mistake mistakes[] = {
        {faulty(R"("kind": "flood", "at": "1s")"), "/faults/0/kind", "expected one of"},
        {faulty(R"("at": "1s")"), "/faults/0/kind", "missing"},
        {faulty(R"("kind": "cache-flush")"), "/faults/0/at", "missing"},
        {faulty(R"("kind": "cache-flush", "at": "60s")"), "/faults/0/at", "never happens"},
        {faulty(R"("kind": "cache-flush", "at": "1s", "drive": 1)"), "/faults/0/drive", "unknown key"},
        {faulty(R"("kind": "throughput-gap", "at": "1s")"), "/faults/0/for", "missing"},
        {faulty(R"("kind": "throughput-gap", "at": "1s", "for": "0s")"), "/faults/0/for", "more than no time"},
        {faulty(R"("kind": "throughput-gap", "at": "1s", "for": "1s", "node": 0)", "/mnt"), "/faults/0/node",
         "only a model has nodes, not real files"},
        {faulty(R"("kind": "drive-dies", "at": "1s", "node": 0, "drive": 15)"), "/faults/0/drive",
         "last is 14"},
        {faulty(R"("kind": "node-lost", "at": "1s", "node": 9, "failover": "1s")"), "/faults/0/node",
         "no node 9"},
        {faulty(R"("kind": "link-slows", "at": "1s", "factor": 0.5)"), "/faults/0", "\"seat\" or \"node\""},
        {faulty(R"("kind": "link-slows", "at": "1s", "seat": 0, "factor": 2)"), "/faults/0/factor", "to 1"},
        {faulty(R"("kind": "link-slows", "at": "1s", "seat": 3, "factor": 1)"), "/faults/0/seat", "last is 2"},
        {faulty(R"("kind": "errors", "at": "1s", "for": "1s", "error": "EX")"), "/faults/0/error",
         "no such error"},
        {faulty(R"("kind": "errors", "at": "1s", "for": "1s", "error": "EIO", "stream": 0)"),
         "/faults/0/stream", "give \"seat\""},
        {faulty(R"("kind": "errors", "at": "1s", "for": "1s", "error": "EIO", "seat": 2, "stream": 1)"),
         "/faults/0/stream", "the seat's last is 0"},
        {faulty(R"("kind": "cache-flush", "at": "1s")", "/mnt"), "/faults/0/kind", "on a model only"},
        {faulty(R"("kind": "cache-flush", "at": "1s")", "sim:null"), "/faults/0/kind", "on a model only"},
    };
    for (const Mistake& mistake : mistakes) expect_told(mistake);
}

TEST(ScenarioDocument, AllMistakesAreToldAtOnce) {
    const auto found = problems(R"({"schema": "streamsim.scenarios", "version": 3, "duration": "0s", "who": 1,
        "seats": [{"count": -1, "target": "sim:h500", "streams": [{"format": "x"}, 4]},
                  {"target": "null:", "streams": []}], "faults": [{"kind": "cache-flush"}]})");
    EXPECT_THAT(found, testing::UnorderedElementsAre(
                           HasSubstr("/schema: "), HasSubstr("/version: "), HasSubstr("/duration: "),
                           HasSubstr("/who: unknown key"), HasSubstr("/seats/0/count: "),
                           HasSubstr("/seats/0/streams/0/format: "), HasSubstr("/seats/0/streams/1: "),
                           HasSubstr("/seats/1/target: "), HasSubstr("/seats/1/streams: "),
                           HasSubstr("/faults/0/at: ")));
}

TEST(ScenarioDocument, SeatsOnDifferentStoragesAreRefused) {
    const auto two = [](const std::string& a, const std::string& b) {
        return problems(R"({"schema": "streamsim.scenario", "version": 1, "duration": "1s", "seats": [
            {"target": ")" +
                        a + R"(", "streams": [{"format": "dpx10"}]},
            {"target": ")" +
                        b + R"(", "streams": [{"format": "dpx10"}]}]})");
    };
    EXPECT_THAT(two("/mnt/a", "/mnt/b"), IsEmpty()) << "all real files are one storage";
    EXPECT_THAT(two("sim:h500", "sim:h500"), IsEmpty());
    for (const auto& [a, b] : {std::pair("sim:h500", "sim:f800"),
                               {"/mnt/a", "null:"},
                               {"null:", "sim:null"},
                               {"sim:h500", "sim:h500?cache=warm"}}) {
        EXPECT_THAT(two(a, b), ElementsAre(HasSubstr("/seats/1/target: ")));
    }
}

TEST(ScenarioDocument, RecordersAndMetersAreOnTheFirstTarget) {
    const auto found = [](const std::string& third) {
        return problems(R"({"schema": "streamsim.scenario", "version": 1, "duration": "1s", "seats": [
            {"target": "/mnt/a", "meters": [{"workload": "w"}]},
            {"target": "/mnt/b", "streams": [{"format": "dpx10"}]},
            {"target": ")" +
                        third + R"(", "recorders": [{"format": "dpx10"}], "meters": [{"workload": "w"}]}]})");
    };
    EXPECT_THAT(found("/mnt/a"), IsEmpty());
    EXPECT_THAT(found("/mnt/b"), ElementsAre(HasSubstr("/seats/2/recorders: are only for seats on the first"),
                                             HasSubstr("/seats/2/meters: are only for seats on the first")));
}

TEST(ScenarioDocument, AFaultWithoutSeatsIsNoFurtherMistake) {
    EXPECT_THAT(problems(R"({"schema": "streamsim.scenario", "version": 1, "duration": "9s", "seats": [],
                     "faults": [{"kind": "errors", "at": "1s", "for": "1s", "error": "EIO", "seat": 0}]})"),
                ElementsAre(HasSubstr("/seats: ")));
}

TEST(ScenarioDocument, TheClipsOfOneFormatAndPlaceAreOfOneLength) {
    const auto two = [](const std::string& format, const std::string& length, const std::string& target) {
        return problems(minute(R"(, "streams": [{"format": "dpx10", "count": 2}, {"format": ")" + format +
                                   R"(", "clip_duration": ")" + length + R"("}])",
                               "", target));
    };
    EXPECT_THAT(
        two("dpx10", "2s", "/mnt"),
        ElementsAre(HasSubstr("/seats/0/streams/1/clip_duration: the clips of dpx10 in one place are of "
                              "one length: here of 2.0 s, in /seats/0/streams/0 of any length")));
    EXPECT_THAT(two("dpx12", "2s", "/mnt"), IsEmpty());
    EXPECT_THAT(two("dpx10", "2s", "sim:h500"), ElementsAre(HasSubstr("/seats/0/streams/1/clip_duration: ")));
    EXPECT_THAT(two("dpx10", "2s", "sim:null"), IsEmpty()) << "nothing lies there";
}

TEST(ScenarioDocument, TwoFormatsOfOneNameAreRefused) {
    ScenarioWords words = test::words();
    words.format = [](const std::string& typed) -> Result<ScenarioFormat> {
        MediaFormat format;
        format.name = "dpx10";
        return ScenarioFormat{format, typed};
    };
    for (const char* target : {"/mnt", "null:", "sim:null", "sim:h500"}) {
        const auto read = [&](const std::string& recorded) {
            const std::string seat = R"(, "streams": [{"format": "a"}, {"format": "a"}],
                                        "recorders": [{"format": ")" +
                                     recorded + R"("}])";
            return read_scenario(minute(seat, "", target), "day.json", words);
        };
        EXPECT_TRUE(read("a")) << target;
        const auto two = read("b");
        ASSERT_FALSE(two) << target;
        EXPECT_THAT(two.error().problems,
                    ElementsAre(HasSubstr("/seats/0/recorders/0/format: two formats have the name dpx10, this "
                                          "one and that of /seats/0/streams/0/format: ")));
    }
}

TEST(ScenarioDocument, FramesWithoutDeadlinesCannotBeHitAtATime) {
    EXPECT_THAT(problems(minute(R"(, "streams": [{"format": "dpx10", "fps": "max"}])",
                                R"(, "faults": [{"kind": "delays", "at": "1s", "for": "1s", "delay": "1s"}])")),
                ElementsAre(HasSubstr("/faults/0/kind: ")));
}

TEST(ScenarioDocument, TheClipsOfAPlaceNeedNoFormat) {
    const auto scenario = read(minute_of(R"("audio": true)", "/mnt"));
    ASSERT_TRUE(scenario);
    EXPECT_FALSE(scenario->seats[0].streams[0].format.has_value());
}

TEST(ScenarioDocument, ThoseThatComeWithTheProgramCanBeRead) {
    std::size_t documents = 0;
    for (const auto& file : std::filesystem::directory_iterator(STREAMSIM_SOURCE_DIR "/formats/scenario")) {
        std::ifstream in(file.path());
        const std::string text{std::istreambuf_iterator<char>(in), {}};
        ScenarioWords words = test::words();
        words.target_of_command = "sim:null";  // for presets
        const auto scenario = read_scenario(text, file.path().string(), words);
        ASSERT_TRUE(scenario) << testing::PrintToString(scenario.error().problems);
        EXPECT_NE(scenario->description, "") << file.path();
        const bool preset = text.find("\"target\"") == std::string::npos;
        ASSERT_TRUE(preset || scenario->expect) << file.path() << ": what comes of it is written down before";
        ++documents;
    }
    EXPECT_GE(documents, 20u);
}

}  // namespace
}  // namespace streamsim::scenario
