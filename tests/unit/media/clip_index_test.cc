#include "media/clips/clip_index.h"

#include <gmock/gmock.h>

#include <condition_variable>
#include <filesystem>
#include <mutex>

#include "media/sequence/sequence_names.h"
#include "unit/media/fixtures.h"

namespace streamsim::media {
namespace {

using ::testing::Contains;
using testing::DirectoryStore;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::path_of;
using testing::Place;
using testing::small_dpx;
using testing::write_sequence;

std::vector<std::string> patterns(const std::vector<std::string>& names) {
    std::vector<std::string> out;
    const std::vector<std::string_view> views(names.begin(), names.end());
    for (const FoundSequence& sequence : group_sequences(views)) {
        out.push_back(sequence.pattern.show() + " x" + std::to_string(sequence.numbers.size()));
    }
    return out;
}

TEST(SequenceNames, AreGroupedByTheRunOfDigitsThatCounts) {
    EXPECT_THAT(patterns({"a.0001.dpx", "a.0002.dpx", "a.0003.dpx"}), ElementsAre("a.%04d.dpx x3"));
    EXPECT_THAT(patterns({"1.dpx", "2.dpx", "10.dpx"}), ElementsAre("%d.dpx x3"));
    EXPECT_THAT(patterns({"a.1001.dpx", "a.1002.dpx"}), ElementsAre("a.%d.dpx x2"));
    EXPECT_THAT(patterns({"0998.dpx", "0999.dpx", "1000.dpx", "10000.dpx"}), ElementsAre("%04d.dpx x4"));
    EXPECT_THAT(
        patterns({"s01_v2_001.dpx", "s01_v2_002.dpx", "s01_v3_001.dpx", "s01_v3_002.dpx", "s01_v3_003.dpx"}),
        ElementsAre("s01_v2_%03d.dpx x2", "s01_v3_%03d.dpx x3"));
    EXPECT_THAT(patterns({"f001_left.dpx", "f002_left.dpx", "f003_left.dpx"}),
                ElementsAre("f%03d_left.dpx x3"));
    EXPECT_THAT(patterns({"a.7.dpx"}), ElementsAre("a.%d.dpx x1"));
    EXPECT_THAT(patterns({"01.dpx", "001.dpx", "002.dpx"}), ElementsAre("%02d.dpx x1", "%03d.dpx x2"));
    EXPECT_THAT(patterns({"take.dpx"}), IsEmpty());
    EXPECT_THAT(patterns({"20261121123456789012345_1.dpx", "20261121123456789012345_2.dpx"}),
                ElementsAre("20261121123456789012345_%d.dpx x2"));
}

TEST(SequenceNames, Patterns) {
    EXPECT_EQ(parse_pattern("shot.%07d.dpx")->name(12), "shot.0000012.dpx");
    EXPECT_EQ(parse_pattern("shot.####.dpx")->name(12345), "shot.12345.dpx");
    EXPECT_EQ(parse_pattern("%d.dpx")->name(3), "3.dpx");
    for (const char* name : {"shot.dpx", "100%.dpx", "a%04d_%04d.dpx", "a$Fg.dpx", "a%fd.dpx",
                             "a.%9999999999d.dpx", "a.##.##.dpx"}) {
        EXPECT_FALSE(parse_pattern(name)) << name;
    }
    EXPECT_TRUE(is_pattern("/x/%04d.dpx"));
    EXPECT_FALSE(is_pattern("/x%04d/a.dpx"));
}

TEST(Clips, AreFoundBehindSlashesAndNotInUnfinishedMedia) {
    const Place place;
    DirectoryStore store;
    write_sequence(place, "seq/a.", ".dpx", {"0001", "0002"}, small_dpx("tiny", 16, 8));
    const auto clip = index_clip(store, place.at("seq//"));
    ASSERT_TRUE(clip) << testing::all_problems(clip.error());
    EXPECT_EQ(clip->index->count(), 2u);
    for (const char* const path :
         {"a.mov.00000000000000aa.partial", "clip.00000000000000aa.partial/frame.0001.dpx"}) {
        const auto refused = index_clip(store, place.at(path));
        ASSERT_FALSE(refused) << path;
        EXPECT_THAT(refused.error().problems.front(), HasSubstr("prepare was interrupted"));
    }
    // Hidden files and folders of the system beside it are passed over.
    place.write("seq/.hidden.0003.dpx", "x");
    place.write("seq/lost+found/a.0001.dpx", "x");
    const auto clips = clips_in(store, place.at("seq"));
    ASSERT_TRUE(clips) << testing::all_problems(clips.error());
    EXPECT_EQ(clips->size(), 1u);
    const auto none = index_clip(store, place.at("seq/b.%04d.dpx"));
    ASSERT_FALSE(none);
    EXPECT_THAT(none.error().problems.front(), HasSubstr("there is a.%04d.dpx"));
}

class Sequences : public ::testing::Test {
protected:
    Clip index(const std::string& name) {
        auto clip = index_clip(store_, name.empty() ? place_.path() : place_.at(name));
        if (clip) return *clip;
        ADD_FAILURE() << testing::all_problems(clip.error());
        return {};
    }
    std::string problem(const std::string& name, ErrorKind kind = ErrorKind::bad_input) {
        const auto clip = index_clip(store_, name.empty() ? place_.path() : place_.at(name));
        if (clip) return "no problem";
        EXPECT_EQ(clip.error().kind, kind);
        return clip.error().problems.front();
    }

    Place place_;
    DirectoryStore store_;
    MediaFormat format_ = small_dpx("x", 16, 9, 12, {24000, 1001});
};

TEST_F(Sequences, DirectoryFrameAndPatternAreTheSameClip) {
    write_sequence(place_, "shot/a.", ".dpx", {"0098", "0099", "0100"}, format_);
    for (const char* path : {"shot", "shot/", "shot/a.0099.dpx", "shot/a.%04d.dpx", "shot/a.####.dpx"}) {
        const Clip clip = index(path);
        ASSERT_NE(clip.index, nullptr) << path;
        EXPECT_EQ(clip.format, "dpx 12 bit filled 16x9");
        EXPECT_EQ(clip.index->count(), 3u);
        EXPECT_EQ(clip.index->rate(), (FrameRate{24000, 1001}));
        EXPECT_EQ(path_of(*clip.index, 2), place_.at("shot/a.0100.dpx"));
        EXPECT_EQ(clip.index->frame_number(0), 98u);
        EXPECT_EQ(clip.index->extent(1).bytes, 8192u + 16 * 9 * 6);
        EXPECT_THAT(clip.notes, IsEmpty());
        EXPECT_FALSE(clip.ours);
        EXPECT_EQ(clip.touched_s, 1234567890);
    }
    EXPECT_EQ(index("shot").name, "shot");
    EXPECT_EQ(index("shot/a.0099.dpx").name, "a.%04d.dpx");
}

TEST_F(Sequences, MissingNumbersKeepTheirSlots) {
    write_sequence(place_, "", ".dpx", {"1", "2", "5", "11"}, format_);
    const Clip clip = index("");
    EXPECT_EQ(clip.index->count(), 11u);
    EXPECT_EQ(path_of(*clip.index, 2), place_.at("3.dpx"));
    EXPECT_EQ(path_of(*clip.index, 10), place_.at("11.dpx"));
    EXPECT_THAT(clip.notes, ElementsAre("7 frame numbers are missing: 3 to 4, 6 to 10"));
}

TEST_F(Sequences, AFileThatIsFarAwayInNumberIsNamedAndCostsNothing) {
    write_sequence(place_, "a", ".dpx", {"1", "2", "900000000000000000"}, format_);
    const auto clip = index_clip(store_, place_.at(""));
    ASSERT_FALSE(clip.has_value());
    EXPECT_THAT(clip.error().problems.front(), HasSubstr("a900000000000000000.dpx: 3 frames are there"));
}

TEST_F(Sequences, TheLengthComesFromHeadersAndNotFromFilesThatAreCut) {
    write_sequence(place_, "a.", ".dpx", {"001", "002", "003", "004"}, format_);
    place_.write("a.001.dpx", "");
    place_.write("a.002.dpx", std::string(3000, 'x'));
    std::filesystem::resize_file(place_.at("a.003.dpx"), 4096);
    const Clip clip = index("");
    for (const std::uint64_t i : {0u, 1u, 2u, 3u}) EXPECT_EQ(clip.index->extent(i).bytes, 8192u + 16 * 9 * 6);
    EXPECT_EQ(clip.index->count(), 4u);
    EXPECT_THAT(clip.notes, Contains(HasSubstr("3 frames at its beginning without a readable header")));
}

TEST_F(Sequences, AnUnreadableFileIsNotTheEndOfTheClip) {
    write_sequence(place_, "a.", ".dpx", {"001", "002"}, format_);
    store_.on_open = [&](const std::string& path) -> std::optional<Error> {
        if (path.ends_with("001.dpx")) return environment_error(path + ": Input/output error");
        return std::nullopt;
    };
    EXPECT_THAT(index("").notes, Contains(HasSubstr("Input/output error")));
}

TEST_F(Sequences, NotOneReadableHeaderIsAnErrorWithFileAndByte) {
    place_.write("a.1.dpx", std::string(5000, 'x'));
    place_.write("a.2.dpx", "");
    EXPECT_THAT(problem(""), HasSubstr("a.1.dpx: byte 0: expected SDPX"));
}

TEST_F(Sequences, SaysWhatCannotBePlayed) {
    place_.write("exr/a.0001.exr", "v/1");
    place_.write("empty/readme.txt", "nothing");
    place_.write("still/title.dpx", "SDPX");
    EXPECT_THAT(problem("exr"), HasSubstr("a.0001.exr: byte 3: the file ends here"));
    EXPECT_THAT(problem("exr/a.0001.exr"), HasSubstr("a.0001.exr: byte 3: the file ends here"));
    EXPECT_THAT(problem("exr/a.%04d.exr"), HasSubstr("a.0001.exr: byte 3: the file ends here"));
    EXPECT_THAT(problem("exr/a.%04d.txt"), HasSubstr("unknown kind of image; expected one of dpx"));
    EXPECT_THAT(problem("empty"), HasSubstr("there is no image sequence"));
    write_sequence(place_, "ours/streamsim-media/x/2-frames/clip-0001/", ".dpx", {"1", "2"}, format_);
    EXPECT_THAT(problem("ours"), HasSubstr("name one of its prepared clips: " + place_.at("ours") +
                                           "/streamsim-media/FORMAT/.../clip-0001"));
    EXPECT_THAT(problem("still/title.dpx"), HasSubstr("title.dpx: byte 4: the file ends here"));
    EXPECT_THAT(problem("empty/a.%04d.dpx"), HasSubstr("no file has a name of this pattern"));
    EXPECT_THAT(problem("exr/a.%05d.exr"), HasSubstr("of this pattern; there is a.%04d.exr"));
    EXPECT_THAT(problem("nowhere.mov", ErrorKind::environment), HasSubstr("no such file"));
    write_sequence(place_, "two/a.", ".dpx", {"1", "2"}, format_);
    write_sequence(place_, "two/b.", ".dpx", {"1", "2"}, format_);
    EXPECT_THAT(problem("two"),
                HasSubstr("2 sequences in this directory, name one of them: a.%d.dpx b.%d.dpx"));
}

TEST_F(Sequences, ARateThatIsNotThereIsSaid) {
    write_sequence(place_, "a", ".dpx", {"1"}, format_);
    std::string bytes = place_.read("a1.dpx");
    bytes.replace(1724, 4, "\xff\xff\xff\xff");
    bytes.replace(1940, 4, "\xff\xff\xff\xff");
    place_.write("a1.dpx", bytes);
    const Clip clip = index("");
    EXPECT_EQ(clip.index->rate(), (FrameRate{24, 1}));
    EXPECT_THAT(clip.notes, ElementsAre(HasSubstr("no frame rate in its header: 24 fps assumed")));
}

TEST_F(Sequences, ClipsInADirectory) {
    write_sequence(place_, "b.", ".dpx", {"1", "2"}, format_);
    write_sequence(place_, "a.", ".DPX", {"1", "2"}, format_);
    write_sequence(place_, "z/", ".dpx", {"1", "2", "3"}, format_);
    write_sequence(place_, "m/left.", ".dpx", {"1"}, format_);
    write_sequence(place_, "m/right.", ".dpx", {"1"}, format_);
    write_sequence(place_, "deep/er/", ".dpx", {"1"}, format_);
    write_sequence(place_, ".hidden/", ".dpx", {"1"}, format_);
    write_sequence(place_, "streamsim-media/x/", ".dpx", {"1"}, format_);
    place_.write("notes.txt", "x");
    place_.write("._b.3.dpx", "resource fork");
    const auto names = [&](int depth, std::string* searched = nullptr) {
        IndexOptions options;
        options.depth = depth;
        const auto clips = clips_in(store_, place_.path(), options);
        std::vector<std::string> out;
        if (!clips) {
            ADD_FAILURE() << testing::all_problems(clips.error());
            return out;
        }
        for (const Clip& clip : *clips) out.push_back(clip.name);
        if (searched != nullptr) *searched = clips->front().searched;
        return out;
    };
    std::string searched;
    EXPECT_THAT(names(16, &searched),
                ElementsAre("a.%d.DPX", "b.%d.dpx", "deep/er", "m/left.%d.dpx", "m/right.%d.dpx", "z"));
    EXPECT_EQ(searched, "6 clips in 5 folders, 2 levels deep; other files: 1 .txt");
    EXPECT_THAT(names(1, &searched),
                ElementsAre("a.%d.DPX", "b.%d.dpx", "m/left.%d.dpx", "m/right.%d.dpx", "z"));
    EXPECT_EQ(
        searched,
        "5 clips in 4 folders, 1 level deep; 1 folder below 1 level not searched (--depth); other files: 1 "
        ".txt");
    EXPECT_THAT(names(0), ElementsAre("a.%d.DPX", "b.%d.dpx"));
}

TEST_F(Sequences, RecycleBinsAndSnapshotsAreNoMedia) {
    for (const char* folder :
         {"#recycle/a", "#snapshot/GMT-2026.01.01/a", "@Recycle/a", "@Recently-Snapshot/a", "@eaDir/a",
          "~snapshot/a", "$RECYCLE.BIN/a", "System Volume Information/a", "proj/a", "proj/@EADIR/a"})
        write_sequence(place_, std::string(folder) + "/f.", ".dpx", {"1", "2"}, format_);
    const auto clips = clips_in(store_, place_.path());
    ASSERT_TRUE(clips) << testing::all_problems(clips.error());
    ASSERT_EQ(clips->size(), 1u);
    EXPECT_EQ(clips->front().name, "proj/a");
    EXPECT_EQ(clips->front().searched,
              "1 clip in 3 folders, 2 levels deep; not searched: #recycle, #snapshot, $RECYCLE.BIN, @EADIR, "
              "@Recently-Snapshot, @Recycle, @eaDir, System Volume Information, ~snapshot");
    EXPECT_EQ(clips_in(store_, place_.at("#recycle"))->size(), 1u) << "it was asked for";
}

TEST_F(Sequences, CameraCardsAndLinksAreSearched) {
    const MediaFormat format = testing::small_prores("p", 64, 36, 5000);
    std::filesystem::create_directories(place_.at("CARD/CONTENTS/VIDEO"));
    testing::write_mov(store_, place_.at("CARD/CONTENTS/VIDEO/0001.mov"), format, 3);
    place_.write("CARD/CONTENTS/VIDEO/0001.xml", "x");
    place_.write("CARD/CONTENTS/LASTCLIP", "x");
    std::filesystem::create_directory_symlink(place_.path(), place_.at("CARD/up"));
    const auto clips = clips_in(store_, place_.path());
    ASSERT_TRUE(clips) << testing::all_problems(clips.error());
    ASSERT_EQ(clips->size(), 1u);
    EXPECT_EQ(clips->front().name, "CARD/CONTENTS/VIDEO/0001.mov");
    EXPECT_EQ(clips->front().searched,
              "1 clip in 4 folders, 3 levels deep; 1 link to folders not followed; other files: 1 without "
              "extension, 1 .xml");
    const auto below_link = clips_in(store_, place_.at("CARD"));
    ASSERT_EQ(below_link->size(), 1u) << "the link leads up, to the same media";
    EXPECT_THAT(below_link->front().searched, HasSubstr("3 folders found twice, by links"));
    std::filesystem::create_directories(place_.at("elsewhere/reel"));
    testing::write_mov(store_, place_.at("elsewhere/reel/x.mov"), format, 3);
    std::filesystem::create_directories(place_.at("list"));
    std::filesystem::create_directory_symlink("../elsewhere/reel", place_.at("list/one"));
    std::filesystem::create_directory_symlink("../elsewhere/reel", place_.at("list/two"));
    const auto linked = clips_in(store_, place_.at("list"));
    ASSERT_TRUE(linked);
    ASSERT_EQ(linked->size(), 1u) << "once, by the first of two links";
    EXPECT_EQ(linked->front().name, "one/x.mov");
}

TEST_F(Sequences, AContainerThatLinksShowTwiceIsOneClip) {
    const MediaFormat format = testing::small_prores("p", 64, 36, 5000);
    testing::write_mov(store_, place_.at("a.mov"), format, 3);
    std::filesystem::create_symlink("a.mov", place_.at("b.mov"));
    std::filesystem::create_hard_link(place_.at("a.mov"), place_.at("c.mov"));
    std::filesystem::copy_file(place_.at("a.mov"), place_.at("d.mov"));
    std::filesystem::create_symlink("z.mov", place_.at("y.mov"));
    testing::write_mov(store_, place_.at("z.mov"), format, 3);
    const auto clips = clips_in(store_, place_.path());
    ASSERT_TRUE(clips) << testing::all_problems(clips.error());
    std::vector<std::string> names;
    for (const Clip& clip : *clips) names.push_back(clip.name);
    EXPECT_THAT(names, ElementsAre("a.mov", "d.mov", "y.mov"));
    const auto is = [&](const std::string& file, const std::string& other) {
        return place_.at(file) + ": the same file as " + place_.at(other) + ", by a link";
    };
    EXPECT_THAT(clips->front().skipped,
                ElementsAre(is("b.mov", "a.mov"), is("c.mov", "a.mov"), is("z.mov", "y.mov")));
}

TEST_F(Sequences, WhatIsBrokenInADirectoryIsLeftOutAndSaid) {
    write_sequence(place_, "b.", ".dpx", {"1", "2"}, format_);
    place_.write("a.mov", "");
    for (int i = 0; i < 10; ++i) place_.write("x" + std::to_string(i) + "/f.1.exr", "x");
    const auto clips = clips_in(store_, place_.path());
    ASSERT_TRUE(clips) << testing::all_problems(clips.error());
    ASSERT_EQ(clips->size(), 1u);
    EXPECT_EQ(clips->front().skipped.size(), 11u);
    EXPECT_THAT(clips->front().skipped, Contains(HasSubstr(place_.at("a.mov"))));
    EXPECT_THAT(clips->front().skipped, Contains(HasSubstr(place_.at("x9/f.1.exr"))));
    EXPECT_FALSE(index_clip(store_, place_.at("a.mov")));
    std::filesystem::remove(place_.at("b.1.dpx"));
    std::filesystem::remove(place_.at("b.2.dpx"));
    EXPECT_EQ(clips_in(store_, place_.path()).error().problems.size(), 11u);
    write_sequence(place_, "b.", ".dpx", {"1", "2"}, format_);
    store_.on_open = [&](const std::string& path) -> std::optional<Error> {
        if (path.ends_with("a.mov")) return environment_error(path + ": Input/output error");
        return std::nullopt;
    };
    EXPECT_EQ(clips_in(store_, place_.path()).error().kind, ErrorKind::environment);
}

TEST_F(Sequences, AnImageWithoutANumberBesideASequenceIsLeftOutAndSaid) {
    write_sequence(place_, "s.", ".dpx", {"0000", "0001"}, format_);
    place_.write("plateA.dpx", place_.read("s.0000.dpx"));
    const auto clips = clips_in(store_, place_.path());
    ASSERT_TRUE(clips) << testing::all_problems(clips.error());
    ASSERT_EQ(clips->size(), 1u);
    EXPECT_THAT(clips->front().skipped,
                ElementsAre(place_.at("plateA.dpx") + ": one still picture, no numbered sequence"));
}

TEST_F(Sequences, LinksWithoutTargetsAndFilesOfOthersAreLeftOutAndSaid) {
    write_sequence(place_, "b.", ".dpx", {"1", "2"}, format_);
    write_sequence(place_, "theirs.", ".dpx", {"1", "2"}, format_);
    place_.write("theirs.mov", "x");
    std::filesystem::create_symlink("nowhere.mov", place_.at("old.mov"));
    std::filesystem::create_symlink("nowhere.dpx", place_.at("older.1.dpx"));
    store_.on_open = [&](const std::string& path) -> std::optional<Error> {
        if (path.find("theirs.") == std::string::npos) return std::nullopt;
        return Error{ErrorKind::environment, {path + ": Permission denied"}, true};
    };
    const auto clips = clips_in(store_, place_.path());
    ASSERT_TRUE(clips) << testing::all_problems(clips.error());
    ASSERT_EQ(clips->size(), 1u);
    EXPECT_EQ(clips->front().name, "b.%d.dpx");
    EXPECT_THAT(clips->front().skipped,
                ::testing::UnorderedElementsAre(
                    HasSubstr(place_.at("theirs.1.dpx: Permission")), HasSubstr(place_.at("theirs.mov")),
                    HasSubstr(place_.at("old.mov: No such file")), HasSubstr(place_.at("older.1.dpx"))));
    EXPECT_THAT(problem("old.mov", ErrorKind::environment), HasSubstr("No such file"));
    for (const char* name : {"b.1.dpx", "b.2.dpx"}) std::filesystem::remove(place_.at(name));
    const auto none = clips_in(store_, place_.path());
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind, ErrorKind::environment);
    EXPECT_EQ(none.error().problems.size(), 4u);
}

TEST_F(Sequences, AFolderOfAServerFarAwayIsAskedForSeveralClipsAtOnce) {
    for (const char* name : {"a", "b", "c"})
        write_sequence(place_, std::string(name) + "/f.", ".dpx", {"1", "2"}, format_);
    std::mutex mutex;
    std::condition_variable another_came;
    int waiting = 0;
    bool several = false;
    store_.on_open = [&](const std::string&) -> std::optional<Error> {
        std::unique_lock lock(mutex);
        several = several || ++waiting > 1;
        another_came.notify_all();
        another_came.wait_for(lock, std::chrono::seconds(10), [&] { return several; });
        --waiting;
        return std::nullopt;
    };
    IndexProgress progress;
    IndexOptions options;
    options.progress = &progress;
    const auto clips = clips_in(store_, place_.path(), options);
    ASSERT_TRUE(clips);
    EXPECT_TRUE(several);
    ASSERT_EQ(clips->size(), 3u);
    EXPECT_EQ(clips->front().name, "a");
    EXPECT_EQ(clips->back().name, "c");
    EXPECT_EQ(progress.clips_done, 3u);
    EXPECT_EQ(progress.clips_total, 3u);
}

TEST_F(Sequences, AnInterruptionEndsTheIndexOfAFolder) {
    for (const char* name : {"a", "b", "c"})
        write_sequence(place_, std::string(name) + "/f.", ".dpx", {"1", "2"}, format_);
    IndexProgress progress;
    IndexOptions options;
    options.progress = &progress;
    store_.on_open = [&](const std::string&) -> std::optional<Error> {
        progress.cancel = true;
        return std::nullopt;
    };
    const auto clips = clips_in(store_, place_.path(), options);
    ASSERT_FALSE(clips);
    EXPECT_EQ(clips.error().kind, ErrorKind::interrupted);
}

TEST_F(Sequences, TheOneClipOfADirectoryIsMeant) {
    const MediaFormat format = testing::small_prores("p", 64, 36, 5000);
    testing::write_mov(store_, place_.at("v.mov"), format, 3);
    place_.write("z.mov", "");
    const Clip clip = index("");
    EXPECT_EQ(clip.index->count(), 3u);
    EXPECT_THAT(clip.skipped, Contains(HasSubstr(place_.at("z.mov"))));
    testing::write_mov(store_, place_.at("w.mov"), format, 3);
    EXPECT_THAT(problem(""), HasSubstr("3 files in this directory can be clips, name one of them"));
}

TEST_F(Sequences, ADirectoryWithoutClips) {
    EXPECT_THAT(*clips_in(store_, place_.path()), IsEmpty());
    place_.write("sub/a.1.exr", "x");
    EXPECT_THAT(clips_in(store_, place_.path()).error().problems.front(),
                HasSubstr("sub/a.1.exr: byte 1: the file ends here"));
    EXPECT_EQ(clips_in(store_, place_.at("nowhere")).error().kind, ErrorKind::environment);
}

}  // namespace
}  // namespace streamsim::media
