// The main job from outside: media is made, played, judged, and the counts are right.
#include <gtest/gtest.h>

#include <cerrno>
#include <thread>

#include "cli/fixture.h"

namespace streamsim::tests {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

class Play : public CliTest {};

TEST_F(Play, AnEmptyDirectoryGetsItsMediaAndIsPlayed) {
    const Json result = play_small({"--streams", "3", "--duration", "2s", "--clip-duration", "1s"});
    EXPECT_EQ(finished().exit_code, 0) << finished().text();
    const std::vector<std::string> clips = clip_directories();
    ASSERT_EQ(clips.size(), 3U);
    for (const std::string& clip : clips) EXPECT_EQ(frames_in(clip).size(), 24U) << clip;
    EXPECT_EQ(result["totals"]["frames_scheduled"], 3 * 48);
    EXPECT_EQ(result["totals"]["passes"], 3 * 2);
    EXPECT_EQ(result["media"]["looped"], true);
    const std::uint64_t frame_bytes = file_bytes(frames_in(clips[0])[0]);
    EXPECT_GT(frame_bytes, std::uint64_t{kSmallWidth * kSmallHeight * 4});
    EXPECT_EQ(result["totals"]["bytes_read"], frames_read(result) * frame_bytes);
    for (const Json& stream : result["streams"]) {
        EXPECT_EQ(stream["frames_scheduled"], 48);
        EXPECT_EQ(stream["rate"], Json({24, 1}));
        EXPECT_EQ(stream["last_due_ns"], 47'000'000'000 / 24);
    }
    EXPECT_NEAR(result["totals"]["required_bytes_per_s"].get<double>(),
                3.0 * 24 * static_cast<double>(frame_bytes), 1);
}

TEST_F(Play, MediaThatIsThereIsNotMadeAgain) {
    prepare(2);
    const std::string frame = frames_in(clip_directories()[1])[5];
    const auto written = std::filesystem::last_write_time(frame);
    const std::string content = read_text(frame);
    play_small({"--streams", "2", "--duration", "1s"});
    EXPECT_EQ(std::filesystem::last_write_time(frame), written);
    EXPECT_EQ(read_text(frame), content);
    EXPECT_EQ(clip_directories().size(), 2U);
    play_small({"--streams", "3", "--duration", "1s"});  // one more is made beside them
    EXPECT_EQ(clip_directories().size(), 3U);
    EXPECT_EQ(std::filesystem::last_write_time(frame), written);
}

TEST_F(Play, MediaThatWereJustCopiedAreYoungWhateverTheirTimesSay) {
    copy_clip_of_others();
    for (const std::string& frame : frames_in(target() + "/shot"))  // as cp -p does
        std::filesystem::last_write_time(frame,
                                         std::filesystem::last_write_time(frame) - std::chrono::hours(3));
    const Json result = play({"--duration", "500ms"}, target() + "/shot");
    EXPECT_LT(result["media"]["age_s"], 3600);
    EXPECT_EQ(result["media"]["server_cache_may_be_warm"], true);
}

TEST_F(Play, AudioThatASequenceDoesNotHaveIsNotSaidToBeRead) {
    copy_clip_of_others();
    const Json result = play({"--duration", "500ms", "--audio"}, target() + "/shot");
    EXPECT_EQ(result["play"]["audio"], false);
    EXPECT_THAT(result["media"]["notes"].dump(), HasSubstr("it has no audio"));
}

TEST_F(Play, EveryFrameIsDifferent) {
    prepare(2);
    std::set<std::string> contents;
    for (const std::string& clip : clip_directories()) {
        for (const std::string& frame : frames_in(clip)) contents.insert(read_text(frame).substr(8192));
    }
    EXPECT_EQ(contents.size(), 48U);
}

TEST_F(Play, SlotsAreTheDurationTimesTheRateRoundedUpOrTheFramesGiven) {
    prepare(1);
    EXPECT_EQ(play_small({"--duration", "1010ms"})["totals"]["frames_scheduled"], 25);
    EXPECT_EQ(play_small({"--duration", "1s", "--fps", "23.976"})["totals"]["frames_scheduled"], 24);
    EXPECT_EQ(play_small({"--duration", "1s", "--frames", "7"})["totals"]["frames_scheduled"], 7);
    const Json result = play_small({"--frames", "30", "--duration", "20s", "--fps", "60000/1001"});
    EXPECT_EQ(result["totals"]["frames_scheduled"], 30);
    EXPECT_EQ(result["totals"]["passes"], 2);  // 24 and 6 frames: the second was begun
    EXPECT_EQ(result["streams"][0]["rate"], Json({60000, 1001}));
    EXPECT_EQ(result["streams"][0]["last_due_ns"], 29LL * 1001 * 1'000'000'000 / 60'000);
}

TEST_F(Play, OneClipForAllStreams) {
    prepare(1);
    const Json result = play_small({"--streams", "3", "--media", "same", "--duration", "1s"});
    EXPECT_EQ(clip_directories().size(), 1U);
    EXPECT_EQ(result["totals"]["frames_scheduled"], 72);
}

TEST_F(Play, AnErrorOnEverySecondFrameFailsThatFrameAndNoOther) {
    prepare(1);
    const Json rule{{"slots", {{"first", 1}, {"every", 2}}}, {"error", "EIO"}};
    const Json result =
        play_small({"--duration", "2s", "--no-probes", "--faults", write_faults(Json::array({rule}))});
    EXPECT_EQ(result["totals"]["frames_failed"], 24);
    EXPECT_EQ(result["totals"]["frames_on_time"].get<int>() + result["totals"]["frames_dropped"].get<int>(),
              24);
    EXPECT_EQ(result["totals"]["bytes_read"],
              frames_read(result) * file_bytes(frames_in(clip_directories()[0])[0]));
    EXPECT_EQ(finished().exit_code, 1);
    for (const Json& drop : result["drops"]) {
        if (drop["kind"] != "failed") continue;
        EXPECT_EQ(drop["frame"].get<int>() % 2, 1);
        EXPECT_EQ(drop["reason"], "error");
        EXPECT_EQ(drop["errno"], EIO);
        EXPECT_TRUE(drop["completed_ns"].is_null());
    }
}

TEST_F(Play, FramesThatAreCutOrGoneFailAtEverySlotOfTheirs) {
    prepare(1);
    const std::vector<std::string> frames = frames_in(clip_directories()[0]);
    const std::uint64_t frame_bytes = file_bytes(frames[0]);
    std::filesystem::resize_file(frames[5], 4096);
    std::filesystem::resize_file(frames[6], 0);
    std::filesystem::remove(frames[11]);
    std::filesystem::remove(frames[23]);  // also the last one: the clip is not shorter for it
    for (const char* how : {"--direct", "--buffered"}) {
        const Json result = play_small({"--duration", "2s", how});
        EXPECT_EQ(finished().exit_code, 1);
        EXPECT_EQ(result["totals"]["frames_scheduled"], 48);
        EXPECT_EQ(result["totals"]["frames_failed"], 8);
        EXPECT_EQ(result["totals"]["bytes_read"], frames_read(result) * frame_bytes);
        std::map<std::uint64_t, std::string> reasons;
        for (const Json& drop : result["drops"]) {
            if (drop["kind"] == "failed") reasons[drop["frame"]] = drop["reason"];
        }
        const std::map<std::uint64_t, std::string> expected{{5, "short"},    {6, "short"},   {11, "missing"},
                                                            {23, "missing"}, {29, "short"},  {30, "short"},
                                                            {35, "missing"}, {47, "missing"}};
        EXPECT_EQ(reasons, expected) << how;
        for (const Json& drop : result["drops"]) {
            if (drop["frame"] != 5) continue;
            EXPECT_THAT(drop["file"].get<std::string>(), EndsWith("frame.0000006.dpx"));
        }
    }
}

TEST_F(Play, ADirectoryThatVanishesFailsWhatComesAfter) {
    prepare(2, "4s");
    const std::vector<std::string> clips = clip_directories();
    Spawn spawn;
    spawn.args = {"--quiet", "--format", small(),     "--streams",   "2", "--duration",
                  "4s",      "--json",   json_path(), "--readahead", "2", target()};
    Process process(streamsim_binary(), spawn);
    sleep_ms(2000);
    ASSERT_TRUE(process.running());
    std::filesystem::remove_all(clips[0]);
    const Finished done = process.wait();
    EXPECT_EQ(done.exit_code, 1) << done.text();
    const Json result = read_json(json_path());
    EXPECT_THAT(result_problems(result), ::testing::IsEmpty());
    EXPECT_GE(result["streams"][0]["frames_failed"], 30);
    EXPECT_GE(result["streams"][0]["frames_on_time"], 20);
    EXPECT_EQ(result["streams"][1]["frames_failed"], 0);
    for (const Json& drop : result["drops"]) {
        if (drop["kind"] != "failed") continue;
        EXPECT_EQ(drop["reason"], "missing") << drop;
    }
}

TEST_F(Play, PlayingEveryFrameStopsTheClock) {
    prepare(1);
    const Json rule{{"slots", {{"first", 30}, {"last", 30}}}, {"delay", "300ms"}};
    const std::string faults = write_faults(Json::array({rule}));
    const Json result = play_small(
        {"--duration", "2s", "--on-miss", "stall", "--readahead", "1", "--no-probes", "--faults", faults});
    EXPECT_EQ(result["totals"]["frames_dropped"], 0);
    EXPECT_EQ(result["totals"]["frames_late"], 0);
    EXPECT_GE(result["totals"]["stalls"], 1);
    // It entered the window one period before it was due.
    EXPECT_NEAR(result["totals"]["stall_ns"].get<double>(), 258.4e6, 40e6);
    EXPECT_EQ(finished().exit_code, 1);
    EXPECT_EQ(play_small({"--duration", "2s", "--readahead", "16", "--no-probes", "--faults",
                          faults})["totals"]["frames_dropped"],
              0);
    const Json held = play_small(
        {"--duration", "2s", "--on-miss", "hold", "--readahead", "1", "--no-probes", "--faults", faults});
    EXPECT_EQ(held["totals"]["frames_dropped"], 0);
    EXPECT_GE(held["totals"]["frames_late"], 7);
    EXPECT_EQ(finished().exit_code, 1);
}

TEST_F(Play, AsFastAsItGoesHasNoDeadlines) {
    prepare(2);
    const Json timed = play_small({"--streams", "2", "--fps", "max", "--duration", "2s"});
    EXPECT_EQ(finished().exit_code, 0) << finished().text();
    EXPECT_GT(timed["totals"]["frames_on_time"], 48);
    EXPECT_EQ(timed["totals"]["frames_dropped"], 0);
    EXPECT_NEAR(timed["totals"]["wall_ns"].get<double>(), 2e9, 0.3e9);
    for (const Json& stream : timed["streams"])
        EXPECT_TRUE(stream["margin_ns"].is_null()) << stream["margin_ns"];
    EXPECT_EQ(timed["totals"]["bytes_read"], timed["totals"]["frames_on_time"].get<std::uint64_t>() *
                                                 file_bytes(frames_in(clip_directories()[0])[0]));
    const Json counted = play_small({"--fps", "max", "--frames", "100", "--duration", "60s"});
    EXPECT_EQ(counted["totals"]["frames_on_time"], 100);
    EXPECT_LT(counted["totals"]["wall_ns"].get<std::int64_t>(), 20'000 * kMs);
}

TEST_F(Play, ASequenceByItsDirectoryItsFrameOrItsPattern) {
    prepare(1);
    const std::string clip = clip_directories()[0];
    const std::string copy = dir_ / "shot";  // as if someone else had made it
    std::filesystem::copy(clip, copy);
    for (const std::string& where : {copy, copy + "/frame.0000004.dpx", copy + "/frame.%07d.dpx"}) {
        const Json result = play({"--duration", "1s"}, where);
        EXPECT_EQ(result["totals"]["frames_scheduled"], 24) << where;
        EXPECT_EQ(result["totals"]["frames_failed"], 0) << where;
    }
    // Two streams from one clip of others: they are not made, and not shared unasked.
    const Finished refused = streamsim({"--quiet", "--streams", "2", "--duration", "1s", copy});
    EXPECT_EQ(refused.exit_code, 2) << refused.text();
    EXPECT_EQ(play({"--streams", "2", "--media", "same", "--duration", "1s"}, copy)["streams"].size(), 2U);
}

TEST_F(Play, ARowForEveryFrame) {
    prepare(2);
    const std::string csv = dir_ / "frames.csv";
    const Json result = play_small({"--streams", "2", "--duration", "1s", "--csv", csv});
    const std::string text = read_text(csv);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + result["totals"]["frames_scheduled"].get<int>());
}

TEST_F(Play, WhatThePlayerDidIsInTheResult) {
    prepare(1);
    const Json result =
        play_small({"--frames", "12", "--readahead", "3", "--inflight", "1", "--buffered", "--seed", "77",
                    "--io-size", "frame", "--pattern", "on-demand", "--io", "threads"});
    EXPECT_EQ(result["seed"], 77);
    EXPECT_EQ(result["target"]["io"], "threads");
    EXPECT_EQ(result["target"]["direct"], false);
    EXPECT_EQ(result["verdict"]["limit"], "none");
    EXPECT_EQ(result["command"].back(), target());
}

TEST_F(Play, FramesThatEndInTheMiddleOfABlock) {
    const std::string odd = write_format("odd", 253, 61);  // 8192 + 253 * 61 * 4 bytes
    const std::uint64_t frame_bytes = 8192 + 253 * 61 * 4;
    for (const char* how : {"--direct", "--buffered"}) {
        for (const char* io_size : {"frame", "4096B", "5000B", "1MiB"}) {
            for (const char* io : {"uring", "threads"}) {
                const Json result = play({"--format", odd, "--clip-duration", "500ms", "--frames", "12",
                                          "--io-size", io_size, "--io", io, how, "--io-depth", "3"},
                                         target());
                EXPECT_EQ(result["totals"]["frames_failed"], 0) << how << io_size << io;
                EXPECT_EQ(result["totals"]["bytes_read"], frames_read(result) * frame_bytes)
                    << how << io_size << io;
            }
        }
    }
}

TEST_F(Play, MemoryThatIsNotThereIsSaidBeforePlaying) {
    const std::string large = write_format("large", 8192, 4320);  // 141 MB a frame
    const Finished done =
        streamsim({"--quiet", "--format", large, "--clip-duration", "40ms", "--duration", "10h", "--readahead",
                   "10000", "--streams", "4", "--media", "same", target()});
    EXPECT_EQ(done.exit_code, 3) << done.text();
    EXPECT_THAT(done.err, HasSubstr("memory"));
    EXPECT_LT(done.wall_s, 20);
}

class Virtual : public CliTest {
protected:
    Json sim(std::vector<std::string> options) {
        options.insert(options.end(), {"--streams", "2"});
        return play(std::move(options), "sim:null");
    }
};

TEST_F(Virtual, TheSameSeedGivesTheSameDigests) {
    const Json rule{{"probability", 0.1}, {"delay", "700ms"}};
    const std::string faults = write_faults(Json::array({rule}));
    const auto run = [&](const char* seed) {
        return sim({"--duration", "60s", "--readahead", "2", "--faults", faults, "--seed", seed});
    };
    const Json first = run("1"), again = run("1"), other = run("2");
    EXPECT_GT(first["totals"]["frames_dropped"], 50);
    EXPECT_EQ(first["digest"], again["digest"]);
    EXPECT_EQ(first["timing_digest"], again["timing_digest"]);
    EXPECT_FALSE(first["timing_digest"].is_null());
    EXPECT_NE(first["digest"], other["digest"]);
    EXPECT_NE(first["timing_digest"], other["timing_digest"]);
    EXPECT_EQ(first["drops"], again["drops"]);
}

TEST_F(Virtual, ADayAt24000Over1001EndsOnTheNanosecond) {
    const Json result = play({"--fps", "24000/1001", "--duration", "24h"}, "sim:null");
    EXPECT_EQ(finished().exit_code, 0) << finished().text();
    // 86400 * 24000 / 1001 = 2,071,528.47...: the last slot is 2,071,528, due at 2,071,528 * 1001 / 24000 s.
    EXPECT_EQ(result["totals"]["frames_scheduled"], 2'071'529);
    EXPECT_EQ(result["totals"]["frames_on_time"], 2'071'529);
    EXPECT_EQ(result["streams"][0]["last_due_ns"], 86'399'980'333'333);
}

TEST_F(Virtual, HalfASecondAtReadAheadOneCostsElevenSlotsWhenReadsTakeNoTime) {
    const Json rule{{"slots", {{"first", 100}, {"last", 100}}}, {"delay", "500ms"}};
    const Json result = play({"--fps", "24", "--frames", "240", "--readahead", "1", "--pattern", "on-demand",
                              "--faults", write_faults(Json::array({rule}))},
                             "sim:null");
    EXPECT_EQ(result["totals"]["frames_dropped"], 11);
    EXPECT_EQ(result["drops"][0]["frame"], 100);
    EXPECT_EQ(result["drops"][10]["frame"], 110);
    EXPECT_EQ(result["drops"][0]["completed_ns"].get<std::int64_t>(), 99'000'000'000 / 24 + 500 * kMs);
}

TEST_F(Virtual, NullInRealTime) {
    const Json result = play({"--streams", "4", "--duration", "1s"}, "null:");
    EXPECT_EQ(result["totals"]["frames_scheduled"], 96);
    EXPECT_EQ(result["totals"]["frames_dropped"], 0);
    EXPECT_TRUE(result["timing_digest"].is_null());
    EXPECT_EQ(result["target"]["io"], "null");
}

}  // namespace
}  // namespace streamsim::tests
