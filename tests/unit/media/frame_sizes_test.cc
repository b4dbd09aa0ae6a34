#include "media/catalogue/frame_sizes.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "media/clips/inspect.h"
#include "media/clips/planned_index.h"
#include "media/frames/codec_makers.h"
#include "media/write/container_writer.h"
#include "unit/media/fixtures.h"

namespace streamsim::media {
namespace {

using ::testing::Each;
using testing::path_of;
using testing::shipped_formats;
using testing::small_prores;

TEST(FrameSizes, TheMeanIsExactAndNoFrameIsAboveTheCap) {
    const Catalogue catalogue = shipped_formats();
    for (const char* name : {"prores-hd", "prores-uhd"}) {
        const MediaFormat& format = *catalogue.find(name);
        for (const std::uint64_t frames : {1u, 2u, 30u, 300u, 5000u}) {
            for (const std::uint64_t seed : {1u, 2u, 99u}) {
                const auto sizes = plan_frame_bytes(format, frames, seed, 3);
                ASSERT_EQ(sizes.size(), frames);
                const auto sum = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
                EXPECT_EQ(sum, static_cast<std::uint64_t>(
                                   std::floor(format.size.mean_bytes * static_cast<double>(frames) + 0.5)));
                const auto cap = static_cast<std::uint32_t>(format.size.cap * format.size.mean_bytes);
                EXPECT_LE(*std::max_element(sizes.begin(), sizes.end()), cap);
            }
        }
    }
}

TEST(FrameSizes, ScenesDifferAndFramesOfASceneAreAlike) {
    const auto sizes = plan_frame_bytes(*shipped_formats().find("prores-uhd"), 3000, 1, 1);
    double steps = 0;
    double spread = 0;
    const double mean = 829e6 / 8 / 30;
    for (std::size_t i = 1; i < sizes.size(); ++i) {
        steps += std::abs(double{1} * sizes[i] - sizes[i - 1]) / mean;
        spread += std::abs(sizes[i] - mean) / mean;
    }
    EXPECT_LT(steps / 3000, 0.02);
    EXPECT_GT(spread / 3000, 0.03);
}

/// These numbers must be the same in every build, or the same seed would not give the same run.
TEST(FrameSizes, AreTheSameWithEveryCompiler) {
    const Catalogue catalogue = shipped_formats();
    const auto first = [](std::vector<std::uint32_t> sizes) {
        sizes.resize(6);
        return sizes;
    };
    EXPECT_THAT(first(plan_frame_bytes(*catalogue.find("prores-hd"), 300, 1, 1)),
                ::testing::ElementsAre(1049874, 1057392, 1048313, 1036930, 1034992, 1036710));
    EXPECT_THAT(first(plan_frame_bytes(*catalogue.find("prores-uhd"), 300, 1, 1)),
                ::testing::ElementsAre(3097315, 3119493, 3092709, 3059126, 3053410, 3058479));
}

TEST(FrameSizes, DependOnSeedAndClip) {
    const MediaFormat format = *shipped_formats().find("prores-hd");
    const auto sizes = plan_frame_bytes(format, 100, 1, 1);
    EXPECT_EQ(sizes, plan_frame_bytes(format, 100, 1, 1));
    EXPECT_NE(sizes, plan_frame_bytes(format, 100, 2, 1));
    EXPECT_NE(sizes, plan_frame_bytes(format, 100, 1, 2));
}

TEST(FrameSizes, SmallFramesStillHoldTheirHeaders) {
    const std::uint64_t least = prores_frame_bytes_min(small_prores("any", 64, 36, 5000));
    const MediaFormat format = small_prores("tiny", 64, 36, least + 3);
    for (const std::uint32_t bytes : plan_frame_bytes(format, 500, 7, 1)) EXPECT_GE(bytes, least);
}

TEST(FrameSizes, ACapAtTheMeanMakesThemConstant) {
    MediaFormat format = small_prores("flat", 64, 36, 1000);
    format.size.cap = 1;
    EXPECT_THAT(plan_frame_bytes(format, 100, 1, 1), Each(1000u));
}

TEST(FrameSizes, UncompressedFramesAreAlike) {
    EXPECT_THAT(plan_frame_bytes(*shipped_formats().find("dpx12"), 10, 1, 1), Each(49'774'592u));
}

TEST(PlannedIndex, NamesAndPlacesOfASequence) {
    const auto index = planned_index(*shipped_formats().find("dpx10"), 240, 1, 1, "/media/clip-0001");
    EXPECT_TRUE(index->file_per_frame());
    EXPECT_EQ(index->count(), 240u);
    EXPECT_EQ(path_of(*index, 0), "/media/clip-0001/frame.0000001.dpx");
    EXPECT_EQ(path_of(*index, 239), "/media/clip-0001/frame.0000240.dpx");
    EXPECT_EQ(index->frame_number(239), 240u);
    EXPECT_EQ(index->extent(5).offset, 0u);
    EXPECT_EQ(index->extent(5).bytes, 33'185'792u);
    EXPECT_EQ(index->largest_frame_bytes(), 33'185'792u);
}

TEST(PlannedIndex, AContainerIsOneFileBackToBack) {
    const MediaFormat format = *shipped_formats().find("prores-hd");
    const auto sizes = plan_frame_bytes(format, 50, 4, 2);
    const auto index = planned_index(format, 50, 4, 2, "/media/clip-0002.mov");
    std::uint64_t offset = kQuickTimeDataOffset;
    for (std::uint64_t frame = 0; frame < 50; ++frame) {
        EXPECT_EQ(index->extent(frame).offset, offset);
        EXPECT_EQ(index->extent(frame).bytes, sizes[frame]);
        offset += sizes[frame];
    }
    EXPECT_FALSE(index->file_per_frame());
    EXPECT_EQ(path_of(*index, 49), "/media/clip-0002.mov");
}

TEST(Inspect, SaysWhatIsInAClip) {
    const MediaFormat format = *shipped_formats().find("prores-hd");
    const Clip clip{
        .name = "a", .format = "x", .index = planned_index(format, 300, 1, 1, "/a.mov"), .notes = {"n"}};
    const InspectFacts facts = inspect(clip);
    EXPECT_EQ(facts.frames, 300u);
    EXPECT_EQ(facts.duration, seconds(10));
    EXPECT_EQ(facts.timecode, "00:00:10:00");
    EXPECT_EQ(facts.bytes_total, 351'250'000u);
    EXPECT_NEAR(facts.bytes_per_s, 281e6 / 8, 1);
    auto sizes = plan_frame_bytes(format, 300, 1, 1);
    std::sort(sizes.begin(), sizes.end());
    EXPECT_EQ(facts.frame_bytes_min, sizes.front());
    EXPECT_EQ(facts.frame_bytes_p99, sizes[296]);  // the 297th of 300
    EXPECT_EQ(facts.frame_bytes_max, sizes.back());
    EXPECT_EQ(facts.layout, "one file, first frame at byte 36, frames back to back");
    EXPECT_EQ(facts.notes, clip.notes);
}

TEST(Inspect, ASequenceIsNotCountedFrameByFrame) {
    const MediaFormat format = *shipped_formats().find("dpx12");
    const Clip clip{.name = "a", .format = "x", .index = planned_index(format, 1ull << 40, 1, 1, "/a")};
    const InspectFacts facts = inspect(clip);
    EXPECT_EQ(facts.bytes_total, 49'774'592ull << 40);
    EXPECT_EQ(facts.layout, "a file a frame, numbers 1 to 1099511627776");
    EXPECT_EQ(facts.last_path, "/a/frame.1099511627776.dpx");
}

}  // namespace
}  // namespace streamsim::media
