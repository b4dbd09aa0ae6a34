// The frame-size models against what they promise: mean, spread, likeness of neighbours, cap; over several
// seeds.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "media/catalogue/frame_sizes.h"
#include "media/clips/planned_index.h"
#include "media/frames/frame_maker.h"
#include "unit/media/fixtures.h"

namespace streamsim::media {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using testing::path_of;
using testing::shipped_formats;

using Sizes = std::vector<std::uint32_t>;

MediaFormat with_model(FrameSizeModel model) {
    MediaFormat format{.name = "test", .codec = "h264", .profile = "long-gop"};
    format.width = 64;
    format.height = 36;
    format.mean_frame_bytes = model.mean_bytes;
    format.size = std::move(model);
    return format;
}
MediaFormat gop_format() {
    return with_model({.kind = FrameSizeModel::Kind::long_gop,
                       .mean_bytes = 50'000.4,
                       .variation = 0.15,
                       .cap = 8,
                       .gop = "IPBBPBBPBB",
                       .weight_i = 4,
                       .weight_p = 1.2,
                       .weight_b = 0.5});
}
MediaFormat one_shot_format(double variation, double correlation, double cap) {
    return with_model({.kind = FrameSizeModel::Kind::scene,
                       .mean_bytes = 1e6,
                       .shot_frames_min = 1'000'000,
                       .shot_frames_max = 1'000'000,
                       .variation = variation,
                       .correlation = correlation,
                       .cap = cap});
}

std::uint64_t sum_of(const Sizes& sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
}
double mean_of(const Sizes& sizes) {
    return static_cast<double>(sum_of(sizes)) / static_cast<double>(sizes.size());
}
double deviation_of(const Sizes& sizes) {
    const double mean = mean_of(sizes);
    double squares = 0;
    for (const std::uint32_t size : sizes) squares += (size - mean) * (size - mean);
    return std::sqrt(squares / static_cast<double>(sizes.size()));
}
double correlation_of(const Sizes& sizes) {
    const double mean = mean_of(sizes);
    double products = 0;
    for (std::size_t i = 1; i < sizes.size(); ++i) products += (sizes[i] - mean) * (sizes[i - 1] - mean);
    return products / (deviation_of(sizes) * deviation_of(sizes) * static_cast<double>(sizes.size() - 1));
}

TEST(SizeModels, EveryEntryKeepsItsMeanItsCapAndItsFloor) {
    const Catalogue catalogue = shipped_formats();
    for (const MediaFormat& format : catalogue.formats()) {
        for (const std::uint64_t frames : {1u, 7u, 240u, 1001u}) {
            for (const std::uint64_t seed : {1u, 77u}) {
                const Sizes sizes = plan_frame_bytes(format, frames, seed, 2);
                ASSERT_EQ(sizes.size(), frames) << format.name;
                const double total = std::floor(format.mean_frame_bytes * static_cast<double>(frames) + 0.5);
                EXPECT_EQ(static_cast<double>(sum_of(sizes)), total) << format.name;
                const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
                EXPECT_GE(*least, frame_bytes_min(format)) << format.name;
                EXPECT_LE(*most, std::max(format.size.cap, 1.0) * format.mean_frame_bytes + 1) << format.name;
            }
        }
    }
}

TEST(SizeModels, ASceneHasTheSpreadAndTheLikenessThatItStates) {
    for (const std::uint64_t seed : {1u, 2u, 3u, 1000u}) {
        for (const double correlation : {0.0, 0.5, 0.9}) {
            const Sizes sizes = plan_frame_bytes(one_shot_format(0.05, correlation, 2), 20'000, seed, 1);
            EXPECT_NEAR(deviation_of(sizes) / mean_of(sizes), 0.05, 0.004) << seed << " " << correlation;
            EXPECT_NEAR(correlation_of(sizes), correlation, 0.03) << seed;
        }
    }
}

TEST(SizeModels, TheCapCutsAndTheMeanStays) {
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
        const Sizes sizes = plan_frame_bytes(one_shot_format(0.2, 0.5, 1.05), 5000, seed, 1);
        EXPECT_EQ(sum_of(sizes), 5'000'000'000u);
        EXPECT_EQ(*std::max_element(sizes.begin(), sizes.end()), 1'050'000u);
        EXPECT_GT(std::count(sizes.begin(), sizes.end(), 1'050'000u), 1000);
    }
}

/// Levels are uniform: the spread of the shots' means is that of a uniform distribution.
TEST(SizeModels, ShotsHoldLevelsBetweenTheBounds) {
    const MediaFormat format = *shipped_formats().find("exr-zip-uhd");
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
        const Sizes sizes = plan_frame_bytes(format, 60'000, seed, 1);
        const double level_spread = (1.132 - 0.868) / std::sqrt(12.0);
        const double wanted = std::sqrt(level_spread * level_spread + 0.02 * 0.02);
        EXPECT_NEAR(deviation_of(sizes) / mean_of(sizes), wanted, 0.008) << seed;
        EXPECT_GT(correlation_of(sizes), 0.95);
    }
}

TEST(SizeModels, ALongGopHasItsKindsInTheirProportions) {
    const MediaFormat format = gop_format();
    for (const std::uint64_t seed : {1u, 2u, 99u}) {
        const Sizes sizes = plan_frame_bytes(format, 20'000, seed, 1);
        EXPECT_EQ(sum_of(sizes), 1'000'008'000u);
        Sizes i_frames, p_frames, b_frames;
        for (std::size_t k = 0; k < sizes.size(); ++k) {
            const char kind = format.size.gop[k % 10];
            (kind == 'I' ? i_frames : kind == 'P' ? p_frames : b_frames).push_back(sizes[k]);
        }
        const double unit = 50'000.4 * 10 / (4 + 3 * 1.2 + 6 * 0.5);
        for (const auto& [kind, weight] :
             {std::pair(&i_frames, 4.0), std::pair(&p_frames, 1.2), std::pair(&b_frames, 0.5)}) {
            EXPECT_NEAR(mean_of(*kind) / unit, weight, weight * 0.02) << seed;
            EXPECT_NEAR(deviation_of(*kind) / mean_of(*kind), 0.15, 0.012) << seed;
            EXPECT_NEAR(correlation_of(*kind), 0, 0.06) << seed;
        }
        EXPECT_LE(*std::max_element(sizes.begin(), sizes.end()), 8 * 50'000.4);
    }
    MediaFormat capped = format;
    capped.size.cap = 2;
    const Sizes sizes = plan_frame_bytes(capped, 1000, 1, 1);
    EXPECT_EQ(*std::max_element(sizes.begin(), sizes.end()), 100'000u);
    EXPECT_EQ(sum_of(sizes), 50'000'400u);
}

TEST(SizeModels, ATableIsReadOverAndOver) {
    const MediaFormat format =
        with_model({.kind = FrameSizeModel::Kind::table, .mean_bytes = 6000, .table = {5000, 6000, 7000}});
    EXPECT_THAT(plan_frame_bytes(format, 7, 5, 1), ElementsAre(5000, 6000, 7000, 5000, 6000, 7000, 5000));
}

TEST(SizeModels, ConstantFramesAreAlikeForEveryCodec) {
    const Catalogue catalogue = shipped_formats();
    EXPECT_THAT(plan_frame_bytes(*catalogue.find("avci100-hd@29.97"), 9, 1, 1), Each(472'576u));
    EXPECT_THAT(plan_frame_bytes(*catalogue.find("jpeg2000-4k@30"), 9, 1, 1), Each(1'041'666u));
}

/// These numbers must be the same in every build, or the same seed would not give the same run.
TEST(SizeModels, AreTheSameWithEveryCompiler) {
    const Catalogue catalogue = shipped_formats();
    const auto first = [&catalogue](const char* name) {
        Sizes sizes = plan_frame_bytes(*catalogue.find(name), 300, 1, 1);
        sizes.resize(6);
        return sizes;
    };
    EXPECT_THAT(first("prores-422hq-uhd"), ElementsAre(3429658, 3454216, 3424558, 3387371, 3381042, 3386655));
    EXPECT_THAT(first("exr-piz-4k"), ElementsAre(18869555, 19004670, 18841491, 18636897, 18602076, 18632956));
    EXPECT_THAT(first("h264-proxy-hd"), ElementsAre(205026, 32877, 30736, 18662, 37651, 21648));
}

TEST(PlannedIndex, ASequenceOfFramesOfDifferentSizes) {
    const MediaFormat format = *shipped_formats().find("exr-dwaa-hd");
    const auto index = planned_index(format, 48, 3, 1, "/m/clip-0001");
    const Sizes sizes = plan_frame_bytes(format, 48, 3, 1);
    EXPECT_TRUE(index->file_per_frame());
    EXPECT_EQ(path_of(*index, 0), "/m/clip-0001/frame.0000001.exr");
    for (std::uint64_t frame = 0; frame < 48; ++frame) {
        EXPECT_EQ(index->extent(frame).bytes, sizes[frame]);
        EXPECT_EQ(index->sync_frame(frame), frame);
    }
    EXPECT_EQ(index->largest_frame_bytes(), *std::max_element(sizes.begin(), sizes.end()));
    EXPECT_EQ(path_of(*planned_index(*shipped_formats().find("tiff16-2k"), 1, 1, 1, "/a"), 0),
              "/a/frame.0000001.tif");
    EXPECT_EQ(path_of(*planned_index(*shipped_formats().find("cineon-2k"), 1, 1, 1, "/a"), 0),
              "/a/frame.0000001.cin");
}

TEST(PlannedIndex, ALongGopIsDecodedFromItsIFrame) {
    const MediaFormat format = *shipped_formats().find("h264-proxy-hd");
    const auto index = planned_index(format, 60, 1, 1, "/m/clip-0001.mp4");
    EXPECT_FALSE(index->file_per_frame());
    EXPECT_EQ(index->count(), 60u);
    EXPECT_EQ(index->extent(0).offset, 48u);
    EXPECT_EQ(index->extent(1).offset, 48u + index->extent(0).bytes);
    EXPECT_EQ(index->sync_frame(0), 0u);
    EXPECT_EQ(index->sync_frame(23), 0u);
    EXPECT_EQ(index->sync_frame(24), 24u);
    EXPECT_EQ(index->sync_frame(59), 48u);
    EXPECT_GT(index->extent(24).bytes, 2 * index->extent(25).bytes);
    EXPECT_EQ(path_of(*index, 59), "/m/clip-0001.mp4");
}

/// Offsets as FFmpeg 5.1 writes them: DNxHR HQ at byte 6144 and every 918,528 bytes, key and length of 20 bytes
/// before it.
TEST(PlannedIndex, MxfFramesAreOnTheGrid) {
    const auto index = planned_index(*shipped_formats().find("dnxhr-hq-hd"), 3, 1, 1, "/a.mxf");
    for (std::uint64_t frame = 0; frame < 3; ++frame) {
        EXPECT_EQ(index->extent(frame).offset, 6144 + 918'528 * frame + 20);
        EXPECT_EQ(index->extent(frame).bytes, 917'504u);
    }
}

}  // namespace
}  // namespace streamsim::media
