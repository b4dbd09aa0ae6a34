// A media set on a file system that others change meanwhile: links, second names and exchanged directories lead
// nowhere, and only what the set's own records name is ours.
#include "unit/media/safe_paths.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "media/container/container_kept.h"
#include "media/write/load_set.h"
#include "media/write/media_lock.h"
#include "media/write/recording.h"

namespace streamsim::media {
namespace {

namespace fs = std::filesystem;
using testing::all_problems;
using ::testing::Contains;
using testing::DirectoryStore;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Place;
using testing::SafePaths;
using testing::small_dpx;
using testing::small_prores;

TEST_F(SafePaths, LinksAtUnfinishedNamesAreWorkedAround) {
    for (const bool hard : {false, true}) {
        must_prepare();
        link_to_precious(dir_ + "clip-0002.mov.partial", hard);
        link_to_precious(dir_ + "clip-0002.mov.0123456789abcdef.partial", hard);
        link_to_precious("streamsim-media/mini/format.json.partial", hard);
        link_to_precious("streamsim-media/streamsim-media.json.partial", hard);
        must_prepare(2);
        EXPECT_EQ(whole_clips(), 2u);
        EXPECT_EQ(must_clean().kept.size(), 4u);
        fs::remove_all(place_.at("streamsim-media"));
        link_to_precious("streamsim-media/streamsim-media.json.partial", hard);
        must_prepare();
        EXPECT_EQ(whole_clips(), 1u);
        fs::remove_all(place_.at("streamsim-media"));
    }
}

TEST_F(SafePaths, FramesThatAreLinksAreNotContinued) {
    format_ = small_dpx("tiny", 17, 9, 10);
    dir_ = "streamsim-media/tiny/12-frames/";
    for (const bool hard : {false, true}) {
        must_prepare();
        const std::string begun = dir_ + "clip-0001.0123456789abcdef.partial/";
        fs::rename(place_.at(dir_ + "clip-0001"), place_.at(begun));
        fs::remove(place_.at(begun + "frame.0000003.dpx"));
        link_to_precious(begun + "frame.0000003.dpx", hard);
        must_prepare();
        EXPECT_EQ(whole_clips(), 1u);
        EXPECT_TRUE(fs::exists(place_.at(begun))) << "it stays as it was";
        fs::remove_all(place_.at("streamsim-media"));
    }
}

TEST_F(SafePaths, LinksInPlaceOfDirectoriesAreRefusedByName) {
    must_prepare();
    for (const std::string link :
         {"streamsim-media", "streamsim-media/mini", "streamsim-media/mini/15-frames"}) {
        fs::rename(place_.at(link), elsewhere_.at("moved"));
        fs::create_directory_symlink(elsewhere_.at("moved"), place_.at(link));
        const auto count = std::distance(fs::recursive_directory_iterator(elsewhere_.path()), {});
        const auto refused = prepare_now(3);
        ASSERT_FALSE(refused) << link;
        EXPECT_THAT(all_problems(refused.error()), HasSubstr(place_.at(link)));
        EXPECT_THAT(all_problems(refused.error()), HasSubstr("symbolic link"));
        EXPECT_THAT(all_problems(refused.error()), HasSubstr("expected"));
        const auto cleaned = clean(*store_, place_.path());
        if (cleaned) EXPECT_THAT(cleaned->kept, Contains(place_.at(link)));
        EXPECT_EQ(std::distance(fs::recursive_directory_iterator(elsewhere_.path()), {}), count) << link;
        fs::remove(place_.at(link));
        fs::rename(elsewhere_.at("moved"), place_.at(link));
    }
    EXPECT_EQ(whole_clips(), 1u);
}

TEST_F(SafePaths, RecordingsAndWorkingSetsGoThroughNoLink) {
    must_prepare();
    for (const char* name : {"recordings", "load"}) {
        fs::create_directory_symlink(elsewhere_.path(), place_.at("streamsim-media/") + name);
    }
    const auto run = make_recordings(*store_, place_.path());
    ASSERT_FALSE(run);
    EXPECT_THAT(all_problems(run.error()), HasSubstr("found a symbolic link"));
    const std::string root = load_root(place_.path());
    const LoadSet set{place_.path(), {root + "/m"}, {{root + "/m/f0.load", 22}}};
    const auto planned = plan_load_set(*store_, set);
    ASSERT_FALSE(planned);
    EXPECT_THAT(all_problems(planned.error()), HasSubstr(root + ": found a symbolic link"));
    fs::remove(place_.at("streamsim-media/load"));

    link_to_precious("streamsim-media/load/m/f0.load", true);
    EXPECT_THAT(all_problems(plan_load_set(*store_, set).error()), HasSubstr("several names (hard links)"));
    fs::remove(root + "/m/f0.load");
    link_to_precious("streamsim-media/load/m/f0.load.partial", false);
    const auto free = plan_load_set(*store_, set);
    ASSERT_TRUE(free) << all_problems(free.error());
    PrepareProgress progress;
    ASSERT_TRUE(write_load_set(*store_, *free, 1, progress));
    EXPECT_EQ(fs::file_size(root + "/m/f0.load"), 22u);
    place_.write("streamsim-media/load/m/holiday.load", "mine");
    EXPECT_THAT(must_clean().kept, ElementsAre(root + "/m/f0.load.partial", root + "/m/holiday.load",
                                               place_.at("streamsim-media/recordings")));
}

TEST_F(SafePaths, AKeptIndexIsWrittenThroughNoLink) {
    link_to_precious("a.mov.streamsim-index.partial", false);
    link_to_precious("b.mov.streamsim-index", true);
    KeptClip clip;
    clip.frames.rate = {24, 1};
    clip.frames.extents = {{0, 1}};
    const FileInfo media{.bytes = 1};
    EXPECT_TRUE(keep(*store_, place_.at("a.mov"), media, false, {}, clip));
    const KeptFound found = find_kept(*store_, place_.at("b.mov"), media, false);
    EXPECT_FALSE(keep(*store_, place_.at("b.mov"), media, false, found, clip));
}

TEST_F(SafePaths, CleanRemovesWhatTheRecordsNameAndNamesTheRest) {
    must_prepare(2);
    format_ = small_dpx("tiny", 17, 9, 10);
    must_prepare();
    const std::string frames = "streamsim-media/tiny/12-frames/";
    place_.write(frames + "clip-0001/frame.0000500.dpx", "mine");
    place_.write(dir_ + "clip-0777.mov", "mine");
    fs::copy_file(place_.at(dir_ + "clip-0001.mov"), place_.at(dir_ + "clip-0778.mov"));
    fs::copy(place_.at(frames + "clip-0001"), place_.at(frames + "clip-0009"));
    const auto report = must_clean();
    EXPECT_EQ(report.kept.size(), 4u);
    EXPECT_THAT(report.kept, Contains(place_.at(dir_ + "clip-0777.mov")));
    EXPECT_THAT(report.kept, Contains(place_.at(dir_ + "clip-0778.mov")));
    EXPECT_THAT(report.kept, Contains(place_.at(frames + "clip-0009")));
    EXPECT_THAT(report.kept, Contains(HasSubstr("frame.0000500.dpx")));
    EXPECT_EQ(place_.read(dir_ + "clip-0777.mov"), "mine");
    EXPECT_FALSE(fs::exists(place_.at(dir_ + "clip-0001.mov")));
    fs::remove_all(place_.at(frames + "clip-0009"));
    for (const std::string& kept : report.kept) fs::remove(kept);
    EXPECT_THAT(must_clean().kept, IsEmpty());
    EXPECT_FALSE(fs::exists(place_.at("streamsim-media")));
}

TEST_F(SafePaths, ARecordOfAnotherClipOrSetMakesNoClipOurs) {
    must_prepare(1);
    const Place other;
    const auto plan = plan_prepare(*store_, {other.path(), format_, 3, milliseconds(500), 1});
    PrepareProgress progress;
    ASSERT_TRUE(plan && prepare(*store_, *plan, progress));
    for (const char* name : {"clip-0002.mov", "clip-0003.mov"}) place_.write(dir_ + name, "mine");
    fs::copy_file(place_.at(dir_ + "record-0001.json"), place_.at(dir_ + "record-0002.json"));
    fs::copy_file(other.at(dir_ + "record-0003.json"), place_.at(dir_ + "record-0003.json"));
    place_.write(dir_ + "record-0042.json", "mine");
    const auto kept = must_clean().kept;
    for (const char* name : {"clip-0002.mov", "clip-0003.mov", "record-0042.json"}) {
        EXPECT_EQ(place_.read(dir_ + name), "mine");
        EXPECT_THAT(kept, Contains(place_.at(dir_ + name)));
    }
    EXPECT_FALSE(fs::exists(place_.at(dir_ + "clip-0001.mov")));
}

TEST_F(SafePaths, ClipsOfAnotherLengthThanTheirRecordSaysStay) {
    must_prepare(1);
    const std::string moved = "streamsim-media/mini/16-frames";
    fs::rename(place_.at("streamsim-media/mini/15-frames"), place_.at(moved));
    EXPECT_THAT(must_clean().kept, Contains(place_.at(moved + "/clip-0001.mov")));
    EXPECT_TRUE(fs::exists(place_.at(moved + "/clip-0001.mov")));
}

TEST_F(SafePaths, CleanRemovesNoLinkAndNoDirectoryOfAUser) {
    format_ = small_dpx("tiny", 17, 9, 10);
    must_prepare();
    const std::string frame = "streamsim-media/tiny/12-frames/clip-0001/frame.0000003.dpx";
    fs::remove(place_.at(frame));
    link_to_precious(frame, false);
    const std::string root = load_root(place_.path());
    const auto plan = plan_load_set(*store_, {place_.path(), {root + "/m"}, {{root + "/m/f0.load", 22}}});
    PrepareProgress progress;
    ASSERT_TRUE(plan && write_load_set(*store_, *plan, 1, progress));
    fs::create_directory(root + "/mine");
    const auto kept = must_clean().kept;
    EXPECT_THAT(kept, Contains(HasSubstr("frame.0000003.dpx")));
    EXPECT_THAT(kept, Contains(root + "/mine"));
    EXPECT_TRUE(fs::exists(root + "/mine"));
}

TEST_F(SafePaths, ADocumentThatIsTooLargeIsNotOurs) {
    must_prepare();
    const std::string marker = "streamsim-media/streamsim-media.json";
    place_.write(marker, place_.read(marker) + std::string(std::size_t{1} << 20, ' '));
    const auto refused = prepare_now();
    ASSERT_FALSE(refused);
    EXPECT_THAT(all_problems(refused.error()), HasSubstr("too large to be one of our documents"));
}

TEST_F(SafePaths, SequencesThatAreNotWholeDoNotCount) {
    format_ = small_dpx("tiny", 17, 9, 10);
    const std::string clip = place_.at("streamsim-media/tiny/12-frames/clip-0001/");
    for (const bool first : {true, false}) {
        must_prepare();
        const std::string frame = clip + (first ? "frame.0000001.dpx" : "frame.0000012.dpx");
        const auto bytes = fs::file_size(frame);
        fs::resize_file(frame, 0);
        fs::resize_file(frame, bytes);
        EXPECT_EQ(whole_clips(), 0u) << "holes in " << frame;
        must_prepare();
        EXPECT_EQ(whole_clips(), 1u);
        std::fstream damaged(frame, std::ios::in | std::ios::out | std::ios::binary);
        const auto whence = first ? std::ios::beg : std::ios::end;
        const char was = static_cast<char>(damaged.seekg(first ? 0 : -1, whence).peek());
        damaged.seekp(first ? 0 : -1, whence);
        damaged.put(static_cast<char>(was ^ 1)).flush();
        EXPECT_EQ(whole_clips(), 0u) << "another byte in " << frame;
        fs::remove_all(place_.at("streamsim-media"));
    }
}

TEST_F(SafePaths, AFrameWithHolesIsNotWhole) {
    format_ = small_dpx("tiny", 300, 200, 10);
    must_prepare();
    const std::string frame = place_.at("streamsim-media/tiny/12-frames/clip-0001/frame.0000012.dpx");
    const int file = open(frame.c_str(), O_WRONLY);
    const bool punched = fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 64 << 10, 128 << 10) == 0;
    close(file);
    if (!punched) GTEST_SKIP() << "no holes on this file system";
    EXPECT_EQ(whole_clips(), 0u) << "its beginning and its end agree with the checksum";
    must_prepare();
    EXPECT_EQ(whole_clips(), 1u);
}

TEST_F(SafePaths, AUsersClipKeepsItsNameAndANewOneGetsAnother) {
    must_prepare();
    place_.write(dir_ + "clip-0002.mov", "mine");
    must_prepare(2);
    EXPECT_EQ(whole_clips(), 2u);
    EXPECT_THAT(notes_, ElementsAre(HasSubstr("clip-0002.mov")));
    EXPECT_TRUE(fs::exists(place_.at(dir_ + "clip-0003.mov")));
    EXPECT_EQ(place_.read(dir_ + "clip-0002.mov"), "mine");
}

TEST_F(SafePaths, ClipsThatAreNotWholeDoNotCountAndAreMadeAgain) {
    format_ = small_prores("mini", 64, 36, 200'000);
    must_prepare(1);
    const std::string clip = place_.at(dir_ + "clip-0001.mov");
    const auto bytes = fs::file_size(clip);
    const auto damaged = [&](const std::string& why) {
        EXPECT_EQ(whole_clips(), 0u) << why;
        must_prepare(1);
        EXPECT_THAT(notes_, ElementsAre(HasSubstr(why)));
        EXPECT_EQ(whole_clips(), 1u) << why;
        EXPECT_EQ(fs::file_size(clip), bytes);
    };
    fs::resize_file(clip, bytes - 1);
    damaged("its record says");
    const int file = open(clip.c_str(), O_WRONLY);
    if (fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 1 << 20, 1 << 20) == 0)
        damaged("never written (holes)");
    close(file);
    std::fstream(clip, std::ios::in | std::ios::out | std::ios::binary).seekp(-8, std::ios::end) << "damaged!";
    damaged("checksum");
    fs::remove(place_.at(dir_ + "whole-0001.json"));
    damaged("record of its checksum is missing");
    place_.write(dir_ + "whole-0001.json", "{\"schema");
    EXPECT_EQ(whole_clips(), 0u);
    must_prepare(1);
    EXPECT_THAT(notes_, Contains(HasSubstr("whole-0001.json beside it is damaged")));
    EXPECT_EQ(whole_clips(), 1u) << "another one, as that would be taken for somebody else's";
    EXPECT_EQ(fs::file_size(clip), bytes);
}

TEST_F(SafePaths, AContainerThatIsCutWithinItsChecksumIsOurs) {
    const std::string clip = place_.at(dir_ + "clip-0001.mov");
    must_prepare();
    for (const std::uintmax_t bytes : {1u, 7u, 500u, 1023u}) {
        fs::resize_file(clip, bytes);
        must_prepare();
        EXPECT_THAT(notes_, ElementsAre(HasSubstr("its record says"))) << bytes;
        EXPECT_GT(fs::file_size(clip), 1024u);
    }
    place_.write(dir_ + "clip-0001.mov", "mine");
    EXPECT_THAT(must_clean().kept, ElementsAre(clip));
    EXPECT_EQ(place_.read(dir_ + "clip-0001.mov"), "mine");
}

/// Written over ours, it has the inode of ours; some file systems have no inodes at all.
TEST_F(SafePaths, AFileOfTheUsersInPlaceOfAContainerStays) {
    const std::string mine(300'000, 'm');
    for (const bool ids : {true, false}) {
        auto store = std::make_unique<DirectoryStore>();
        store->tells_ids = ids;
        store_ = std::move(store);
        must_prepare();
        if (ids) {
            place_.write(dir_ + "clip-0001.mov", mine);
        } else {
            elsewhere_.write("mine.mov", mine);
            fs::rename(elsewhere_.at("mine.mov"), place_.at(dir_ + "clip-0001.mov"));
        }
        place_.write(dir_ + "clip-0001.mov.partial", mine);  // no run's
        EXPECT_EQ(whole_clips(), 0u);
        must_prepare();
        EXPECT_THAT(notes_, ElementsAre(HasSubstr("clip-0001.mov: is not what prepare made")));
        EXPECT_EQ(whole_clips(), 1u) << "clip-0002.mov";
        EXPECT_THAT(must_clean().kept,
                    ElementsAre(place_.at(dir_ + "clip-0001.mov"), place_.at(dir_ + "clip-0001.mov.partial")));
        EXPECT_EQ(place_.read(dir_ + "clip-0001.mov"), mine);
        fs::remove_all(place_.at("streamsim-media"));
    }
}

TEST_F(SafePaths, FramesOfTheUsersInASequenceStay) {
    format_ = small_dpx("tiny", 17, 9, 10);
    const std::string clip = "streamsim-media/tiny/12-frames/clip-0001/";
    for (const std::string frame : {"frame.0000001.dpx", "frame.0000007.dpx"}) {
        must_prepare();
        const bool first = frame == "frame.0000001.dpx";
        const std::size_t bytes = first ? place_.read(clip + frame).size() : 5'000;
        place_.write(clip + frame, std::string(bytes, 'm'));
        EXPECT_EQ(whole_clips(), first ? 0u : 1u) << "a frame of another length fails at its slot";
        must_prepare();
        if (first) EXPECT_THAT(notes_, Contains(HasSubstr("is not continued: it holds " + frame)));
        EXPECT_EQ(place_.read(clip + frame), std::string(bytes, 'm'));
        EXPECT_EQ(whole_clips(), 1u);
        const auto kept = must_clean().kept;
        ASSERT_EQ(kept.size(), 1u) << frame;
        EXPECT_THAT(kept[0], HasSubstr(frame));
        must_prepare();
        EXPECT_THAT(notes_, ElementsAre(HasSubstr("is not continued: it holds " + frame)));
        EXPECT_EQ(fs::file_size(kept[0]), bytes);
        fs::remove_all(place_.at("streamsim-media"));
    }
}

/// Permissions, or a disk that is damaged there.
TEST_F(SafePaths, WhatCannotBeReadKeepsNothingElse) {
    auto own = std::make_unique<DirectoryStore>();
    DirectoryStore& store = *own;
    store_ = std::move(own);
    for (const bool sequence : {false, true}) {
        format_ = sequence ? small_dpx("tiny", 17, 9, 10) : small_prores("mini", 64, 36, 5'000);
        const std::string length = sequence ? "streamsim-media/tiny/12-frames/" : dir_;
        const std::string bad = sequence ? "clip-0001/frame.0000003.dpx" : "clip-0001.mov";
        must_prepare(2);
        const std::string name = fs::path(bad).filename();
        store.on_open = [&](const std::string& path) -> std::optional<Error> {
            if (!path.ends_with(name) || path.find("clip-0001") == std::string::npos) return std::nullopt;
            return environment_error(path + ": input/output error");
        };
        const auto report = clean(*store_, place_.path());
        ASSERT_FALSE(report);
        EXPECT_EQ(report.error().kind, ErrorKind::environment);
        EXPECT_THAT(report.error().problems, ElementsAre(HasSubstr(name + ": input/output error")));
        std::size_t media = 0;
        for (const std::string& file : place_.files())
            if (!file.ends_with(".json")) EXPECT_THAT(file, HasSubstr(++media == 1 ? name : "no other"));
        EXPECT_EQ(media, 1u);
        if (sequence) {
            must_prepare();
            EXPECT_THAT(notes_, ElementsAre(HasSubstr("which cannot be read (")));
            EXPECT_EQ(whole_clips(), 1u);
        }
        store.on_open = nullptr;
        EXPECT_THAT(must_clean().kept, IsEmpty());
        EXPECT_THAT(place_.files(), IsEmpty());
    }
}

/// After prepare has looked at the clip for the last time under its own name.
TEST_F(SafePaths, WhatIsWrittenIntoABegunClipStays) {
    auto own = std::make_unique<DirectoryStore>();
    DirectoryStore& store = *own;
    store_ = std::move(own);
    const std::string mine(5'000, 'm');
    for (const bool sequence : {false, true}) {
        format_ = sequence ? small_dpx("tiny", 17, 9, 10) : small_prores("mini", 64, 36, 5'000);
        const std::string clip = sequence ? "streamsim-media/tiny/12-frames/clip-0001" : dir_ + "clip-0001.mov";
        must_prepare();
        const std::string last = sequence ? clip + "/frame.0000012.dpx" : clip;
        place_.write(last, place_.read(last).replace(fs::file_size(place_.at(last)) - 8, 8, "damaged!"));
        store.on_rename = [&](const std::string& to) {
            if (to.find("clip-0001") != std::string::npos && to.ends_with(".partial"))
                place_.write(sequence ? clip + "/frame.0000002.dpx" : clip, mine);
            return true;
        };
        const auto refused = prepare_now();
        store.on_rename = nullptr;
        ASSERT_FALSE(refused);
        EXPECT_THAT(all_problems(refused.error()), HasSubstr("left alone"));
        const auto files = place_.files();
        EXPECT_TRUE(std::any_of(files.begin(), files.end(),
                                [&](const std::string& file) { return place_.read(file) == mine; }));
        fs::remove_all(place_.at("streamsim-media"));
    }
}

TEST_F(SafePaths, DamagedDocumentsAreNamedWithPlaceAndWhatWasExpected) {
    must_prepare(1);
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"{\"schema", ": byte 9: not JSON: syntax error while parsing object key"},
        {"", ": byte 1: not JSON: syntax error while parsing value - unexpected end of input; expected"},
        {"{}", ": /schema: missing, but required"},
    };
    for (const std::string name : {"streamsim-media.json", "mini/format.json"}) {
        const std::string whole = place_.read("streamsim-media/" + name);
        for (const auto& [text, wanted] : cases) {
            place_.write("streamsim-media/" + name, text);
            const auto refused = prepare_now(1);
            ASSERT_FALSE(refused) << name << text;
            EXPECT_EQ(refused.error().kind, ErrorKind::bad_input);
            EXPECT_THAT(all_problems(refused.error()), HasSubstr(name + wanted));
            EXPECT_THAT(all_problems(refused.error()), ::testing::Not(HasSubstr("exception")));
        }
        place_.write("streamsim-media/" + name, whole);
    }
}

TEST_F(SafePaths, WhatVersionOneMadeIsOursByItsBytes) {
    must_prepare(2);
    format_ = small_dpx("tiny", 17, 9, 10);
    must_prepare(1);
    const auto strip = [&](const std::string& directory) {
        for (const auto& entry : fs::directory_iterator(place_.at(directory)))
            if (entry.path().extension() == ".json") fs::remove(entry.path());
    };
    strip(dir_);
    strip("streamsim-media/tiny/12-frames/");
    EXPECT_EQ(whole_clips(), 1u);
    format_ = small_prores("mini", 64, 36, 5'000);
    EXPECT_EQ(whole_clips(), 2u);
    place_.write(dir_ + "clip-0777.mov", "mine");
    EXPECT_THAT(must_clean().kept, ElementsAre(place_.at(dir_ + "clip-0777.mov")));
}

TEST_F(SafePaths, AnOldClipWithHolesIsNotWhole) {
    format_ = small_prores("mini", 64, 36, 200'000);
    must_prepare(1);
    for (const char* name : {"record-0001.json", "whole-0001.json"}) fs::remove(place_.at(dir_ + name));
    EXPECT_EQ(whole_clips(), 1u);
    const int file = open(place_.at(dir_ + "clip-0001.mov").c_str(), O_WRONLY);
    const bool punched = fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 1 << 20, 1 << 20) == 0;
    close(file);
    if (!punched) GTEST_SKIP() << "no holes on this file system";
    EXPECT_EQ(whole_clips(), 0u);
    must_prepare(1);
    EXPECT_EQ(whole_clips(), 1u);
}

TEST_F(SafePaths, AClipFromABackupPlaysAndStaysAtClean) {
    must_prepare(1);
    const std::string clip = place_.at(dir_ + "clip-0001.mov");
    fs::copy_file(clip, place_.at("backup.mov"));
    fs::rename(place_.at("backup.mov"), clip);
    EXPECT_EQ(whole_clips(), 1u);
    EXPECT_THAT(must_clean().kept, ElementsAre(clip));
}

TEST_F(SafePaths, ACopiedSetIsStillOurs) {
    must_prepare(1);
    fs::copy(place_.at("streamsim-media"), place_.at("copy"), fs::copy_options::recursive);
    fs::remove_all(place_.at("streamsim-media"));
    fs::rename(place_.at("copy"), place_.at("streamsim-media"));
    EXPECT_EQ(whole_clips(), 1u);
    EXPECT_THAT(must_clean().kept, IsEmpty());
}

TEST_F(SafePaths, CleanTakesWhatAPrepareLeftThatWasKilledBeforeTheMarker) {
    place_.write("streamsim-media/streamsim-media.lock", "streamsim lock file, version 1\n");
    place_.write("streamsim-media/streamsim-media.lock.0123456789abcdef.partial", "");
    place_.write("streamsim-media/streamsim-media.json.0123456789abcdef.partial", "");
    EXPECT_TRUE(media_set_is_begun(*store_, place_.at("streamsim-media")));
    EXPECT_EQ(must_clean().files_removed, 1u) << "the lock file goes with the lock that is held";
    EXPECT_FALSE(fs::exists(place_.at("streamsim-media/streamsim-media.json.0123456789abcdef.partial")));
    place_.write("streamsim-media/load-x.lock", "");
    EXPECT_FALSE(media_set_is_begun(*store_, place_.at("streamsim-media"))) << "an empty file is nobody's lock";
    fs::remove(place_.at("streamsim-media/load-x.lock"));
    for (const std::string users : {"streamsim-media/notes", "streamsim-media/load-x.lock"}) {
        place_.write(users, "a user's");
        EXPECT_FALSE(media_set_is_begun(*store_, place_.at("streamsim-media"))) << users;
        const auto refused = clean(*store_, place_.path());
        EXPECT_FALSE(refused) << users;
        EXPECT_EQ(place_.read(users), "a user's");
        fs::remove(place_.at(users));
    }
    fs::remove(place_.at("streamsim-media/streamsim-media.lock"));
    fs::remove(place_.at("streamsim-media/streamsim-media.lock.0123456789abcdef.partial"));
    EXPECT_FALSE(media_set_is_begun(*store_, place_.at("streamsim-media"))) << "an empty directory is nobody's";
}

TEST_F(SafePaths, WhatTookThePlaceOfABegunClipAfterItWasPlannedStays) {
    for (const bool sequence : {false, true}) {
        format_ = sequence ? small_dpx("tiny", 17, 9, 10) : small_prores("mini", 64, 36, 5'000);
        const std::string length = sequence ? "streamsim-media/tiny/12-frames" : dir_;
        const std::string clip = sequence ? "/clip-0001" : "/clip-0001.mov";
        const std::string frame = sequence ? clip + "/frame.0000002.dpx" : clip;
        for (const std::string& exchanged : {std::string(), clip}) {  // the directory of the length, the clip
            must_prepare();
            fs::remove(place_.at(length + "/whole-0001.json"));
            const auto plan = plan_prepare(*store_, request());
            ASSERT_TRUE(plan) << all_problems(plan.error());
            ASSERT_EQ(plan->missing.size(), 1u);
            ASSERT_NE(plan->missing[0].from, "");
            fs::rename(place_.at(length + exchanged), elsewhere_.at("ours"));
            fs::create_directories(fs::path(place_.at(length + frame)).parent_path());
            fs::rename(elsewhere_.at("precious"), place_.at(length + frame));
            PrepareProgress progress;
            const auto done = prepare(*store_, *plan, progress);
            fs::rename(place_.at(length + frame), elsewhere_.at("precious"));
            ASSERT_FALSE(done);
            EXPECT_THAT(all_problems(done.error()), HasSubstr("left alone"));
            fs::remove_all(elsewhere_.at("ours"));
            fs::remove_all(place_.at("streamsim-media"));
        }
    }
}

}  // namespace
}  // namespace streamsim::media
