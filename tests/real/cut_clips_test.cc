// Cut lists over clips that ffmpeg made with a time code track: source times count from the clip's own.
#include "unit/media/cut_fixture.h"

namespace streamsim {
namespace {

using testing::Cuts;
using testing::run;
using testing::shown;

class CutClips : public Cuts {
protected:
    void make(const std::string& input, const std::string& output) {
        const auto ran = run("ffmpeg -v error -y -bitexact -f lavfi -i " + input + " -c:v mjpeg -threads 1 " +
                             output + " " + place_.at("A.mov"));
        ASSERT_EQ(ran.code, 0) << ran.output;
    }
};

TEST_F(CutClips, SourceTimesCountFromTheTimeCodeOfTheClip) {
    NEED_TOOL("ffmpeg");
    ASSERT_NO_FATAL_FAILURE(make("color=s=32x32:r=25", "-t 2 -timecode 01:00:00:00"));
    const std::string list =
        "001  A  V  C  01:00:01:00 01:00:01:02 10:00:00:00 10:00:00:02\n"
        "002  A  V  C  01:00:00:00 01:00:00:01 10:00:00:02 10:00:00:03\n";
    for (const auto& rate : {std::optional<FrameRate>(), std::optional<FrameRate>({50, 1})}) {
        const CutList played = cuts(list, rate);
        EXPECT_EQ(shown(played, 0, 3), (std::vector<std::string>{"A.mov 25", "A.mov 26", "A.mov 0"}));
        EXPECT_EQ(played.rate, rate.value_or(FrameRate{25, 1}));
    }
}

TEST_F(CutClips, DropFrameCountsFromTheTimeCodeOfTheClip) {
    NEED_TOOL("ffmpeg");
    ASSERT_NO_FATAL_FAILURE(make("color=s=32x32:r=30000/1001", "-t 62 -timecode '01:00:00;00'"));
    const char* const lists[] = {
        "001  A  V  C  01:01:00;02 01:01:00;04 10:00:00;00 10:00:00;02\n",
        "FCM: DROP FRAME\n001  A  V  C  01:01:00:02 01:01:00:04 10:00:00:00 10:00:00:02\n",
        // The record without drop frame, its source with it.
        ("FCM: NON-DROP FRAME\nFCM: DROP FRAME\n001  A  V  C  01:01:00:02 01:01:00:04 10:01:00:00 "
         "10:01:00:02\n")};
    for (const char* list : lists)
        EXPECT_EQ(shown(cuts(list), 0, 2), (std::vector<std::string>{"A.mov 1800", "A.mov 1801"})) << list;
}

}  // namespace
}  // namespace streamsim
