// Every format that prepare can make, at small rasters: exact sizes, nothing to compress, nothing alike.
#include "media/frames/frame_maker.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include <algorithm>
#include <set>
#include <utility>

#include "media/catalogue/frame_sizes.h"
#include "media/clips/planned_index.h"
#include "media/frames/payload.h"
#include "media/image/dpx.h"
#include "media/write/media_set.h"
#include "unit/media/prepared_formats.h"

namespace streamsim::media {
namespace {

using testing::all_problems;
using testing::all_small_formats;
using testing::Container;
using testing::DirectoryStore;
using testing::format_of;
using ::testing::HasSubstr;
using testing::Place;

double compressed_to(std::span<const std::byte> bytes) {
    uLongf size = compressBound(bytes.size());
    std::vector<Bytef> out(size);
    EXPECT_EQ(compress2(out.data(), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), 1),
              Z_OK);
    return static_cast<double>(size) / static_cast<double>(bytes.size());
}

std::unique_ptr<FrameMaker> maker_of(const MediaFormat& format, std::uint64_t frames = 100) {
    auto maker = make_frame_maker(format, frames);
    if (maker) return std::move(*maker);
    ADD_FAILURE() << format.name << ": " << all_problems(maker.error());
    return nullptr;
}

std::vector<std::byte> frame_of(const FrameMaker& maker,
                                std::size_t bytes,
                                std::uint64_t frame,
                                std::uint64_t key) {
    std::vector<std::byte> out(bytes, std::byte{0xee});
    maker.make(out, {frame, frame + 1, key, "frame.dpx"});
    return out;
}

class EveryFormat : public ::testing::TestWithParam<MediaFormat> {};

TEST_P(EveryFormat, WritesExactlyTheBytesOfThePlanAndReadsThemBack) {
    const MediaFormat& format = GetParam();
    constexpr std::uint64_t kFrames = 9;
    Place place;
    DirectoryStore store;
    testing::prepare_clip(store, place, format, kFrames);
    const Clip clip = testing::prepared_clip(store, place, format);
    ASSERT_TRUE(clip.index);
    ASSERT_EQ(clip.index->count(), kFrames);
    EXPECT_EQ(clip.index->rate(), format.rate);
    const auto sizes = plan_frame_bytes(format, kFrames, 1, 1);
    std::set<std::string> seen;
    for (std::uint64_t frame = 0; frame < kFrames; ++frame) {
        const Extent extent = clip.index->extent(frame);
        EXPECT_EQ(extent.bytes, sizes[frame]) << frame;
        const std::string path = testing::path_of(*clip.index, frame);
        const std::string bytes = place.read(path.substr(place.path().size() + 1));
        if (format.container == Container::sequence) {
            EXPECT_EQ(bytes.size(), sizes[frame]);
        }
        ASSERT_LE(extent.offset + extent.bytes, bytes.size());
        seen.insert(bytes.substr(extent.offset, extent.bytes));
    }
    EXPECT_EQ(seen.size(), kFrames);
}

TEST_P(EveryFormat, HasFramesThatShareNoBlockAndDoNotCompress) {
    const MediaFormat& format = GetParam();
    const auto maker = maker_of(format);
    ASSERT_TRUE(maker);
    const FrameLimits limits = maker->limits(0);
    // Frames whose picture and headers are almost nothing: real rasters, or the payload alone.
    const std::size_t bytes = limits.min == limits.max ? limits.min : limits.min + 400'003;
    const auto one = frame_of(*maker, bytes, 0, 11);
    const auto same = frame_of(*maker, bytes, 0, 11);
    const auto other = frame_of(*maker, bytes, 0, 12);
    EXPECT_EQ(one, same);
    const bool random_image =
        format.container == Container::sequence && (format.profile.empty() || format.profile == "none");
    if (random_image || format.codec == "v210") return;
    EXPECT_GT(compressed_to(one), 0.95 * 400'003 / static_cast<double>(bytes));
    constexpr std::size_t kBlock = 512;
    std::set<std::string> blocks;
    const auto text = [&](const std::vector<std::byte>& frame, std::size_t at) {
        return std::string(reinterpret_cast<const char*>(frame.data()) + at, kBlock);
    };
    for (std::size_t at = 0; at + kBlock <= bytes; at += kBlock) blocks.insert(text(one, at));
    std::size_t shared = 0;
    for (std::size_t at = 0; at + kBlock <= bytes; at += kBlock) shared += blocks.count(text(other, at));
    EXPECT_LE(shared * kBlock, limits.min + kBlock) << "only the picture is in both";
}

TEST_P(EveryFormat, TellsHowTheFilesOfASequenceBegin) {
    const MediaFormat& format = GetParam();
    const auto maker = maker_of(format);
    ASSERT_TRUE(maker);
    const FrameLimits limits = maker->limits(3);
    for (const unsigned more : {0u, 1000u}) {
        if (more > 0 && limits.min == limits.max) continue;
        const auto frame = frame_of(*maker, limits.min + more, 3, 11);
        const auto beginning = maker->beginning(frame.size(), {3, 4, 12, "frame.dpx"});
        EXPECT_EQ(beginning.size() > 60, format.container == Container::sequence);
        ASSERT_LE(beginning.size(), frame.size());
        EXPECT_TRUE(std::equal(beginning.begin(), beginning.end(), frame.begin())) << more;
    }
}

/// The largest share of a frame that a fast compressor saves: the zero bits that a standard defines, and the
/// flat picture that a decoder needs. A format with more than 1 % says so in its sources ("compression").
double forced_share(const std::string& name) {
    const std::pair<const char*, double> kForced[] = {
        {"dpx12-packed", 0.01}, {"dpx12", 0.15}, {"prores-proxy", 0.09}, {"prores", 0.05},
        {"dnxhr-lb", 0.025},    {"avci", 0.04},  {"xavc", 0.05}};
    for (const auto& [prefix, share] : kForced) {
        if (name.starts_with(prefix)) return share;
    }
    return 0.01;
}

bool tells_compression(const MediaFormat& format) {
    return std::any_of(format.sources.begin(), format.sources.end(),
                       [](const std::string& source) { return source.starts_with("compression: "); });
}

TEST(Compression, SavesNoMoreThanTheSourcesOfAFormatSay) {
    std::size_t looked_at = 0;
    const Catalogue catalogue = testing::shipped_formats();
    for (const MediaFormat& format : catalogue.formats()) {
        if (unmakable(format) || format.width > 2000 || format.profile == "long-gop") continue;
        const auto maker = make_frame_maker(format, 8);
        if (!maker) continue;  // an encoder that this libavcodec does not have
        const auto bytes = static_cast<std::size_t>(format.mean_frame_bytes);
        const FrameLimits limits = (*maker)->limits(0);
        const auto frame = frame_of(**maker, std::clamp<std::size_t>(bytes, limits.min, limits.max), 0, 11);
        EXPECT_GT(compressed_to(frame), 1 - forced_share(format.name)) << format.name;
        EXPECT_TRUE(forced_share(format.name) <= 0.01 || tells_compression(format)) << format.name;
        ++looked_at;
    }
    EXPECT_GT(looked_at, 20u);
}

TEST_P(EveryFormat, MakesEverySizeFromItsSmallestOn) {
    const MediaFormat& format = GetParam();
    const auto maker = maker_of(format);
    ASSERT_TRUE(maker);
    for (std::uint64_t frame = 0; frame < 9; ++frame) {
        const FrameLimits limits = maker->limits(frame);
        EXPECT_LE(limits.min, frame_bytes_min(format)) << "the estimate holds";
        if (limits.min == limits.max) continue;
        for (std::size_t more = 0; more < 1100; more += frame == 0 ? 1 : 97)
            frame_of(*maker, limits.min + more, frame, more);
    }
}

INSTANTIATE_TEST_SUITE_P(All, EveryFormat, ::testing::ValuesIn(all_small_formats()), [](const auto& at) {
    std::string name = at.param.name;
    std::replace_if(
        name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
    return name;
});

}  // namespace
}  // namespace streamsim::media
