#include "media/image/image_header.h"

#include <gmock/gmock.h>

#include <bit>
#include <cstring>

#include "base/prng.h"
#include "unit/media/image_samples.h"

namespace streamsim::media {
namespace {

using testing::be;
using testing::cineon_sample;
using testing::dng_sample;
using testing::dpx_sample;
using testing::exr_attribute;
using testing::exr_sample;
using ::testing::HasSubstr;
using testing::le;
using testing::put;
using testing::tiff_sample;
using testing::TiffSample;

/// A file in memory, which counts what is read of it.
class MemorySource final : public ByteSource {
public:
    explicit MemorySource(const std::string& file) : file_(file) {}
    Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override {
        if (offset >= file_.size()) return std::size_t{0};
        const std::size_t got = std::min<std::size_t>(into.size(), file_.size() - offset);
        std::memcpy(into.data(), file_.data() + offset, got);
        bytes_read += got;
        return got;
    }
    Result<std::uint64_t> size() override { return std::uint64_t{file_.size()}; }
    std::uint64_t bytes_read = 0;

private:
    const std::string& file_;
};

Result<ImageHeader> read(const std::string& file, const std::string& name) {
    MemorySource source(file);
    auto header = read_image_header(source, *image_kind(name), name);
    EXPECT_LE(source.bytes_read, std::uint64_t{1} << 20);
    return header;
}

std::string problem(const std::string& file, const std::string& name) {
    const auto header = read(file, name);
    if (header) return "no problem";
    EXPECT_EQ(header.error().kind, ErrorKind::bad_input);
    return header.error().problems.front();
}

TEST(ImageKinds, ComeFromTheExtension) {
    EXPECT_EQ(image_kind("a.0001.dpx"), ImageKind::dpx);
    EXPECT_EQ(image_kind("a.0001.ExR"), ImageKind::exr);
    EXPECT_EQ(image_kind("a.dpx.0001"), ImageKind::dpx);
    EXPECT_EQ(image_kind("a.TIF"), ImageKind::tiff);
    EXPECT_EQ(image_kind("a.1.j2c"), ImageKind::by_size);
    for (const char* name : {"a", ".dpx", "a.mov", "a.0001", "dpx", "a.dpx.x1", "a.", "", "1.2"})
        EXPECT_FALSE(image_kind(name)) << name;
}

TEST(DpxFiles, EveryPackingOrderAndOffset) {
    for (const bool big_endian : {true, false}) {
        for (const std::uint32_t offset : {1664u, 2048u, 4096u, 8092u, 8192u, 1000u, 65536u}) {
            for (const auto& [bits, packing, text] :
                 {std::tuple{8, 0, "dpx 8 bit 73x43"}, std::tuple{10, 0, "dpx 10 bit packed 73x43"},
                  std::tuple{10, 1, "dpx 10 bit filled 73x43"}, std::tuple{10, 2, "dpx 10 bit filled B 73x43"},
                  std::tuple{12, 0, "dpx 12 bit packed 73x43"}, std::tuple{12, 1, "dpx 12 bit filled 73x43"},
                  std::tuple{16, 0, "dpx 16 bit 73x43"}}) {
                const std::string file = dpx_sample(73, 43, bits, packing, offset, big_endian);
                const auto header = read(file, "f.dpx");
                ASSERT_TRUE(header) << header.error().problems.front();
                EXPECT_EQ(header->format, text);
                EXPECT_EQ(header->expected_bytes, file.size());
                EXPECT_EQ(header->rate.has_value(), offset >= 2048);
                EXPECT_EQ(header->cut, "");
            }
        }
    }
}

TEST(DpxFiles, WhatTheHeaderDeclaresAsFileSizeCountsWhereTheFileBearsItOut) {
    std::string file = dpx_sample(64, 36, 10, 1, 2048);
    const std::size_t bytes = file.size();
    for (const std::uint32_t declared : {0u, 1u, 1'050'624u, 0xffffffffu}) {
        put(file, 16, be(declared, 4));
        EXPECT_EQ(read(file, "f.dpx")->expected_bytes, bytes);
    }
    file.resize(bytes + 5000);
    EXPECT_EQ(read(file, "f.dpx")->expected_bytes, bytes);
    put(file, 16, be(bytes + 5000, 4));  // it is as long as it says
    EXPECT_EQ(read(file, "f.dpx")->expected_bytes, bytes + 5000);
    file.resize(bytes - 3 * 36);  // another school fills up its lines differently
    put(file, 16, be(bytes - 3 * 36, 4));
    EXPECT_EQ(read(file, "f.dpx")->cut, "");
    file.resize(4096);
    put(file, 16, be(4096, 4));
    EXPECT_THAT(read(file, "f.dpx")->cut, HasSubstr("f.dpx: byte 4096: the file ends here, expected 11,264"));
}

TEST(DpxFiles, BothPlacesOfTheImageAreInTheFile) {
    std::string file = dpx_sample(64, 36, 10, 1, 2048);
    put(file, 4, be(0xfffffff0, 4));
    EXPECT_THAT(problem(file, "f.dpx"), HasSubstr("f.dpx: byte 4: the image begins at byte 4294967280"));
}

TEST(DpxFiles, RunLengthEncodedOnesAreAsLongAsTheyAre) {
    std::string file = dpx_sample(64, 36, 10, 1, 2048);
    put(file, 806, be(1, 2));
    EXPECT_EQ(read(file, "f.dpx")->expected_bytes, 0u);
    EXPECT_THAT(read(file, "f.dpx")->format, HasSubstr("run-length encoded"));
}

TEST(DpxFiles, TheTimeCodeIsReadWhereThereIsOne) {
    std::string file = dpx_sample(64, 36, 10, 1, 2048);
    EXPECT_EQ(read(file, "f.dpx")->timecode, "");
    put(file, 1920, be(0x01020324, 4));
    EXPECT_EQ(read(file, "f.dpx")->timecode, "01:02:03:24");
    for (const std::uint32_t none : {0xffffffffu, 0x25000000u, 0x00600000u, 0x00000025u, 0x0a000000u}) {
        put(file, 1920, be(none, 4));
        EXPECT_EQ(read(file, "f.dpx")->timecode, "") << none;
    }
}

TEST(ExrFiles, UncompressedOnesHaveAnExactLength) {
    for (const auto& [tile, mode] : {std::pair{0, 0}, std::pair{4, 0}, std::pair{64, 0}, std::pair{4, 1}}) {
        const std::string file = exr_sample({.width = 21, .height = 10, .tile = tile, .level_mode = mode});
        const auto header = read(file, "f.exr");
        ASSERT_TRUE(header) << header.error().problems.front();
        EXPECT_EQ(header->expected_bytes, file.size()) << tile << " " << mode;
        EXPECT_EQ(header->format, tile == 0 ? "exr half none 21x10" : "exr half none tiled 21x10");
        EXPECT_FALSE(header->rate);
    }
}

TEST(ExrFiles, CompressionRateAndTimeCode) {
    constexpr const char* kNames[] = {"rle", "zips", "zip", "piz", "pxr24", "b44", "b44a", "dwaa", "dwab"};
    for (int i = 0; i < 9; ++i) {
        const auto header = read(exr_sample({.compression = i + 1}), "f.exr");
        EXPECT_EQ(header->format, std::string("exr half ") + kNames[i] + " 5x3");
        EXPECT_EQ(header->expected_bytes, 0u);
    }
    const auto rate = [](std::uint32_t num, std::uint32_t den) {
        return read(exr_sample({.more = exr_attribute("framesPerSecond", "rational", le(num, 4) + le(den, 4))}),
                    "f.exr")
            ->rate;
    };
    EXPECT_EQ(rate(24000, 1001), (FrameRate{24000, 1001}));
    EXPECT_EQ(rate(25, 1), (FrameRate{25, 1}));
    EXPECT_EQ(rate(2997, 100), (FrameRate{30000, 1001}));
    for (const auto& [num, den] : {std::pair{0u, 1u}, std::pair{24u, 0u}, std::pair{0xffffffffu, 1u}})
        EXPECT_FALSE(rate(num, den));
    const std::string code = exr_attribute("timeCode", "timecode", le(0x10203008, 4) + le(0, 4));
    EXPECT_EQ(read(exr_sample({.more = code}), "f.exr")->timecode, "10:20:30:08");
}

TEST(ExrFiles, SeveralParts) {
    const std::string single = exr_sample({.compression = 3});
    const std::string part = single.substr(8, single.size() - 8 - 100);  // with the zero at its end
    const std::string begin = "\x76\x2f\x31\x01" + le(0x1002, 4);
    const auto header = read(begin + part + part + '\0' + std::string(50, 'z'), "f.exr");
    ASSERT_TRUE(header) << header.error().problems.front();
    EXPECT_EQ(header->format, "exr half zip 5x3, 2 parts");
    EXPECT_THAT(problem(begin + part, "f.exr"), HasSubstr("expected another part"));
}

TEST(ExrFiles, NameTheByteThatIsWrong) {
    const std::string good = exr_sample({.width = 21, .height = 10});
    const std::size_t size_at = good.find("chlist") + 7;
    const std::size_t window_at = good.find("box2i") + 6 + 4;
    const auto patched = [&](std::size_t at, const std::string& bytes) {
        std::string file = good;
        put(file, at, bytes);
        return problem(file, "f.exr");
    };
    EXPECT_THAT(patched(0, "x"), HasSubstr("f.exr: byte 0: expected 76 2f 31 01"));
    EXPECT_THAT(patched(4, "\x03"), HasSubstr("f.exr: byte 4: expected version 2"));
    EXPECT_THAT(patched(size_at, le(0xfffffff0, 4)), HasSubstr("has a negative size, -16"));
    EXPECT_THAT(patched(window_at + 8, le(0xfffffff0, 4)), HasSubstr("expected a data window of one pixel"));
    EXPECT_THAT(patched(window_at + 8, le(0x7fffffff, 4)), HasSubstr("at most 1,000,000 pixels"));
    EXPECT_THAT(patched(window_at + 8, le(999'999, 4)), HasSubstr("no problem"));
    std::string tall = good;
    put(tall, window_at + 8, le(999'998, 4) + le(999'998, 4));
    EXPECT_THAT(problem(tall, "f.exr"), HasSubstr("larger than a TiB"));
    put(tall, window_at + 8, le(99'998, 4) + le(9'998, 4));
    EXPECT_THAT(problem(tall, "f.exr"), HasSubstr("by its header (exr half none 99999x9999) the file has"));
    const std::string huge =
        exr_sample({.more = "note" + std::string(1, '\0') + "string" + '\0' + le(0x7fffffff, 4)});
    EXPECT_THAT(problem(huge, "f.exr"), HasSubstr("has 2147483647 bytes, more than there are"));
}

TEST(TiffFiles, EveryOrderAndPlaceOfTheDirectory) {
    for (const bool big_endian : {false, true}) {
        for (const bool big : {false, true}) {
            for (const bool last : {false, true}) {
                const std::string file =
                    tiff_sample({.big_endian = big_endian, .big = big, .directory_last = last});
                const auto header = read(file, "f.tif");
                ASSERT_TRUE(header) << header.error().problems.front();
                EXPECT_EQ(header->format, "tiff 16 bit 7x4");
                EXPECT_EQ(header->expected_bytes, file.size());
            }
        }
    }
    const auto zip = read(tiff_sample({.compression = 8}), "f.tiff");
    EXPECT_EQ(zip->format, "tiff 16 bit zip 7x4");
    EXPECT_EQ(zip->expected_bytes, 0u);
}

TEST(TiffFiles, NameTheByteThatIsWrong) {
    const std::string good = tiff_sample({});
    const auto patched = [&](std::size_t at, const std::string& bytes) {
        std::string file = good;
        put(file, at, bytes);
        return problem(file, "f.tif");
    };
    const std::size_t entries = 10;  // of 12 bytes, after the head and the number of entries
    EXPECT_THAT(patched(0, "XX"), HasSubstr("f.tif: byte 0: expected II or MM"));
    EXPECT_THAT(patched(4, le(0xfffffff0, 4)), HasSubstr("f.tif: byte 4: the directory is at byte 4294967280"));
    EXPECT_THAT(patched(8, le(0, 2)), HasSubstr("f.tif: byte 8: expected 1 to 4096 entries, found 0"));
    EXPECT_THAT(patched(8, le(0xffff, 2)), HasSubstr("f.tif: byte 8: expected 1 to 4096 entries"));
    EXPECT_THAT(patched(entries + 8, le(0, 4)), HasSubstr("f.tif: byte 10: the width is 0"));
    EXPECT_THAT(patched(entries, le(999, 2)), HasSubstr("does not say the width"));
    EXPECT_THAT(patched(entries + 12 + 8, le(0xffffffff, 4)), HasSubstr("at most 1,000,000"));
    EXPECT_THAT(patched(entries + 4 * 12 + 8, le(0xfffffff0, 4)), HasSubstr("go past the end of the file"));
    EXPECT_THAT(patched(entries + 4 * 12 + 4, le(0x00ffffff, 4)), HasSubstr("go past the end of the file"));
    EXPECT_THAT(patched(entries + 4 * 12, le(999, 2)), HasSubstr("does not say where the image is"));
    const std::size_t lists = 8 + 2 + 12 * 8 + 4 + 6;  // offsets, then lengths
    EXPECT_THAT(patched(lists, le(0xfffffff0, 4) + le(0xfffffff0, 4)),
                HasSubstr("the image begins at byte 4294967280"));
    EXPECT_THAT(patched(lists + 8, le(0xfffffff0, 4)), HasSubstr("expected lengths that fit an image of"));
    std::string more = good;  // a second directory, which is the first: not followed, not believed
    put(more, 8 + 2 + 12 * 8, le(8, 4));
    EXPECT_EQ(read(more, "f.tif")->expected_bytes, 0u);
}

TEST(DngFiles, HaveTheirRateAndNothingElseOfTheirHeaders) {
    for (const bool big_endian : {false, true}) {
        const std::string file = dng_sample(24000, 1001, big_endian);
        EXPECT_EQ(read(file, "f.dng")->rate, (FrameRate{24000, 1001}));
        EXPECT_EQ(read(file, "f.dng")->expected_bytes, 0u);
        for (std::size_t bytes = 1; bytes < file.size(); ++bytes) {
            const auto cut = read(file.substr(0, bytes), "f.dng");
            ASSERT_TRUE(cut) << bytes << cut.error().problems.front();
            EXPECT_FALSE(cut->rate) << bytes;
        }
    }
    EXPECT_FALSE(read(dng_sample(25, 1), "f.ari")->rate);
}

TEST(CineonFiles, BothOrders) {
    for (const bool big_endian : {true, false}) {
        const std::string file = cineon_sample(37, 11, 2048, big_endian);
        const auto header = read(file, "f.cin");
        ASSERT_TRUE(header) << header.error().problems.front();
        EXPECT_EQ(header->format, "cineon 10 bit 37x11");
        EXPECT_EQ(header->expected_bytes, file.size());
        EXPECT_EQ(header->rate, (FrameRate{24, 1}));
    }
    EXPECT_FALSE(read(cineon_sample(37, 11, 1024), "f.cin")->rate);
    std::string bad = cineon_sample(37, 11, 2048);
    put(bad, 4, be(0xfffffff0, 4));
    EXPECT_THAT(problem(bad, "f.cin"), HasSubstr("f.cin: byte 4: the image begins at byte 4294967280"));
    put(bad, 4, be(2048, 4) + "");
    put(bad, 200, be(0xfffffffe, 4));
    EXPECT_THAT(problem(bad, "f.cin"), HasSubstr("f.cin: byte 200: expected a raster of at most"));
    put(bad, 0, "XXXX");
    EXPECT_THAT(problem(bad, "f.cin"), HasSubstr("f.cin: byte 0: expected 802a5fd7"));
}

struct Sample {
    const char* name;
    std::string file;
};
std::vector<Sample> samples() {
    const std::string rate = exr_attribute("framesPerSecond", "rational", le(24, 4) + le(1, 4));
    return {{"f.dpx", dpx_sample(9, 7, 10, 1, 2048)},
            {"f.dpx", dpx_sample(9, 7, 12, 0, 1664, false)},
            {"f.exr", exr_sample({.more = rate})},
            {"f.exr", exr_sample({.compression = 3, .tile = 4, .level_mode = 1})},
            {"f.tif", tiff_sample({})},
            {"f.tif", tiff_sample({.big_endian = true, .big = true, .directory_last = true})},
            {"f.cin", cineon_sample(9, 7, 1024)}};
}

TEST(HostileFiles, CutAnywhereTheyAreAnErrorOrShort) {
    for (const Sample& sample : samples()) {
        const auto whole = read(sample.file, sample.name);
        ASSERT_TRUE(whole);
        for (std::size_t bytes = 0; bytes < sample.file.size(); ++bytes) {
            const std::string cut = sample.file.substr(0, bytes);
            const auto header = read(cut, sample.name);
            if (!header) {
                EXPECT_THAT(header.error().problems.front(), HasSubstr(": byte "));
            } else {
                EXPECT_EQ(header->expected_bytes, whole->expected_bytes) << sample.name << " " << bytes;
            }
        }
        EXPECT_THAT(problem("", sample.name), HasSubstr("byte 0: the file ends here"));
    }
    EXPECT_THAT(problem("", "f.png"), HasSubstr("byte 0: the file is empty"));
}

TEST(HostileFiles, AnythingIsAnErrorOrAHeaderThatItsFileBears) {
    Prng prng(7);
    for (const Sample& sample : samples()) {
        for (int round = 0; round < 4000; ++round) {
            std::string file = sample.file;
            for (std::uint64_t i = prng.below(5) + 1; i > 0; --i) {
                const std::size_t at = prng.below(std::min<std::size_t>(file.size(), 2048));
                file[at] = prng.below(3) == 0 ? '\xff' : static_cast<char>(prng.next());
                if (prng.below(4) == 0) put(file, at, be(0xffffffff - prng.below(64), 4));
            }
            file.resize(prng.below(4) == 0 ? prng.below(file.size()) : file.size());
            const auto header = read(file, sample.name);
            if (!header) continue;
            EXPECT_LE(header->width, 1'000'000u);
            EXPECT_LE(header->expected_bytes, std::max<std::uint64_t>(file.size(), 1u << 30));
        }
    }
}

}  // namespace
}  // namespace streamsim::media
