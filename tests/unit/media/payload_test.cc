#include "media/frames/payload.h"

#include <gmock/gmock.h>

#include <array>
#include <set>
#include <vector>

#include "base/byte_order.h"
#include "media/frames/codec_makers.h"
#include "media/image/dpx.h"
#include "unit/media/fixtures.h"

namespace streamsim::media {
namespace {

std::vector<std::byte> payload(std::size_t bytes,
                               std::uint64_t key,
                               PayloadMask mask = {},
                               std::uint64_t offset = 0) {
    std::vector<std::byte> out(bytes);
    fill_payload(out, key, mask, offset);
    return out;
}

TEST(Payload, AnyPieceCanBeMadeAlone) {
    const auto whole = payload(1000, 7);
    for (const std::size_t offset : {0u, 8u, 96u, 992u}) {
        const auto piece = payload(1000 - offset, 7, {}, offset);
        EXPECT_TRUE(
            std::equal(piece.begin(), piece.end(), whole.begin() + static_cast<std::ptrdiff_t>(offset)));
    }
    const auto odd = payload(13, 7);
    EXPECT_TRUE(std::equal(odd.begin(), odd.end(), whole.begin()));
}

/// Media that was prepared earlier holds these bytes.
TEST(Payload, MarkFreeBytesAreTheOthersButForTwoValues) {
    constexpr std::size_t kBytes = 10'007;
    auto expected = payload(kBytes, 7);
    for (std::byte& byte : expected) {
        if (byte == std::byte{0}) byte = std::byte{0x40};
        if (byte == std::byte{0xff}) byte = std::byte{0x7f};
    }
    for (const std::size_t offset : {0u, 8u, 2048u, 9'992u}) {
        std::vector<std::byte> made(kBytes - offset);
        fill_mark_free(made, 7, offset);
        EXPECT_TRUE(
            std::equal(made.begin(), made.end(), expected.begin() + static_cast<std::ptrdiff_t>(offset)))
            << offset;
    }
}

TEST(Payload, EveryFrameOfEverySetIsItsOwn) {
    std::set<std::vector<std::byte>> seen;
    std::set<std::uint64_t> keys;
    for (std::uint64_t set : {1u, 2u}) {
        for (std::uint64_t format : {1u, 2u}) {
            for (std::uint64_t clip = 1; clip <= 4; ++clip) {
                for (std::uint64_t frame = 0; frame < 100; ++frame) {
                    keys.insert(payload_key(set, format, clip, frame));
                    seen.insert(payload(32, payload_key(set, format, clip, frame)));
                }
            }
        }
    }
    EXPECT_EQ(keys.size(), 1600u);
    EXPECT_EQ(seen.size(), 1600u);
}

/// No byte value, and no pair of neighbouring bytes, is more frequent than chance makes it.
TEST(Payload, LooksRandomToACompressor) {
    const auto bytes = payload(1 << 20, 42);
    std::array<double, 256> single{};
    std::vector<double> pairs(65536);
    for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
        const auto a = std::to_integer<std::size_t>(bytes[i]);
        ++single[a];
        ++pairs[a * 256 + std::to_integer<std::size_t>(bytes[i + 1])];
    }
    const auto chi_square = [&](const auto& counts) {
        const double expected = static_cast<double>(bytes.size() - 1) / static_cast<double>(counts.size());
        double sum = 0;
        for (const double count : counts) sum += (count - expected) * (count - expected) / expected;
        return sum;
    };
    EXPECT_NEAR(chi_square(single), 255, 6 * 22.6);  // six standard deviations
    EXPECT_NEAR(chi_square(pairs), 65535, 6 * 362.0);
}

TEST(Payload, FillerBitsAreZeroAndAllOthersAreUsed) {
    struct Case {
        int bits;
        int packing;
        bool big_endian;
        std::uint32_t significant;  // of a big-endian word of the file
    };
    const Case cases[] = {{10, 1, true, 0xfffffffc}, {10, 2, true, 0x3fffffff},  {12, 1, true, 0xfff0fff0},
                          {12, 2, true, 0x0fff0fff}, {10, 1, false, 0xfcffffff}, {12, 1, false, 0xf0fff0ff},
                          {10, 0, true, 0xffffffff}, {16, 1, true, 0xffffffff},  {8, 1, true, 0xffffffff}};
    for (const Case& at : cases) {
        const DpxLayout layout{.bits = at.bits, .packing = at.packing, .big_endian = at.big_endian};
        const auto bytes = payload(4096, 5, dpx_payload_mask(layout));
        std::uint32_t used = 0;
        for (std::size_t i = 0; i < bytes.size(); i += 4) used |= load<std::uint32_t>(bytes, i, true);
        EXPECT_EQ(used, at.significant) << at.bits << " " << at.packing << " " << at.big_endian;
    }
}

/// Reads a frame as a demuxer and a decoder's first stage do.
void expect_prores(std::span<const std::byte> frame, const MediaFormat& format) {
    EXPECT_EQ(load<std::uint32_t>(frame, 0, true), frame.size());
    EXPECT_EQ(load<std::uint32_t>(frame, 4, true), 0x69637066u);
    const auto header = frame.subspan(8);
    EXPECT_EQ(load<std::uint16_t>(header, 8, true), format.width);
    EXPECT_EQ(load<std::uint16_t>(header, 10, true), format.height);
    const auto picture = header.subspan(load<std::uint16_t>(header, 0, true));
    EXPECT_EQ(load<std::uint8_t>(picture, 0, true) >> 3, 8);
    const std::uint64_t picture_bytes = load<std::uint32_t>(picture, 1, true);
    ASSERT_LE(picture_bytes, picture.size());
    const int log2 = load<std::uint8_t>(picture, 7, true) >> 4;
    std::uint64_t slices = 0;
    for (int row = 0; row < (format.height + 15) / 16; ++row) {
        int left = (format.width + 15) / 16;
        for (int size = 1 << log2; left > 0; ++slices) {
            while (left < size) size /= 2;
            left -= size;
        }
    }
    std::uint64_t sum = 8 + 2 * slices;
    for (std::uint64_t i = 0; i < slices; ++i) {
        const std::uint64_t bytes = load<std::uint16_t>(picture, 8 + 2 * i, true);
        ASSERT_GE(bytes, 6u);
        EXPECT_EQ(load<std::uint8_t>(picture, sum, true) >> 3, 6);
        EXPECT_LE(
            6u + load<std::uint16_t>(picture, sum + 2, true) + load<std::uint16_t>(picture, sum + 4, true),
            bytes);
        sum += bytes;
    }
    EXPECT_EQ(sum, picture_bytes);
}

std::uint64_t least_for(int width, int height) {
    MediaFormat format;
    format.width = width;
    format.height = height;
    format.profile = "apcn";
    return prores_frame_bytes_min(format);
}

TEST(ProRes, HeadersAddUpForAnyRasterAndLength) {
    const std::pair<int, int> rasters[] = {{1920, 1080}, {3840, 2160}, {64, 36}, {1, 1},
                                           {1998, 1080}, {8192, 4320}, {17, 33}};
    for (const auto& [width, height] : rasters) {
        const std::uint64_t least = least_for(width, height);
        for (const std::uint64_t more : {0u, 1u, 999u, 300'000u, 5'000'000u}) {
            const MediaFormat format = testing::small_prores("x", width, height, least + more);
            std::vector<std::byte> frame(least + more);
            build_prores_frame(frame, format, 3);
            SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height) + " +" + std::to_string(more));
            expect_prores(frame, format);
        }
    }
}

TEST(ProRes, NearlyAllOfAnOrdinaryFrameIsRandom) {
    const MediaFormat format = *testing::shipped_formats().find("prores-uhd");
    EXPECT_LT(static_cast<double>(prores_frame_bytes_min(format)), 0.025 * format.mean_frame_bytes);
    std::vector<std::byte> frame(3'454'167);
    build_prores_frame(frame, format, 3);
    std::vector<std::byte> other(frame.size());
    build_prores_frame(other, format, 4);
    std::size_t alike = 0;
    for (std::size_t i = 0; i < frame.size(); ++i) alike += frame[i] == other[i];
    EXPECT_LT(alike, frame.size() / 256 + prores_frame_bytes_min(format));
}

}  // namespace
}  // namespace streamsim::media
