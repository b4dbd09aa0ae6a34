// The parts that make a container's index, without files: time stamps, audio, the line of its structure.
#include <gmock/gmock.h>

#include <functional>

#include "media/container/container_file.h"
#include "media/container/container_structure.h"
#include "media/container/container_times.h"
#include "unit/media/fixtures.h"

namespace streamsim::media {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

FrameStamps stamps_of(std::int64_t tick_den, const std::vector<std::int64_t>& decode) {
    FrameStamps stamps;
    stamps.tick_den = tick_den;
    stamps.decode = decode;
    return stamps;
}

/// Stamps of a constant rate as a container with this many ticks a second writes them.
FrameStamps rounded(FrameRate rate, std::int64_t tick_den, std::size_t frames) {
    FrameStamps stamps;
    stamps.tick_den = tick_den;
    for (std::size_t k = 0; k < frames; ++k) {
        const auto at = static_cast<std::int64_t>(k) * rate.den * tick_den;
        stamps.decode.push_back((at + rate.num / 2) / rate.num);
    }
    return stamps;
}

FrameTiming timing(const FrameStamps& stamps) {
    const auto made = time_frames(stamps);
    EXPECT_TRUE(made.has_value());
    return made.value_or(FrameTiming{});
}

TEST(ContainerTimes, AConstantRateIsExactWhateverTheContainerRoundsTo) {
    const FrameRate rates[] = {{24000, 1001}, {24, 1}, {25, 1},       {30000, 1001}, {30, 1},
                               {48, 1},       {50, 1}, {60000, 1001}, {60, 1},       {120, 1}};
    for (const FrameRate rate : rates) {
        for (const std::int64_t ticks : {1'000, 10'000, 12'800, 24'000, 90'000, 1'000'000'000}) {
            const FrameTiming made = timing(rounded(rate, ticks, 2000));
            EXPECT_EQ(made.rate, rate)
                << rate.to_string() << " in 1/" << ticks << " is " << made.rate.to_string();
            EXPECT_THAT(made.due_ns, IsEmpty());
            EXPECT_THAT(made.notes, IsEmpty());
        }
    }
}

TEST(ContainerTimes, WhatSomeWritersMakeOfFilmIsFilm) {
    FrameStamps stamps = stamps_of(2997, {});
    for (std::int64_t k = 0; k < 100'000; ++k) stamps.decode.push_back(k * 125);
    EXPECT_EQ(timing(stamps).rate, (FrameRate{24000, 1001}));
    EXPECT_THAT(timing(stamps).notes, ElementsAre(HasSubstr("2997/125")));
}

TEST(ContainerTimes, ARateThatNobodyHasIsKept) {
    FrameStamps stamps = stamps_of(1000, {});
    for (std::int64_t k = 0; k < 100; ++k) stamps.decode.push_back(k * 42);
    EXPECT_EQ(timing(stamps).rate, (FrameRate{500, 21}));
}

TEST(ContainerTimes, TheContainersWordDecidesBetweenRatesThatBothFit) {
    FrameStamps stamps = rounded({24000, 1001}, 1000, 3);
    stamps.stated_rates = {{24000, 1001}};
    EXPECT_EQ(timing(stamps).rate, (FrameRate{24000, 1001}));
    stamps.stated_rates = {{24, 1}};
    EXPECT_EQ(timing(stamps).rate, (FrameRate{24, 1}));
    stamps.stated_rates = {{60, 1}};  // does not fit
    EXPECT_NE(timing(stamps).rate, (FrameRate{60, 1}));
}

TEST(ContainerTimes, AMissingFrameMakesTheRateVary) {
    FrameStamps stamps = stamps_of(25, {0, 1, 2, 4, 5, 6, 7, 8, 9, 10});
    stamps.last_ticks = 2;
    const FrameTiming made = timing(stamps);
    ASSERT_THAT(made.due_ns, SizeIs(11));
    EXPECT_EQ(made.due_ns[3], 160'000'000);
    EXPECT_EQ(made.due_ns[10], 480'000'000);
    EXPECT_EQ(made.rate, (FrameRate{125, 6}));  // 10 frames in 0.48 s
    EXPECT_THAT(made.notes, ElementsAre(HasSubstr("varies (frames of 40.0 ms to 80.0 ms)")));
}

TEST(ContainerTimes, WithoutDecodeStampsThoseOfShowingServeInTheirOrder) {
    FrameStamps stamps = stamps_of(1000, {kNoStamp, kNoStamp, 0, 40, 80});
    stamps.show = {40, 160, 80, 120, 300};
    const FrameTiming made = timing(stamps);
    EXPECT_THAT(made.due_ns, ElementsAre(0, 40'000'000, 80'000'000, 120'000'000, 260'000'000, 400'000'000));
}

TEST(ContainerTimes, SecondFieldsWithoutStampsLieInBetween) {
    const FrameStamps stamps = stamps_of(90'000, {0, kNoStamp, 3600, kNoStamp, 7200, kNoStamp});
    EXPECT_EQ(timing(stamps).rate, (FrameRate{50, 1}));
}

TEST(ContainerTimes, StampsThatDoNotRiseAreNotBelieved) {
    FrameStamps stamps = stamps_of(25, {0, 1, 1, 0, 7});
    EXPECT_EQ(time_frames(stamps), std::nullopt);
    stamps.stated_rates = {{0, 1}, {25, 1}};
    EXPECT_EQ(timing(stamps).rate, (FrameRate{25, 1}));
    EXPECT_THAT(timing(stamps).notes, ElementsAre(HasSubstr("do not rise")));
}

TEST(ContainerTimes, ALongFirstFrameAloneIsNoVariableRate) {
    FrameStamps stamps = stamps_of(24'000, {0});
    for (std::int64_t k = 0; k < 40; ++k) stamps.decode.push_back(1513 + 1001 * k);
    EXPECT_EQ(timing(stamps).rate, (FrameRate{24000, 1001}));
    EXPECT_THAT(timing(stamps).due_ns, IsEmpty());
    EXPECT_THAT(timing(stamps).notes, ElementsAre(HasSubstr("its first frame lasts 63.0 ms")));
    for (std::size_t k = 1; k < stamps.decode.size(); ++k)
        stamps.decode[k] += 1001 - 512;  // a frame is missing
    EXPECT_THAT(timing(stamps).due_ns, SizeIs(42));
}

TEST(ContainerTimes, AbsurdStampsOverflowNothing) {
    for (const std::int64_t far : {INT64_MAX, INT64_MAX / 4 - 1, std::int64_t{1} << 40}) {
        for (const std::int64_t den : {std::int64_t{1}, std::int64_t{INT32_MAX}}) {
            FrameStamps stamps = stamps_of(den, {-far, 0, 1, far});
            stamps.tick_num = INT32_MAX;
            stamps.last_ticks = far;
            const auto made = time_frames(stamps);
            if (!made) continue;
            EXPECT_GT(made->rate.num, 0);
            EXPECT_GT(made->rate.den, 0);
            for (std::size_t k = 1; k < made->due_ns.size(); ++k)
                EXPECT_GT(made->due_ns[k], made->due_ns[k - 1]);
        }
    }
}

TEST(ContainerTimes, OneFrameHasTheRateThatIsSaidOrItsOwnLength) {
    FrameStamps stamps = stamps_of(90'000, {17});
    EXPECT_EQ(time_frames(stamps), std::nullopt);
    stamps.last_ticks = 3003;
    EXPECT_EQ(timing(stamps).rate, (FrameRate{30000, 1001}));
    stamps.stated_rates = {{25, 1}};
    EXPECT_EQ(timing(stamps).rate, (FrameRate{25, 1}));
}

AudioPiece piece(std::uint64_t offset, std::uint64_t bytes, std::int64_t start_ms, std::int64_t length_ms) {
    return {{offset, bytes}, start_ms * 1'000'000, length_ms * 1'000'000};
}

TEST(ContainerAudio, PiecesThatTouchAreOneChunkUpToTheMost) {
    const auto chunks = join_audio({piece(0, 100, 0, 10), piece(100, 100, 10, 10), piece(300, 100, 20, 10)});
    ASSERT_THAT(chunks, SizeIs(2));
    EXPECT_EQ(chunks[0].extent.bytes, 200u);
    EXPECT_EQ(chunks[1].start_ns, 20'000'000);

    // Uncompressed, many channels: half a second is more than 1 MiB.
    std::vector<AudioPiece> rich;
    for (std::uint64_t i = 0; i < 12; ++i)
        rich.push_back(piece(i << 20, 1 << 20, static_cast<std::int64_t>(i) * 100, 100));
    ASSERT_THAT(join_audio(rich), SizeIs(3));
    EXPECT_EQ(join_audio(rich)[0].length_ns, kAudioChunkNs);

    // Compressed: a MiB is more than half a second.
    std::vector<AudioPiece> poor;
    for (std::uint64_t i = 0; i < 5000; ++i)
        poor.push_back(piece(i * 400, 400, static_cast<std::int64_t>(i) * 21, 21));
    ASSERT_THAT(join_audio(poor), SizeIs(2));
    EXPECT_LE(join_audio(poor)[0].extent.bytes, kAudioChunkBytes);
}

TEST(ContainerAudio, AChunkBelongsToTheFrameInWhichItBegins) {
    ContainerFrames frames;
    frames.rate = {25, 1};
    frames.extents.resize(3);
    give_audio(frames, {piece(900, 1, 500, 10), piece(500, 1, 40, 10), piece(100, 1, -20, 10),
                        piece(300, 1, 39, 10), piece(400, 1, 79, 10), piece(800, 1, 80, 10)});
    const auto index = make_container_index("x.mov", frames);
    const auto offsets = [&](std::uint64_t frame) {
        std::vector<std::uint64_t> out;
        for (const Extent& chunk : index->audio(frame)) out.push_back(chunk.offset);
        return out;
    };
    EXPECT_THAT(offsets(0), ElementsAre(100, 300));
    EXPECT_THAT(offsets(1), ElementsAre(400, 500));
    EXPECT_THAT(offsets(2), ElementsAre(800, 900));
    EXPECT_EQ(index->largest_audio_bytes(), 2u);
}

/// A file of which only some places hold something; all else is zero.
class Sparse final : public ByteSource {
public:
    explicit Sparse(std::uint64_t bytes) : size_(bytes) {}
    void put(std::uint64_t offset, const std::vector<unsigned>& bytes) {
        for (const unsigned b : bytes) bytes_[offset++] = static_cast<std::byte>(b);
    }
    void atom(std::uint64_t offset, std::uint32_t size, const std::string& type) {
        for (int shift = 24; shift >= 0; shift -= 8) bytes_[offset++] = static_cast<std::byte>(size >> shift);
        for (const char c : type) bytes_[offset++] = static_cast<std::byte>(c);
    }
    Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override {
        ++reads;
        if (offset >= size_) return std::size_t{0};
        const std::size_t got = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), size_ - offset));
        for (std::size_t i = 0; i < got; ++i) {
            const auto at = bytes_.find(offset + i);
            into[i] = at == bytes_.end() ? std::byte{} : at->second;
        }
        return got;
    }
    Result<std::uint64_t> size() override { return size_; }
    int reads = 0;

private:
    std::uint64_t size_;
    std::map<std::uint64_t, std::byte> bytes_;
};

TEST(ContainerStructures, AreWalkedByHeadersOnly) {
    constexpr std::uint64_t kMedia = 5'000'000'000;
    Sparse file(20 + 8 + 16 + kMedia + 500);
    file.atom(0, 20, "ftyp");
    file.put(8, {'q', 't', ' ', ' '});
    file.atom(20, 8, "wide");
    file.atom(28, 1, "mdat");
    file.put(36, {0, 0, 0, 1, 0x2a, 0x05, 0xf2, 0x10});  // 5,000,000,016
    file.atom(28 + 16 + kMedia, 500, "moov");
    const auto structure = container_structure(file, nullptr);
    ASSERT_TRUE(structure);
    EXPECT_EQ(structure->line,
              "MOV: ftyp 20 B, wide 8 B, mdat 5.0 GB at byte 28 (64-bit size), moov 500 B last");
    EXPECT_FALSE(structure->fragmented);
    EXPECT_THAT(structure->notes, IsEmpty());
    EXPECT_LT(file.reads, 10);
}

TEST(ContainerStructures, SizesThatCannotBeNeverLoop) {
    const std::vector<std::vector<unsigned>> sizes = {
        {0xff, 0xff, 0xff, 0xff, 'm', 'd', 'a', 't'},
        {0, 0, 0, 0, 'm', 'd', 'a', 't'},
        {0, 0, 0, 7, 'm', 'd', 'a', 't'},
        {0, 0, 0, 1, 'm', 'd', 'a', 't', 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
        {0, 0, 0, 1, 'm', 'd', 'a', 't', 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xf0},
        {0, 0, 0, 1, 'm', 'd', 'a', 't', 0, 0, 0, 0, 0, 0, 0, 0},
        {0, 0, 0, 1, 'm', 'd', 'a', 't', 0x80, 0, 0, 0, 0, 0, 0, 0},
        {0, 0, 0, 1, 'm', 'o', 'o', 'v', 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
         0, 0, 0, 1, 't', 'r', 'a', 'k', 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
    for (const auto& bytes : sizes) {
        Sparse file(1'000'000);
        file.atom(0, 16, "ftyp");
        file.put(16, bytes);
        const auto structure = container_structure(file, nullptr);
        ASSERT_TRUE(structure);
        EXPECT_LT(file.reads, 20) << structure->line;
    }
}

TEST(ContainerStructures, SmallAtomsWithoutEndAreCountedOnlySoFar) {
    class Endless final : public ByteSource {
    public:
        Result<std::size_t> read_at(std::uint64_t /*offset*/, std::span<std::byte> into) override {
            ++reads;
            const std::string atom("\0\0\0\10moof\0\0\0\10moof", 16);
            std::memcpy(into.data(), atom.data(), std::min(into.size(), atom.size()));
            return into.size();
        }
        Result<std::uint64_t> size() override { return UINT64_MAX; }
        int reads = 0;
    };
    Endless file;
    const auto structure = container_structure(file, nullptr);
    ASSERT_TRUE(structure);
    EXPECT_LE(file.reads, 1'000'000);
    IndexProgress progress;
    progress.cancel = true;
    const auto cancelled = container_structure(file, &progress);
    ASSERT_FALSE(cancelled);
    EXPECT_EQ(cancelled.error().kind, ErrorKind::interrupted);
}

TEST(ContainerStructures, ACutAtomIsSaid) {
    Sparse file(1000);
    file.atom(0, 20, "ftyp");
    file.atom(20, 5000, "mdat");
    const auto structure = container_structure(file, nullptr);
    ASSERT_TRUE(structure);
    EXPECT_THAT(structure->notes, ElementsAre(HasSubstr("its mdat at byte 20 claims 5000 bytes")));
}

TEST(ContainerStructures, MatroskaCountsItsClusters) {
    Sparse file(10'000);
    file.put(0, {0x1a, 0x45, 0xdf, 0xa3, 0x84, 0, 0, 0, 0});
    file.put(9, {0x18, 0x53, 0x80, 0x67, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff});  // size not known
    file.put(21, {0x1f, 0x43, 0xb6, 0x75, 0x41, 0x00});                                     // 256 bytes
    file.put(21 + 6 + 256, {0x1f, 0x43, 0xb6, 0x75, 0x41, 0x00});
    file.put(21 + 2 * (6 + 256), {0x1c, 0x53, 0xbb, 0x6b, 0x60, 0x00, 0x00});
    const auto structure = container_structure(file, nullptr);
    ASSERT_TRUE(structure);
    EXPECT_EQ(structure->line, "Matroska: at least 2 clusters, cues");
}

TEST(ContainerStructures, MatroskaThatIsCutBehindItsClustersHasAllFrames) {
    for (const bool cues : {true, false}) {
        Sparse file(600);
        file.put(0, {0x1a, 0x45, 0xdf, 0xa3, 0x84, 0, 0, 0, 0});
        file.put(9, {0x18, 0x53, 0x80, 0x67, 0x60, 0x00});   // 8192 bytes
        file.put(15, {0x1f, 0x43, 0xb6, 0x75, 0x41, 0x00});  // 256 bytes
        file.put(15 + 6 + 256, {0x1c, 0x53, 0xbb, 0x6b, 0x42, 0x00});
        if (!cues) file.put(15 + 6 + 256, {0x1f, 0x43, 0xb6, 0x75, 0x42, 0x00});
        const auto structure = container_structure(file, nullptr);
        ASSERT_TRUE(structure);
        EXPECT_EQ(structure->cut, !cues);
        EXPECT_THAT(structure->notes, ElementsAre(HasSubstr("its segment at byte 9 claims 8198 bytes")));
    }
}

TEST(ContainerStructures, MxfThatEndsBeforeItsFooterIsCut) {
    for (const std::uint64_t bytes : {1024u, 1025u}) {
        Sparse file(bytes);
        file.put(0, {0x06, 0x0e, 0x2b, 0x34, 2, 5, 1, 1, 0x0d, 1, 2, 1, 1, 2, 4, 0, 0x83, 0, 0, 0x88});
        file.put(20 + 24, {0, 0, 0, 0, 0, 0, 4, 0});  // the footer at byte 1024
        const auto structure = container_structure(file, nullptr);
        ASSERT_TRUE(structure);
        EXPECT_EQ(structure->line, "MXF");
        EXPECT_EQ(structure->cut, bytes == 1024);
        EXPECT_THAT(structure->notes, SizeIs(bytes == 1024 ? 1 : 0));
    }
}

TEST(ContainerStructures, TracksTogetherClaimNoMoreSamplesThanThereAreBytes) {
    constexpr std::uint32_t kTrack = 4 * 8 + 20;
    Sparse file(10'000);
    file.atom(0, 16, "ftyp");
    file.atom(16, 1000, "mdat");
    file.atom(1016, 8 + 3 * kTrack, "moov");
    for (std::uint32_t at = 1024; at < 1024 + 3 * kTrack; at += kTrack) {
        file.atom(at, kTrack, "trak");
        file.atom(at + 8, kTrack - 8, "mdia");
        file.atom(at + 16, kTrack - 16, "minf");
        file.atom(at + 24, kTrack - 24, "stbl");
        file.atom(at + 32, 20, "stsz");
        file.put(at + 32 + 12, {0, 0, 0, 1, 0, 0, 0x0f, 0xa0});  // 4000 samples of one byte
    }
    const auto structure = container_structure(file, nullptr);
    ASSERT_TRUE(structure);
    ASSERT_TRUE(structure->refusal);
    EXPECT_EQ(structure->refusal->byte, 1024 + 2 * kTrack + 32);
    EXPECT_EQ(structure->refusal->why,
              "its stsz claims 4,000 samples of 1 bytes each, 12,000 with the tracks before it, but the file "
              "has 10,000 bytes");
}

}  // namespace
}  // namespace streamsim::media
