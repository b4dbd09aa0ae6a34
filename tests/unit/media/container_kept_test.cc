// The index that is kept beside a clip.
#include "media/container/container_kept.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "media/catalogue/frame_sizes.h"
#include "media/clips/clip_index.h"
#include "media/frames/codec_makers.h"
#include "unit/media/fixtures.h"

namespace streamsim::media {
namespace {

using ::testing::Contains;
using testing::DirectoryStore;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Place;

class KeptIndex : public ::testing::Test {
protected:
    KeptIndex() { write("a.mov", 20); }

    void write(const std::string& name, std::uint64_t frames) {
        const MediaFormat format = testing::small_prores("x", 320, 180, 40'000);
        testing::write_mov(store_, place_.at(name), format, frames);
    }

    Clip index(bool keep, bool audio = false) {
        IndexOptions options;
        options.keep_index = keep;
        options.audio = audio;
        store_.bytes_read = 0;
        auto clip = index_clip(store_, place_.at("a.mov"), options);
        if (clip) return std::move(*clip);
        ADD_FAILURE() << testing::all_problems(clip.error());
        return {};
    }

    bool kept() const { return std::filesystem::exists(place_.at("a.mov.streamsim-index")); }
    std::string text() const { return place_.read("a.mov.streamsim-index"); }

    Place place_;
    DirectoryStore store_;
};

void expect_same(const Clip& a, const Clip& b) {
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.format, b.format);
    EXPECT_EQ(a.structure, b.structure);
    EXPECT_EQ(a.start_timecode, b.start_timecode);
    ASSERT_EQ(a.index->count(), b.index->count());
    EXPECT_EQ(a.index->rate(), b.index->rate());
    EXPECT_EQ(testing::path_of(*a.index, 0), testing::path_of(*b.index, 0));
    for (std::uint64_t k = 0; k < a.index->count(); ++k) {
        EXPECT_EQ(a.index->extent(k).offset, b.index->extent(k).offset);
        EXPECT_EQ(a.index->extent(k).bytes, b.index->extent(k).bytes);
        EXPECT_EQ(a.index->sync_frame(k), b.index->sync_frame(k));
        EXPECT_EQ(a.index->due(k + 1), b.index->due(k + 1));
    }
}

TEST_F(KeptIndex, IsWrittenOnlyOnRequestAndThenUsed) {
    const Clip fresh = index(false);
    EXPECT_FALSE(kept());
    expect_same(index(true), fresh);
    ASSERT_TRUE(kept());
    const std::string first = text();
    const Clip used = index(true);
    EXPECT_LT(store_.bytes_read, first.size() + 1);  // nothing of the clip itself
    expect_same(used, fresh);
    EXPECT_THAT(used.notes, IsEmpty());
    EXPECT_EQ(text(), first);
    EXPECT_THAT(place_.files(), ElementsAre("a.mov", "a.mov.streamsim-index"));
}

TEST_F(KeptIndex, OneThatDoesNotFitIsReplacedAndSaid) {
    index(true);
    write("a.mov", 30);
    EXPECT_THAT(index(true).notes, ElementsAre(HasSubstr("not used: the clip has changed since")));
    const Clip again = index(true);
    EXPECT_EQ(again.index->count(), 30u);
    EXPECT_THAT(again.notes, IsEmpty());
    EXPECT_THAT(::testing::PrintToString(index(true, true).notes), HasSubstr("made without audio"));
    const Clip silent = index(true, true);
    EXPECT_THAT(silent.notes, ElementsAre("it has no audio"));
    EXPECT_FALSE(silent.audio);
}

TEST_F(KeptIndex, ThatAFileWasReadThroughIsSaidOfThatTimeOnly) {
    NEED_TOOL("ffmpeg");
    const auto ran =
        testing::run("ffmpeg -v error -f lavfi -i testsrc2=s=64x36 -t 0.4 -c:v mpeg4 " + place_.at("a.mkv"));
    ASSERT_EQ(ran.code, 0) << ran.output;
    const auto index_it = [&] {
        const auto clip = index_clip(store_, place_.at("a.mkv"), {.keep_index = true});
        EXPECT_TRUE(clip) << testing::all_problems(clip.error());
        return clip ? *clip : Clip{};
    };
    const Clip read = index_it();
    EXPECT_THAT(read.notes, Contains(HasSubstr("the whole file was read for the index")));
    EXPECT_TRUE(read.read_through);
    ASSERT_TRUE(std::filesystem::exists(place_.at("a.mkv.streamsim-index")));
    const Clip kept = index_it();
    EXPECT_THAT(kept.notes, Not(Contains(HasSubstr("the whole file was read for the index"))));
    EXPECT_FALSE(kept.read_through);
}

TEST_F(KeptIndex, DamageIsNeverUsed) {
    const Clip fresh = index(true);
    const std::string good = text();
    for (std::size_t at = 0; at < good.size(); at += 7) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ 0x10);
        place_.write("a.mov.streamsim-index", bad);
        const Clip clip = index(true);
        EXPECT_FALSE(clip.notes.empty()) << at;
        expect_same(clip, fresh);
        place_.write("a.mov.streamsim-index", good.substr(0, at));
        expect_same(index(true), fresh);
    }
}

TEST_F(KeptIndex, WhatIsNotOursIsLeftAlone) {
    place_.write("a.mov.streamsim-index", "my own notes");
    const Clip clip = index(true);
    EXPECT_EQ(clip.index->count(), 20u);
    EXPECT_THAT(clip.notes, ElementsAre(HasSubstr("is no index by streamsim")));
    EXPECT_EQ(text(), "my own notes");
    std::filesystem::remove(place_.at("a.mov.streamsim-index"));
    place_.write("a.mov.streamsim-index.partial", "my own notes");
    EXPECT_THAT(index(true).notes, IsEmpty()) << "the name of no run";
    EXPECT_EQ(place_.read("a.mov.streamsim-index.partial"), "my own notes");
    EXPECT_TRUE(kept());
}

TEST_F(KeptIndex, ADiskThatIsFullIsANote) {
    store_.room = 10;
    const Clip clip = index(true);
    EXPECT_EQ(clip.index->count(), 20u);
    EXPECT_THAT(clip.notes, ElementsAre(HasSubstr("its index is not kept")));
    EXPECT_THAT(place_.files(), ElementsAre("a.mov"));
}

TEST_F(KeptIndex, IsNoClip) {
    index(true);
    const auto clips = clips_in(store_, place_.path());
    ASSERT_TRUE(clips);
    EXPECT_EQ(clips->size(), 1u);
    const auto clip = index_clip(store_, place_.at("a.mov.streamsim-index"));
    ASSERT_FALSE(clip);
    EXPECT_EQ(clip.error().kind, ErrorKind::bad_input);
    EXPECT_THAT(clip.error().problems.front(), HasSubstr("not a clip"));
}

/// Everything that a clip can have goes there and back.
TEST_F(KeptIndex, KeepsAllThatIsKnown) {
    KeptClip clip;
    clip.clip.format = "h264 avc1 320x180";
    clip.clip.structure = "MP4: ...";
    clip.clip.notes = {"one", "", "three"};
    clip.clip.start_timecode = 107'892;
    clip.clip.timecode_each = 2;
    clip.clip.drop = false;
    clip.frames.rate = {375, 22};
    clip.frames.extents = {{1, 2}, {1230, 4}};
    clip.frames.sync = {0, 0};
    clip.frames.due_ns = {0, 5, 70'000'000'000};
    clip.frames.audio = {{7, 8}, {9, 10}, {11, 12}};
    clip.frames.audio_begin = {0, 2, 3};
    const FileInfo media{false, 1234, -5, false};
    ASSERT_TRUE(keep(store_, place_.at("b"), media, true, {}, clip));
    const KeptFound found = find_kept(store_, place_.at("b"), media, true);
    ASSERT_TRUE(found.clip) << found.note;
    EXPECT_EQ(found.clip->clip.notes, clip.clip.notes);
    EXPECT_EQ(found.clip->clip.start_timecode, clip.clip.start_timecode);
    EXPECT_EQ(found.clip->clip.timecode_each, 2u);
    EXPECT_FALSE(found.clip->clip.drop);
    EXPECT_EQ(found.clip->frames.sync, clip.frames.sync);
    EXPECT_EQ(found.clip->frames.due_ns, clip.frames.due_ns);
    EXPECT_EQ(found.clip->frames.audio_begin, clip.frames.audio_begin);
    EXPECT_EQ(found.clip->frames.audio[2].bytes, 12u);
    EXPECT_EQ(found.clip->frames.extents[1].offset, 1230u);
    EXPECT_FALSE(find_kept(store_, place_.at("b"), media, false).clip);
    for (const std::uint64_t each : {0u, 5u}) {  // 18 frames a second have no label for each 5
        clip.clip.timecode_each = each;
        std::filesystem::remove(place_.at("b.streamsim-index"));
        ASSERT_TRUE(keep(store_, place_.at("b"), media, true, {}, clip));
        EXPECT_THAT(find_kept(store_, place_.at("b"), media, true).note, HasSubstr("not plausible"));
    }
}

/// One with a right checksum that says what no file can have: it is neither used nor made.
TEST_F(KeptIndex, OfMoreThanTheFileHoldsIsNotUsed) {
    const FileInfo large{false, UINT64_MAX, -5, false};
    const FileInfo media{false, 1000, -5, false};
    const auto used = [&](const std::function<void(ContainerFrames&)>& change) {
        KeptClip clip;
        clip.frames.rate = {25, 1};
        clip.frames.extents = {{0, 500}, {500, 500}};
        change(clip.frames);
        // Made for a file where it would be true, and changed to speak of this one.
        EXPECT_TRUE(keep(store_, place_.at("b"), large, false, {}, clip));
        if (!std::filesystem::exists(place_.at("b.streamsim-index"))) return false;
        std::string bytes = place_.read("b.streamsim-index");
        bytes.resize(bytes.size() - 8);
        const auto put = [&bytes](std::size_t at, std::uint64_t value) {
            for (std::size_t i = 0; i < 8; ++i) bytes[at + i] = static_cast<char>(value >> (8 * i) & 0xff);
        };
        put(24, media.bytes);
        std::uint64_t hash = 0xcbf29ce484222325u;
        for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
        bytes.resize(bytes.size() + 8);
        put(bytes.size() - 8, hash);
        place_.write("b.streamsim-index", bytes);
        const KeptFound found = find_kept(store_, place_.at("b"), media, false);
        std::filesystem::remove(place_.at("b.streamsim-index"));
        if (!found.clip) EXPECT_THAT(found.note, HasSubstr("not plausible"));
        return found.clip.has_value();
    };
    EXPECT_TRUE(used([](ContainerFrames&) {}));
    EXPECT_FALSE(used([](ContainerFrames& frames) { frames.extents[1] = {501, 500}; }));
    EXPECT_FALSE(used([](ContainerFrames& frames) { frames.extents[1] = {UINT64_MAX - 499, 500}; }));
    EXPECT_FALSE(used([](ContainerFrames& frames) { frames.extents[1] = {0, UINT64_MAX}; }));
    EXPECT_FALSE(used([](ContainerFrames& frames) { frames.extents[1] = {400, 501}; }));  // overlapping
    EXPECT_FALSE(used([](ContainerFrames& frames) { frames.extents[1] = {500, 0}; }));
    EXPECT_FALSE(used([](ContainerFrames& frames) {
        frames.extents = {{0, 300}, {300, 300}, {600, 300}};
        frames.sync = {0, 0, 1};  // a frame that cannot be decoded alone itself
    }));
    EXPECT_FALSE(used([](ContainerFrames& frames) { frames.rate = {INT64_MAX, 1}; }));
    EXPECT_FALSE(used([](ContainerFrames& frames) { frames.rate = {24, std::int64_t{1} << 40}; }));
    EXPECT_FALSE(used([](ContainerFrames& frames) { frames.due_ns = {0, 1, INT64_MAX}; }));
    EXPECT_FALSE(used([](ContainerFrames& frames) { frames.rate = {1'000'000, 1}; }));
    EXPECT_FALSE(used([](ContainerFrames& frames) { frames.due_ns = {0, 1, 2}; }));
    EXPECT_FALSE(used([](ContainerFrames& frames) {
        frames.audio = {{999, 2}};
        frames.audio_begin = {0, 1, 1};
    }));
    EXPECT_FALSE(used([](ContainerFrames& frames) { frames.extents.assign(1001, {0, 0}); }));
}

}  // namespace
}  // namespace streamsim::media
