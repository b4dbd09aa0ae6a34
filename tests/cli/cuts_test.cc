// Cut lists on real files: what is typed, and frame by frame what is played.
#include <fmt/format.h>

#include <sstream>

#include "cli/fixture.h"

namespace streamsim::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kRate = 24;

std::string timecode(std::uint64_t frame) {
    const std::uint64_t second = frame / kRate;
    return fmt::format("{:02}:{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60, frame % kRate);
}

class Cuts : public CliTest {
protected:
    /// The list, and what it shows: the file of each record frame.
    std::string edl = "TITLE: two hundred\nFCM: NON-DROP FRAME\n\n";
    std::vector<std::string> expected;

    /// An event of clip `clip` (from 1) from file number `first` on; a prepared clip's files begin at 1.
    void cut(std::uint64_t clip, std::uint64_t first, std::uint64_t frames) {
        const std::uint64_t at = expected.size();
        edl +=
            fmt::format("{:03}  AX       V     C        {} {} {} {}\n* FROM CLIP NAME: clip-{:04}\n", ++events_,
                        timecode(first), timecode(first + frames), timecode(at), timecode(at + frames), clip);
        for (std::uint64_t i = 0; i < frames; ++i)
            expected.push_back(fmt::format("clip-{:04}/frame.{:07}.dpx", clip, first + i));
    }
    std::vector<std::string> played(const std::string& csv) const {
        std::istringstream rows(read_text(csv));
        std::string row;
        std::getline(rows, row);
        std::vector<std::string> files;
        while (std::getline(rows, row)) {
            std::istringstream fields(row);
            std::string field;
            for (int i = 0; i < 5; ++i) std::getline(fields, field, ',');
            files.push_back(field.substr(field.find("clip-")));
        }
        return files;
    }
    std::string list(const std::string& text) const {
        write_text(dir_ / "list.edl", text);
        return dir_ / "list.edl";
    }

private:
    int events_ = 0;
};

TEST_F(Cuts, TwoHundredEventsOverTwelveClipsPlayToTheFrame) {
    prepare(12, "3s");
    for (std::uint64_t i = 0; i < 200; ++i) cut(1 + i * 5 % 12, 1 + i % 50, 5 + i % 7);
    const std::string csv = dir_ / "frames.csv";
    const Json read =
        play({"--cuts", list(edl), "--fps", "max", "--frames", std::to_string(expected.size()), "--csv", csv},
             target());
    EXPECT_EQ(read["totals"]["frames_on_time"], expected.size());
    EXPECT_EQ(played(csv), expected);
    EXPECT_EQ(read["play"]["order"], "cuts");
    // In real time, for as long as a test may take: on its rate, and in the same order.
    const Json paced = play({"--cuts", list(edl), "--frames", "60", "--csv", csv}, target());
    EXPECT_EQ(paced["totals"]["frames_scheduled"], 60);
    EXPECT_EQ(paced["streams"][0]["rate"], Json::array({24, 1}));
    EXPECT_EQ(played(csv), std::vector<std::string>(expected.begin(), expected.begin() + 60));
}

TEST_F(Cuts, AListIsPlayedOnceWhereNothingIsSaidOfItsLength) {
    prepare(2);
    cut(1, 1, 10);
    cut(2, 5, 10);
    const Json result = play({"--cuts", list(edl)}, target());
    EXPECT_EQ(result["totals"]["frames_scheduled"], 20);
    EXPECT_EQ(result["totals"]["passes"], 1);
    const Finished ready = streamsim({"prepare", "--cuts", dir_ / "list.edl", target()});
    EXPECT_EQ(ready.exit_code, 0) << ready.text();
    EXPECT_THAT(ready.out, HasSubstr("2 clips of two hundred ready below " + target()));
}

TEST_F(Cuts, EveryProblemIsNamedWithItsPlace) {
    prepare(2);
    cut(1, 1, 10);
    cut(7, 1, 10);
    cut(2, 20, 10);
    const Finished finished = streamsim({"--cuts", list(edl), target()});
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_THAT(finished.err, AllOf(HasSubstr("list.edl"), HasSubstr("clip-0007")));
    const Finished early = streamsim({"prepare", "--cuts", dir_ / "list.edl", target()});
    EXPECT_EQ(early.exit_code, 2) << early.text();
    EXPECT_THAT(early.err, AllOf(HasSubstr("list.edl"), HasSubstr("clip-0007")));
    const Finished no_list = streamsim({"--order", "cuts", target()});
    EXPECT_EQ(no_list.exit_code, 2);
    EXPECT_THAT(no_list.err, HasSubstr("--cuts FILE"));
    const Finished other = streamsim({"--order", "reverse", "--cuts", list(edl), "--layers", "2", target()});
    EXPECT_EQ(other.exit_code, 2);
    EXPECT_THAT(other.err, AllOf(HasSubstr("--order reverse"), HasSubstr("--layers")));
}

}  // namespace
}  // namespace streamsim::tests
