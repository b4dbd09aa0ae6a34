#include "base/timecode.h"

#include <gtest/gtest.h>

#include <string>

#include "base/units.h"

namespace streamsim {
namespace {

std::uint64_t frames(const char* text, FrameRate rate) {
    const auto parsed = parse_timecode(text, rate);
    EXPECT_TRUE(parsed.has_value()) << text << ": " << (parsed ? "" : parsed.error().problems.front());
    return parsed ? *parsed : UINT64_MAX;
}

std::string problem(const char* text, FrameRate rate) {
    const auto parsed = parse_timecode(text, rate);
    return parsed ? "none" : parsed.error().problems.front();
}

TEST(Timecode, CountsFramesFromZero) {
    EXPECT_EQ(frames("01:01:01:05", {24, 1}), 24u * 3661 + 5);
    EXPECT_EQ(frames("00:01:00:00", {24000, 1001}), 24u * 60);
    EXPECT_EQ(frames("1:00:00:00", {25, 1}), 90'000u);
    EXPECT_EQ(frames("00:00:01:119", {120, 1}), 239u);
    EXPECT_EQ(frames("00:00:01.11", {25, 1}), 36u);
}

TEST(Timecode, DropFrameIsWhatTheSeparatorSays) {
    EXPECT_EQ(frames("00:00:59;29", {30000, 1001}), 1799u);
    EXPECT_EQ(frames("00:01:00;02", {30000, 1001}), 1800u);
    EXPECT_EQ(frames("00:10:00;00", {30000, 1001}), 17982u);
    EXPECT_EQ(frames("01:00:00;00", {30000, 1001}), 107892u);
    EXPECT_EQ(frames("01:00:00,00", {30000, 1001}), 107892u);
    EXPECT_EQ(frames("01:00:00:00", {30000, 1001}), 108000u);
    EXPECT_EQ(frames("00:01:00;04", {60000, 1001}), 3600u);
}

TEST(Timecode, LabelsForSeveralFrames) {
    EXPECT_EQ(label_rate({50, 1}, 2), (FrameRate{25, 1}));
    EXPECT_EQ(label_rate({60000, 1001}, 2), (FrameRate{30000, 1001}));
    EXPECT_EQ(label_rate({120000, 1001}, 4), (FrameRate{30000, 1001}));
    EXPECT_EQ(label_rate({24000, 1001}, 1), (FrameRate{24000, 1001}));
}

TEST(Timecode, IsTheInverseOfTheLabel) {
    for (const FrameRate rate : {FrameRate{24000, 1001}, FrameRate{25, 1}, FrameRate{30000, 1001},
                                 FrameRate{60000, 1001}, FrameRate{50, 1}}) {
        for (std::uint64_t frame = 0; frame < 200'000; frame += 7)
            ASSERT_EQ(frames(timecode(frame, rate).c_str(), rate), frame) << rate.to_string();
        ASSERT_EQ(frames(timecode(123'456'789, rate).c_str(), rate), 123'456'789u);
    }
}

TEST(Timecode, LabelsThatDoNotExistAreErrors) {
    EXPECT_NE(problem("00:00:00:24", {24, 1}).find("from 00 to 23"), std::string::npos);
    EXPECT_NE(problem("00:01:00;00", {30000, 1001}).find("first of this minute is 02"), std::string::npos);
    EXPECT_NE(problem("00:01:00;03", {60000, 1001}).find("leaves this label out"), std::string::npos);
    EXPECT_NE(problem("00:01:00;05", {25, 1}).find("not at 25"), std::string::npos);
    for (const char* text : {"", "1", "00:00:00", "00:00:00:0", "00:60:00:00", "00:00:60:00", "00:00:00:0000",
                             "1234567:00:00:00", "-1:00:00:00", "00:00:00:00 ", "aa:00:00:00", "00 00 00 00"}) {
        EXPECT_NE(problem(text, {24, 1}).find("not a time code"), std::string::npos) << text;
    }
}

}  // namespace
}  // namespace streamsim
