#include "media/image/dpx.h"

#include <gmock/gmock.h>

#include <cstring>
#include <vector>

#include "base/byte_order.h"
#include "base/prng.h"
#include "media/frames/codec_makers.h"
#include "unit/media/fixtures.h"

namespace streamsim::media {
namespace {

using ::testing::HasSubstr;
using testing::shipped_formats;
using testing::small_dpx;

using Bytes = std::vector<std::byte>;

Bytes header_of(const MediaFormat& format, std::uint64_t number = 86400, std::uint64_t first = 86400) {
    Bytes bytes(format.dpx.image_offset);
    write_dpx_header(bytes, format, "frame.0086400.dpx", number, first);
    return bytes;
}

std::string problem(const Result<DpxHeader>& header) {
    return header ? "no problem" : header.error().problems.front();
}

TEST(DpxImageBytes, MatchTheMeasuredFiles) {
    // bytes of data by packing, as GraphicsMagick, FFmpeg and OpenImageIO write them
    EXPECT_EQ(dpx_image_bytes(3840, 2160, 8, 0), 24'883'200u);
    EXPECT_EQ(dpx_image_bytes(3840, 2160, 10, 1), 33'177'600u);
    EXPECT_EQ(dpx_image_bytes(3840, 2160, 10, 2), 33'177'600u);
    EXPECT_EQ(dpx_image_bytes(3840, 2160, 10, 0), 31'104'000u);
    EXPECT_EQ(dpx_image_bytes(3840, 2160, 12, 1), 49'766'400u);
    EXPECT_EQ(dpx_image_bytes(3840, 2160, 12, 0), 37'324'800u);
    EXPECT_EQ(dpx_image_bytes(4096, 3112, 10, 0), 47'800'320u);
    EXPECT_EQ(dpx_image_bytes(2048, 1556, 12, 0), 14'340'096u);
    EXPECT_EQ(dpx_line_bytes(73, 10, 0), 276u);
    EXPECT_EQ(dpx_line_bytes(73, 12, 0), 332u);
    EXPECT_EQ(dpx_image_bytes(512, 512, 10, 1, 4), 512 * 2732u);
    EXPECT_EQ(dpx_image_bytes(3840, 2160, 10, 1, 4), 44'236'800u);
}

TEST(DpxImageBytes, OddWidths) {
    EXPECT_EQ(dpx_line_bytes(5, 8, 0), 16u);
    EXPECT_EQ(dpx_line_bytes(5, 10, 1), 20u);
    EXPECT_EQ(dpx_line_bytes(5, 12, 1), 30u);
    EXPECT_EQ(dpx_line_bytes(5, 16, 1), 30u);
    EXPECT_EQ(dpx_line_bytes(1, 10, 0), 4u);
    EXPECT_EQ(dpx_image_bytes(UINT64_MAX, UINT64_MAX, 16, 1), UINT64_MAX);
}

TEST(DpxHeaderWriter, PutsTheFieldsWhereTheStandardHasThem) {
    const MediaFormat format = small_dpx("x", 3840, 2160, 12, {24000, 1001});
    const Bytes bytes = header_of(format, 86424);
    const auto u32 = [&](std::size_t at) { return load<std::uint32_t>(bytes, at, true); };
    const auto u16 = [&](std::size_t at) { return load<std::uint16_t>(bytes, at, true); };
    const auto u8 = [&](std::size_t at) { return load<std::uint8_t>(bytes, at, true); };
    EXPECT_EQ(std::memcmp(bytes.data(), "SDPX", 4), 0);
    EXPECT_EQ(u32(4), 8192u);
    EXPECT_EQ(std::memcmp(bytes.data() + 8, "V2.0", 5), 0);
    EXPECT_EQ(u32(16), 49'774'592u);
    EXPECT_EQ(u32(24), 1664u);
    EXPECT_EQ(u32(28), 384u);
    EXPECT_EQ(u32(32), 0u);
    EXPECT_STREQ(reinterpret_cast<const char*>(bytes.data() + 36), "frame.0086400.dpx");
    EXPECT_EQ(u32(660), 0xffffffffu);
    EXPECT_EQ(u16(768), 0u);
    EXPECT_EQ(u16(770), 1u);
    EXPECT_EQ(u32(772), 3840u);
    EXPECT_EQ(u32(776), 2160u);
    EXPECT_EQ(u32(792), 4095u);
    EXPECT_EQ(u8(800), 50u);
    EXPECT_EQ(u8(803), 12u);
    EXPECT_EQ(u16(804), 1u);
    EXPECT_EQ(u16(806), 0u);
    EXPECT_EQ(u32(808), 8192u);
    EXPECT_EQ(u32(812), 0u);
    EXPECT_EQ(u32(852), 0xffffffffu);  // the second element
    EXPECT_EQ(u32(1712), 86424u);
    EXPECT_EQ(u32(1724), 0x41bfcee6u);  // 23.976024
    EXPECT_EQ(u32(1920), 0x00000100u);  // 00:00:01:00
    EXPECT_EQ(u32(1940), 0x41bfcee6u);
    EXPECT_TRUE(std::all_of(bytes.begin() + 2048, bytes.end(), [](std::byte b) { return b == std::byte{0}; }));
}

TEST(DpxHeaderWriter, IsReadAsWhatItWrote) {
    for (const int bits : {8, 10, 12, 16}) {
        for (const bool big_endian : {true, false}) {
            for (const FrameRate rate :
                 {FrameRate{24, 1}, FrameRate{30000, 1001}, FrameRate{25, 1}, FrameRate{25, 2}}) {
                MediaFormat format = small_dpx("x", 73, 43, bits, rate);
                format.dpx.big_endian = big_endian;
                const auto header = parse_dpx_header(header_of(format), "f");
                ASSERT_TRUE(header) << problem(header);
                EXPECT_EQ(header->big_endian, big_endian);
                EXPECT_EQ(header->bits, bits);
                EXPECT_EQ(header->width, 73u);
                EXPECT_EQ(header->expected_bytes, static_cast<std::uint64_t>(format.mean_frame_bytes));
                EXPECT_EQ(header->rate, rate);
                EXPECT_EQ(header->frame_number, 86400u);
            }
        }
    }
    const auto header = parse_dpx_header(header_of(*shipped_formats().find("dpx12")), "f");
    EXPECT_EQ(header->describe(), "dpx 12 bit filled 3840x2160");
}

TEST(DpxHeaderWriter, LeavesTheTimeCodeUnsetWhereItIsNotSimple) {
    EXPECT_EQ(load<std::uint32_t>(header_of(small_dpx("x", 8, 8, 10, {30000, 1001})), 1920, true), 0xffffffffu);
    EXPECT_EQ(load<std::uint32_t>(header_of(small_dpx("x", 8, 8, 10, {120, 1})), 1920, true), 0x00000000u);
    EXPECT_EQ(load<std::uint32_t>(header_of(small_dpx("x", 8, 8, 10, {240, 1}), 199, 0), 1920, true),
              0xffffffffu);
}

TEST(DpxHeaderReader, NamesTheByteThatIsWrong) {
    const Bytes good = header_of(small_dpx("x", 64, 36));
    struct Case {
        std::size_t at;
        std::uint64_t value;
        int bytes;
        const char* problem;
    };
    const Case cases[] = {{0, 0x89504e47, 4, "f.dpx: byte 0: expected SDPX or XPDS"},
                          {4, 0, 4, "f.dpx: byte 4: expected the offset"},
                          {4, 0xffffffff, 4, "f.dpx: byte 4: expected the offset"},
                          {770, 0, 2, "f.dpx: byte 770: expected 1 to 8"},
                          {770, 9, 2, "f.dpx: byte 770: expected 1 to 8"},
                          {772, 0, 4, "f.dpx: byte 772: the image has no width"},
                          {776, 0xffffffff, 4, "f.dpx: byte 776: the image has no height"},
                          {800, 255, 1, "f.dpx: byte 800: image descriptor 255"},
                          {803, 11, 1, "f.dpx: byte 803: expected 1, 8, 10"},
                          {804, 3, 2, "f.dpx: byte 804: expected packing"},
                          {806, 2, 2, "f.dpx: byte 806: expected encoding 0 (none) or 1"},
                          {806, 1, 2, "no problem"},
                          {776, 0xfffffffe, 4, "f.dpx: byte 772: an image of 64 x 4294967294"},
                          {812, 0xfffffffe, 4, "no problem"}};
    for (const Case& at : cases) {
        Bytes bytes = good;
        if (at.bytes == 1) store<std::uint8_t>(bytes, at.at, true, static_cast<std::uint8_t>(at.value));
        if (at.bytes == 2) store<std::uint16_t>(bytes, at.at, true, static_cast<std::uint16_t>(at.value));
        if (at.bytes == 4) store<std::uint32_t>(bytes, at.at, true, static_cast<std::uint32_t>(at.value));
        EXPECT_THAT(problem(parse_dpx_header(bytes, "f.dpx")), HasSubstr(at.problem)) << at.at;
    }
    Bytes all = good;
    for (const std::size_t at : {772u, 776u, 808u, 812u}) store<std::uint32_t>(all, at, true, 0xfffffffe);
    EXPECT_THAT(problem(parse_dpx_header(all, "f.dpx")), HasSubstr("larger than a TiB"));
}

TEST(DpxHeaderReader, ACutHeaderIsAnErrorAndNeverMore) {
    const Bytes good = header_of(small_dpx("x", 64, 36));
    for (std::size_t bytes = 0; bytes < 852; ++bytes) {
        const Bytes cut(good.begin(),
                        good.begin() + static_cast<std::ptrdiff_t>(bytes));  // exact: ASan sees one byte more
        EXPECT_THAT(problem(parse_dpx_header(cut, "f")),
                    HasSubstr("byte " + std::to_string(bytes) + ": the file ends"));
    }
    const Bytes only_generic(good.begin(), good.begin() + 1664);
    const auto header = parse_dpx_header(only_generic, "f");
    ASSERT_TRUE(header);
    EXPECT_FALSE(header->rate);
}

TEST(DpxHeaderReader, SurvivesAnything) {
    const Bytes good = header_of(small_dpx("x", 64, 36));
    Prng prng(11);
    for (int round = 0; round < 20'000; ++round) {
        Bytes bytes = good;
        for (std::uint64_t i = prng.below(6) + 1; i > 0; --i) {
            const std::size_t at = prng.below(2) == 0 ? prng.below(bytes.size()) : 768 + prng.below(84);
            bytes[at] = prng.below(2) == 0 ? std::byte{0xff} : static_cast<std::byte>(prng.next());
        }
        bytes.resize(prng.below(2049));
        const auto header = parse_dpx_header(bytes, "f");
        EXPECT_TRUE(!header || header->expected_bytes <= 1ull << 40);
    }
}

TEST(DpxHeaderReader, TakesTheOtherLineRuleWhereTheFileSizeSaysSo) {
    Bytes bytes = header_of(small_dpx("x", 5, 3, 12));
    EXPECT_EQ(parse_dpx_header(bytes, "f")->expected_bytes, 8192u + 90);
    store<std::uint32_t>(bytes, 16, true, 8192 + 96);  // FFmpeg ends 16-bit lines on a word
    EXPECT_EQ(parse_dpx_header(bytes, "f")->expected_bytes, 8192u + 96);
    store<std::uint32_t>(bytes, 16, true, 1'050'624);  // a file size that fits nothing is not believed
    EXPECT_EQ(parse_dpx_header(bytes, "f")->expected_bytes, 8192u + 90);
    Bytes eight = header_of(small_dpx("x", 5, 3, 8));
    EXPECT_EQ(parse_dpx_header(eight, "f")->expected_bytes, 8192u + 48);
    store<std::uint32_t>(eight, 16, true, 8192 + 45);  // OpenImageIO does not pad 8-bit lines
    EXPECT_EQ(parse_dpx_header(eight, "f")->expected_bytes, 8192u + 45);
}

TEST(DpxHeaderReader, KnowsTheRatesOfTheTrade) {
    struct Case {
        float value;
        std::optional<FrameRate> rate;
    };
    const Case cases[] = {{23.976f, FrameRate{24000, 1001}},
                          {23.98f, FrameRate{24000, 1001}},
                          {29.97f, FrameRate{30000, 1001}},
                          {59.94f, FrameRate{60000, 1001}},
                          {47.952f, FrameRate{48000, 1001}},
                          {24.0f, FrameRate{24, 1}},
                          {25.0f, FrameRate{25, 1}},
                          {12.5f, FrameRate{25, 2}},
                          {0.0f, std::nullopt},
                          {-24.0f, std::nullopt},
                          {1e30f, std::nullopt}};
    for (const Case& at : cases) {
        Bytes bytes = header_of(small_dpx("x", 8, 8));
        const auto field = std::bit_cast<std::uint32_t>(at.value);
        store<std::uint32_t>(bytes, 1724, true, field);
        store<std::uint32_t>(bytes, 1940, true, 0xffffffff);
        EXPECT_EQ(parse_dpx_header(bytes, "f")->rate, at.rate) << at.value;
        store<std::uint32_t>(bytes, 1724, true, 0xffffffff);  // not set: the television header's
        store<std::uint32_t>(bytes, 1940, true, field);
        EXPECT_EQ(parse_dpx_header(bytes, "f")->rate, at.rate) << at.value;
    }
}

TEST(DpxLineEnds, AreZeroHoweverTheImageIsCut) {
    for (const int bits : {8, 10, 12}) {
        for (const bool big_endian : {true, false}) {
            MediaFormat format = small_dpx("x", 7, 5, bits);
            format.dpx.packing = 0;
            format.dpx.big_endian = big_endian;
            const std::uint64_t line = dpx_line_bytes(7, bits, 0);
            Bytes whole(line * 5, std::byte{0xff});
            zero_dpx_line_ends(whole, 0, format);
            const unsigned used = 7u * 3 * static_cast<unsigned>(bits) % 32;
            for (std::size_t end = line; end <= whole.size(); end += line) {
                const std::uint32_t word = load<std::uint32_t>(whole, end - 4, bits == 8 ? false : big_endian);
                EXPECT_EQ(word, (1u << used) - 1) << bits;
            }
            Bytes pieces(line * 5, std::byte{0xff});
            for (std::size_t at = 0; at < pieces.size(); at += 8) {
                zero_dpx_line_ends(std::span(pieces).subspan(at, std::min<std::size_t>(8, pieces.size() - at)),
                                   at, format);
            }
            EXPECT_EQ(pieces, whole) << bits;
        }
    }
}

}  // namespace
}  // namespace streamsim::media
