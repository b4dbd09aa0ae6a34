// Files that are damaged, by accident or on purpose: an index or bad input that names file and byte, quickly,
// and never a crash.
#include <gmock/gmock.h>

#include <filesystem>
#include <random>

#include "base/prng.h"
#include "media/catalogue/frame_sizes.h"
#include "media/clips/clip_index.h"
#include "media/container/container_clip.h"
#include "media/frames/codec_makers.h"
#include "unit/media/fixtures.h"

namespace streamsim::media {
namespace {

using testing::DirectoryStore;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Place;
using testing::run;

/// Small files in memory, and reads counted; whoever asks may cancel on the way.
class MemoryStore final : public ByteStore {
public:
    std::string bytes;
    std::function<void(std::uint64_t offset)> on_read;

    Result<std::unique_ptr<ByteSource>> open(const std::string& /*path*/) override {
        class Source final : public ByteSource {
        public:
            explicit Source(MemoryStore& store) : store_(store) {}
            Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override {
                if (store_.on_read) store_.on_read(offset);
                const std::string& from = store_.bytes;
                if (offset >= from.size()) return std::size_t{0};
                const std::size_t got = std::min(into.size(), from.size() - static_cast<std::size_t>(offset));
                std::memcpy(into.data(), from.data() + offset, got);
                return got;
            }
            Result<std::uint64_t> size() override { return store_.bytes.size(); }

        private:
            MemoryStore& store_;
        };
        return std::unique_ptr<ByteSource>(std::make_unique<Source>(*this));
    }
    Result<std::optional<FileInfo>> stat(const std::string& /*path*/) override {
        return std::optional(FileInfo{false, bytes.size(), 1, false});
    }
    Result<std::vector<DirectoryEntry>> list(const std::string& path) override { return none(path); }
    Result<std::unique_ptr<ByteSink>> create(const std::string& path) override { return none(path); }
    Result<void> make_directories(const std::string& path) override { return none(path); }
    Result<void> rename(const std::string& from, const std::string& /*to*/) override { return none(from); }
    Result<void> remove(const std::string& path) override { return none(path); }
    Result<std::uint64_t> free_bytes(const std::string& path) override { return none(path); }
    Result<void> evict(const std::string& path) override { return none(path); }

private:
    static Error none(const std::string& path) { return environment_error(path + ": only files are here"); }
};

class HostileContainers : public ::testing::Test {
protected:
    std::string our_mov(std::uint64_t frames) {
        const MediaFormat format = testing::small_prores("x", 64, 36, 3'000);
        DirectoryStore disk;
        testing::write_mov(disk, place_.at("a.mov"), format, frames);
        return place_.read("a.mov");
    }

    std::string made(const std::string& name, const std::string& options) {
        const auto ran = run(
            "ffmpeg -v error -y -bitexact -f lavfi -i testsrc2=s=64x36:r=25 -f lavfi -i sine=r=48000 -t 0.4 " +
            options + " " + place_.at(name));
        EXPECT_EQ(ran.code, 0) << ran.output;
        return place_.read(name);
    }

    Result<Clip> index(const std::string& bytes, IndexProgress* progress = nullptr) {
        store_.bytes = bytes;
        IndexOptions options;
        options.audio = true;
        options.progress = progress;
        return index_container(store_, "clip.mov", "clip", options);
    }

    /// Either way is right; what counts is that there is one.
    void expect_sane(const std::string& bytes) {
        const auto clip = index(bytes);
        if (!clip) {
            EXPECT_EQ(clip.error().kind, ErrorKind::bad_input);
            EXPECT_THAT(clip.error().problems.front(), HasSubstr("clip.mov"));
            return;
        }
        const FrameIndex& frames = *clip->index;
        ASSERT_GT(frames.count(), 0u);
        EXPECT_GT(frames.rate().num, 0);
        EXPECT_GT(frames.rate().den, 0);
        for (std::uint64_t k = 0; k < frames.count(); ++k) {
            EXPECT_GT(frames.extent(k).bytes, 0u);
            EXPECT_LE(frames.extent(k).bytes, frames.largest_frame_bytes());
            EXPECT_LE(frames.sync_frame(k), k);
            EXPECT_LE(frames.due(k), frames.due(k + 1));
        }
    }

    void damage(const std::string& good, int cases, std::uint64_t seed) {
        std::mt19937_64 dice(seed);
        for (int i = 0; i < cases; ++i) {
            SCOPED_TRACE(i);
            std::string bad = good;
            if (i % 4 == 0) bad.resize(dice() % good.size());
            for (std::uint64_t flips = dice() % 8; flips > 0 && !bad.empty(); --flips) {
                // Half of them where the tables are: at one of the ends.
                const std::size_t near = std::min<std::size_t>(bad.size(), 2000);
                std::size_t at = dice() % bad.size();
                if (flips % 4 == 1) at = dice() % near;
                if (flips % 4 == 2) at = bad.size() - 1 - dice() % near;
                bad[at] = static_cast<char>(flips % 3 == 0 ? 0xff : dice());
            }
            expect_sane(bad);
        }
    }

    Place place_;
    MemoryStore store_;
};

TEST_F(HostileContainers, OurFilesSurviveAnyDamage) {
    damage(our_mov(20), 300, 1);
}

TEST_F(HostileContainers, PartsThatPointBackToEachOtherAreNotReadWithoutEnd) {
    int reads = 0;
    store_.on_read = [&reads](std::uint64_t /*offset*/) { ++reads; };
    // Found by a fuzzer: libavformat reads these 22 KB more than a million times.
    const auto clip = index(testing::source_file("tests/fuzz/mxf/corpus/points-back"));
    ASSERT_FALSE(clip.has_value());
    EXPECT_EQ(clip.error().kind, ErrorKind::bad_input);
    EXPECT_THAT(clip.error().problems.front(), HasSubstr("its parts point back to each other"));
    EXPECT_LT(reads, 20'000);
}

TEST_F(HostileContainers, ThoseOfOthersSurviveAnyDamage) {
    NEED_TOOL("ffmpeg");
    damage(made("a.mov", "-c:v mjpeg -c:a pcm_s16le -movflags +faststart"), 150, 2);
    damage(made("b.mp4", "-c:v mpeg4 -bf 2 -c:a aac -g 5 -movflags frag_keyframe+empty_moov+global_sidx"), 150,
           3);
    damage(made("c.mkv", "-c:v mpeg4 -bf 2 -c:a pcm_s16le"), 60, 4);
    damage(made("d.mxf", "-c:v mpeg2video -c:a pcm_s16le"), 60, 5);
    damage(made("j.mxf", "-c:v jpeg2000 -c:a pcm_s16le -t 0.6"), 100, 8);
    damage(made("e.avi", "-c:v mjpeg -c:a pcm_s16le"), 40, 6);
    damage(made("f.ts", "-c:v mpeg2video -c:a mp2"), 40, 7);
}

TEST_F(HostileContainers, ACutAtEveryPlaceIsSaidOrPlayed) {
    const std::string good = our_mov(3);
    for (std::size_t bytes = 0; bytes < good.size(); bytes += bytes < 64 ? 1 : 97) {
        const auto clip = index(good.substr(0, bytes));
        ASSERT_FALSE(clip) << bytes;  // the table is at the end
        EXPECT_THAT(clip.error().problems.front(), HasSubstr("clip.mov: byte "));
    }
}

TEST_F(HostileContainers, WhatIsNoContainerIsBadInput) {
    for (const std::string& text :
         {std::string(), std::string("x"), std::string(5000, 'x'), std::string(200'000, '\0'),
          std::string("#EXTM3U\n/etc/passwd\n"), std::string(300'000, '\xff')}) {
        const auto clip = index(text);
        ASSERT_FALSE(clip);
        EXPECT_EQ(clip.error().kind, ErrorKind::bad_input);
        EXPECT_THAT(clip.error().problems.front(), HasSubstr("clip.mov: byte "));
    }
}

TEST_F(HostileContainers, FramesBehindTheEndKeepTheirSlots) {
    NEED_TOOL("ffmpeg");
    const std::string good = made("a.mov", "-c:v prores_ks -an -movflags +faststart");
    const auto clip = index(good.substr(0, good.size() / 2));
    ASSERT_TRUE(clip);
    EXPECT_EQ(clip->index->count(), 10u);
    const std::string notes = ::testing::PrintToString(clip->notes);
    EXPECT_THAT(notes, HasSubstr("of 10 frames, from frame"));
    EXPECT_THAT(notes, HasSubstr("end behind the end of the file (byte "));
    EXPECT_THAT(notes, HasSubstr("the file is truncated or damaged"));
}

/// Frames of one size, of which the table says only how many: a cut makes it no lie.
TEST_F(HostileContainers, FramesOfOneSizeBehindTheEndKeepTheirSlotsToo) {
    NEED_TOOL("ffmpeg");
    const std::string good = made("a.mov", "-c:v v210 -an -movflags +faststart");
    const auto clip = index(good.substr(0, good.size() / 2));
    ASSERT_TRUE(clip) << clip.error().problems.front();
    EXPECT_EQ(clip->index->count(), 10u);
}

TEST_F(HostileContainers, FramesBehindACutAreSaidAndKeepTheirSlots) {
    NEED_TOOL("ffmpeg");
    struct Cut {
        const char* name;
        const char* options;
        bool says_frames;
    };
    const Cut cuts[] = {
        {"a.avi", "-c:v v210 -c:a pcm_s16le -t 2", true},
        {"b.avi", "-c:v mpeg4 -qscale 1 -c:a pcm_s16le -t 2", true},
        {"a.mxf", "-c:v mpeg2video -qscale 1 -g 12 -bf 2 -c:a pcm_s16le -t 2", true},
        {"b.mxf", "-s 256x120 -c:v dnxhd -profile:v dnxhr_lb -pix_fmt yuv422p -an -f mxf_opatom -t 2", true},
        {"a.mkv", "-c:v mpeg4 -qscale 1 -bf 2 -c:a pcm_s16le -t 2", true},
        {"a.ts", "-c:v mpeg2video -qscale 1 -bf 2 -c:a mp2 -t 2", false}};
    for (const Cut& cut : cuts) {
        const std::string good = made(cut.name, cut.options);
        const auto whole = index(good);
        ASSERT_TRUE(whole) << cut.name;
        EXPECT_EQ(whole->index->count(), 50u) << cut.name;
        EXPECT_THAT(::testing::PrintToString(whole->notes), Not(HasSubstr("cut"))) << cut.name;
        std::vector<std::size_t> cuts_at;
        for (const std::size_t percent : {45u, 50u, 57u, 60u, 70u})
            cuts_at.push_back(good.size() * percent / 100 + 77);
        if (cut.says_frames) cuts_at.push_back(whole->index->extent(49).offset + 10);  // the last frame alone
        for (const std::size_t bytes : cuts_at) {
            SCOPED_TRACE(std::string(cut.name) + " " + std::to_string(bytes));
            const auto clip = index(good.substr(0, bytes));
            ASSERT_TRUE(clip);
            const FrameIndex& frames = *clip->index;
            EXPECT_EQ(frames.rate(), (FrameRate{25, 1}));
            EXPECT_FALSE(frames.variable_rate());
            // No frame that is there is another one than in the whole file.
            std::uint64_t there = 0;
            for (; there < frames.count() && frames.extent(there).offset < bytes; ++there) {
                EXPECT_EQ(frames.extent(there).offset, whole->index->extent(there).offset) << there;
                EXPECT_EQ(frames.extent(there).bytes, whole->index->extent(there).bytes) << there;
            }
            EXPECT_LT(there, 50u);
            EXPECT_EQ(frames.count(), cut.says_frames ? 50 : there);
            const std::string notes = ::testing::PrintToString(clip->notes);
            const std::string said = "the file states 50 frames and has " + std::to_string(there);
            EXPECT_THAT(notes, HasSubstr(cut.says_frames ? said : "the file is truncated"));
            const std::string fail = std::to_string(50 - there) + " of 50 frames, from frame " +
                                     std::to_string(there) + " on, end behind the end of the file";
            if (cut.says_frames) EXPECT_THAT(notes, HasSubstr(fail));
            if (std::string_view(cut.name).ends_with(".avi"))
                EXPECT_THAT(notes, HasSubstr("its RIFF at byte 0 claims"));
        }
    }
}

/// By the length of the video, also where only the longest track says how long it is.
TEST_F(HostileContainers, AudioThatIsCutBehindTheLastFrameTakesNoFrame) {
    NEED_TOOL("ffmpeg");
    const std::string good = made("a.mkv", "-t 9 -vf trim=end=4 -c:v mpeg4 -bf 2 -c:a pcm_s16le");
    for (const bool tagged : {true, false}) {
        std::string bytes = good;
        for (std::size_t at = 0; (at = bytes.find("DURATION", at)) != std::string::npos; ++at)
            if (!tagged) bytes[at] = 'X';
        SCOPED_TRACE(tagged);
        const auto whole = index(bytes);
        ASSERT_TRUE(whole);
        ASSERT_EQ(whole->index->count(), 100u);
        const auto clip = index(bytes.substr(0, bytes.size() * 99 / 100));
        ASSERT_TRUE(clip);
        EXPECT_EQ(clip->index->count(), 100u);
        EXPECT_THAT(::testing::PrintToString(clip->notes), Not(HasSubstr("the file states")));
        // Between the pictures frames are missing. Without the tag the longest track counts, at most.
        const auto less = index(bytes.substr(0, whole->index->extent(60).offset + 10));
        ASSERT_TRUE(less);
        EXPECT_EQ(less->index->count(), tagged ? 100u : 225u);
    }
}

/// A table of 2^31 samples of one byte in a file of a few kB: the claim costs nothing.
TEST_F(HostileContainers, AClaimGetsNoMemory) {
    std::string file = our_mov(20);
    const std::size_t stsz = file.rfind("stsz");
    const std::size_t stsc = file.rfind("stsc");
    ASSERT_NE(stsz, std::string::npos);
    ASSERT_NE(stsc, std::string::npos);
    const auto put = [&](std::size_t at, std::uint32_t value) {
        for (int i = 0; i < 4; ++i)
            file[at + static_cast<std::size_t>(i)] = static_cast<char>(value >> (24 - 8 * i));
    };
    put(stsz + 8, 1);            // all samples have one byte
    put(stsz + 12, 0x7ffffff0);  // and so many there are
    put(stsc + 16, 0x7ffffff0);  // in one chunk
    expect_sane(file);
    const auto clip = index(file);
    ASSERT_FALSE(clip);
    EXPECT_THAT(clip.error().problems.front(), HasSubstr("clip.mov: byte " + std::to_string(stsz - 4) +
                                                         ": its stsz claims 2,147,483,632 samples of 1 bytes"));
    put(stsz + 8, 0);  // a size for each, in a table of 20
    EXPECT_THAT(index(file).error().problems.front(),
                HasSubstr("byte " + std::to_string(stsz - 4) + ": its stsz claims the sizes of 2,147,483,632"));
    file.replace(stsz, 4, "stz2");
    put(stsz + 8, 4);  // half a byte each
    EXPECT_THAT(index(file).error().problems.front(), HasSubstr("its stz2 claims the sizes of 2,147,483,632"));
}

TEST_F(HostileContainers, FramesInAnotherFileAreRefused) {
    std::string file = our_mov(3);
    const std::size_t dref = file.rfind("dref");
    ASSERT_NE(dref, std::string::npos);
    file[dref + 4 + 8 + 11] = 0;  // the flag "in this file"
    const auto clip = index(file);
    ASSERT_FALSE(clip);
    EXPECT_THAT(clip.error().problems.front(),
                HasSubstr("clip.mov: byte " + std::to_string(dref - 4) +
                          ": the frames of its video track are in another file"));
}

TEST_F(HostileContainers, AScanShowsHowFarItIsAndCanBeStopped) {
    NEED_TOOL("ffmpeg");
    const std::string good = made("a.mkv", "-c:v rawvideo -c:a pcm_s16le -t 30");
    IndexProgress progress;
    std::uint64_t total = 0;
    std::uint64_t done = 0;
    store_.on_read = [&](std::uint64_t) {
        total = std::max<std::uint64_t>(total, progress.bytes_total);
        done = std::max<std::uint64_t>(done, progress.bytes_done);
    };
    ASSERT_TRUE(index(good, &progress));
    EXPECT_EQ(total, good.size());
    EXPECT_GT(done, good.size() / 2);
    EXPECT_EQ(progress.bytes_total, 0u);  // nothing goes on any more
    store_.on_read = [&](std::uint64_t offset) {
        if (progress.bytes_total > 0 && offset > good.size() / 2) progress.cancel = true;  // in the scan
    };
    const auto stopped = index(good, &progress);
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().kind, ErrorKind::interrupted);
}

TEST_F(HostileContainers, ATableNeedsNoProgress) {
    IndexProgress progress;
    std::uint64_t total = 0;
    store_.on_read = [&](std::uint64_t) { total += progress.bytes_total; };
    ASSERT_TRUE(index(our_mov(50), &progress));
    EXPECT_EQ(total, 0u);
}

}  // namespace
}  // namespace streamsim::media
