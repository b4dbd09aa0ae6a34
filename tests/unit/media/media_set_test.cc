#include "media/write/media_set.h"

#include <gmock/gmock.h>

#include <atomic>
#include <filesystem>
#include <set>

#include "media/clips/clip_index.h"
#include "media/write/media_set_names.h"
#include "unit/media/fixtures.h"

namespace streamsim::media {
namespace {

namespace fs = std::filesystem;
using testing::all_problems;
using testing::DirectoryStore;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Place;
using testing::small_dpx;
using testing::small_prores;

class MediaSet : public ::testing::Test {
protected:
    PrepareRequest request(std::uint32_t clips, Duration length = milliseconds(500)) const {
        return {place_.path(), format_, clips, length, 1};
    }
    PreparePlan plan(const PrepareRequest& wanted) {
        auto planned = plan_prepare(store_, wanted);
        if (!planned) ADD_FAILURE() << all_problems(planned.error());
        return std::move(*planned);
    }
    void prepare_all(const PrepareRequest& wanted) {
        PrepareProgress progress;
        const PreparePlan planned = plan(wanted);
        const auto done = prepare(store_, planned, progress);
        ASSERT_TRUE(done) << all_problems(done.error());
        EXPECT_EQ(progress.bytes_done, progress.bytes_total);
        EXPECT_EQ(progress.clips_done, planned.missing.size());
    }
    std::vector<Clip> complete(std::optional<Duration> length = std::nullopt) {
        auto clips = complete_clips(store_, place_.path(), format_, length);
        if (clips) return std::move(*clips);
        ADD_FAILURE() << all_problems(clips.error());
        return {};
    }

    /// The one that there is, without the place's path.
    std::string unfinished() const {
        std::string found;
        for (const auto& entry : fs::directory_iterator(place_.at(dir_))) {
            const std::string name = entry.path().filename();
            if (!name.ends_with(".partial")) continue;
            EXPECT_EQ(found, "");
            found = dir_ + name;
        }
        return found;
    }

    Place place_;
    DirectoryStore store_;
    MediaFormat format_ = small_dpx("tiny", 17, 9, 10);
    const std::string dir_ = "streamsim-media/tiny/12-frames/";
};

TEST_F(MediaSet, LengthsThatNoStorageHoldsAreRefusedBeforeAFrameIsPlanned) {
    const auto problem = [&](std::int64_t hours) {
        const auto planned = plan_prepare(store_, request(1, seconds(3600 * hours)));
        return planned ? std::string() : all_problems(planned.error());
    };
    store_.free = 1'000'000'000'000'000;
    EXPECT_THAT(problem(1'000'000), HasSubstr("a clip of 86,400,000,000 frames is longer than the 10,000,000"));
    store_.free = 1'000'000;
    for (const std::int64_t hours : {100, 1'000'000, 2'000'000})
        EXPECT_THAT(problem(hours), HasSubstr("not enough space for 1 clip of tiny: about"));
}

TEST_F(MediaSet, ADirectoryOfMoreFramesThanAClipCanHaveIsNotOurs) {
    prepare_all(request(1));
    for (const char* length : {"4000000000-frames", "18446744073709551615-frames", "10000001-frames"}) {
        fs::create_directories(place_.at("streamsim-media/tiny/" + std::string(length) + "/clip-0001"));
        fs::copy(place_.at(dir_ + "clip-0001"),
                 place_.at("streamsim-media/tiny/" + std::string(length) + "/clip-0001"));
    }
    EXPECT_EQ(complete().size(), 1u);
    EXPECT_FALSE(length_in("10000001-frames"));
    EXPECT_EQ(length_in("10000000-frames"), 10'000'000u);
}

TEST_F(MediaSet, AClipIsAsYoungAsItsLastFrame) {
    prepare_all(request(1));
    store_.tells_times = true;
    const std::string clip = place_.at(dir_ + "clip-0001");
    std::string last;
    for (const auto& frame : fs::directory_iterator(clip)) {
        if (frame.path().extension() != ".dpx") continue;
        fs::last_write_time(frame, fs::file_time_type::clock::now() - std::chrono::hours(90));
        last = std::max(last, frame.path().string());
    }
    fs::last_write_time(last, fs::file_time_type::clock::now() - std::chrono::hours(3));
    EXPECT_EQ(complete().at(0).touched_s, store_.stat(last).value()->modified_s);
}

TEST_F(MediaSet, PreparesWhatIsMissingAndNoMore) {
    EXPECT_THAT(complete(), IsEmpty());
    const PreparePlan first = plan(request(2));
    EXPECT_EQ(first.frames, 12u);
    EXPECT_EQ(first.missing.size(), 2u);
    EXPECT_EQ(first.bytes_to_write, 24u * (8192 + 17 * 4 * 9));
    prepare_all(request(2));
    const auto clips = complete();
    ASSERT_EQ(clips.size(), 2u);
    EXPECT_EQ(clips[0].name, "streamsim-media/tiny/12-frames/clip-0001");
    EXPECT_EQ(clips[0].format, "tiny");
    EXPECT_TRUE(clips[0].ours);
    EXPECT_EQ(clips[0].index->count(), 12u);
    EXPECT_EQ(clips[0].index->extent(0).bytes, static_cast<std::uint64_t>(format_.mean_frame_bytes));
    EXPECT_TRUE(plan(request(2)).nothing_to_do());
    EXPECT_EQ(plan(request(3)).missing.size(), 1u);
    EXPECT_EQ(plan(request(3)).missing[0].number, 3u);
}

TEST_F(MediaSet, EveryFrameIsItsOwnAndReadsAsWhatItIs) {
    prepare_all(request(2));
    std::set<std::string> images;
    for (const std::string& file : place_.files()) {
        if (!file.ends_with(".dpx")) continue;
        const std::string bytes = place_.read(file);
        images.insert(bytes.substr(8192));
        for (std::size_t at = 8192 + 3; at < bytes.size(); at += 4) ASSERT_EQ(bytes[at] & 3, 0) << file;
        const std::string name = fs::path(file).filename();
        EXPECT_EQ(std::count_if(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; }), 7)
            << name;
    }
    EXPECT_EQ(images.size(), 24u);
}

TEST_F(MediaSet, TwoMediaSetsHaveNothingInCommon) {
    prepare_all(request(1));
    const std::string first = place_.read(dir_ + "clip-0001/frame.0000001.dpx");
    fs::remove_all(place_.at("streamsim-media"));
    prepare_all(request(1));
    const std::string second = place_.read(dir_ + "clip-0001/frame.0000001.dpx");
    EXPECT_EQ(first.substr(0, 8192), second.substr(0, 8192));
    EXPECT_NE(first.substr(8192), second.substr(8192));
}

TEST_F(MediaSet, LengthsLiveSideBySide) {
    prepare_all(request(1));
    prepare_all(request(1, seconds(1)));
    EXPECT_EQ(complete().size(), 2u);
    EXPECT_EQ(complete(seconds(1)).size(), 1u);
    EXPECT_EQ(complete(seconds(1))[0].index->count(), 24u);
    PrepareRequest any = request(2);
    any.clip_duration = std::nullopt;
    EXPECT_TRUE(plan(any).nothing_to_do());
    any.clips = 3;
    EXPECT_EQ(plan(any).frames, 240u);  // a new one is 10 s long
}

TEST_F(MediaSet, FormatsOfOneNameAreNotTakenForEachOther) {
    prepare_all(request(1));
    format_ = small_dpx("tiny", 18, 9, 10);
    EXPECT_THAT(complete(), IsEmpty());
    prepare_all(request(1));
    ASSERT_EQ(complete().size(), 1u);
    EXPECT_EQ(complete()[0].name, "streamsim-media/tiny-2/12-frames/clip-0001");
    format_ = small_dpx("tiny", 17, 9, 10);
    EXPECT_EQ(complete()[0].name, "streamsim-media/tiny/12-frames/clip-0001");
}

TEST_F(MediaSet, FramesThatAreDeletedAreMissingAndTheClipIsNotShorter) {
    prepare_all(request(1));
    fs::remove(place_.at(dir_ + "clip-0001/frame.0000001.dpx"));
    fs::remove(place_.at(dir_ + "clip-0001/frame.0000012.dpx"));
    const auto clips = complete();
    ASSERT_EQ(clips.size(), 1u);
    EXPECT_EQ(clips[0].index->count(), 12u);
    EXPECT_EQ(clips[0].index->frame_number(0), 1u);
    EXPECT_THAT(clips[0].notes, ElementsAre("2 frame numbers are missing: 1, 12"));
}

TEST_F(MediaSet, AClipWithoutFramesIsMadeAgainAndKeepsNoOtherFromPlaying) {
    prepare_all(request(2));
    for (const std::string& file : place_.files())
        if (file.starts_with(dir_ + "clip-0001/")) fs::remove(place_.at(file));
    const auto clips = complete();
    ASSERT_EQ(clips.size(), 1u);
    EXPECT_THAT(clips[0].name, HasSubstr("clip-0002"));
    EXPECT_THAT(plan(request(1)).notes, ElementsAre(HasSubstr("whole: none of its frames is left")));
    prepare_all(request(2));
    EXPECT_EQ(complete().size(), 2u);
}

TEST_F(MediaSet, AnyRateIsKeptExactly) {
    for (const FrameRate rate : {FrameRate{100, 7}, FrameRate{24000, 1001}, FrameRate{5000, 1}}) {
        format_ = small_dpx("tiny", 4, 4, 10, rate);
        prepare_all(request(1, rate.due(3)));
        ASSERT_EQ(complete().size(), 1u);
        EXPECT_EQ(complete()[0].index->rate(), rate);
        EXPECT_THAT(complete()[0].notes, IsEmpty());
    }
}

TEST_F(MediaSet, CancelLeavesWhatTheNextPrepareCompletes) {
    std::atomic<int> writes{0};
    PrepareProgress progress;
    store_.on_write = [&](const std::string& path) {
        if (path.ends_with(".dpx") && ++writes == 9) progress.cancel = true;
    };
    const auto done = prepare(store_, plan(request(1)), progress);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, ErrorKind::interrupted);
    EXPECT_THAT(complete(), IsEmpty());
    const std::string kept = place_.read(unfinished() + "/frame.0000003.dpx");

    store_.on_write = nullptr;
    const PreparePlan rest = plan(request(1));
    EXPECT_EQ(rest.bytes_to_write, 3u * static_cast<std::uint64_t>(format_.mean_frame_bytes));
    int written = 0;
    store_.on_write = [&](const std::string& path) { written += path.ends_with(".dpx") ? 1 : 0; };
    prepare_all(request(1));
    EXPECT_EQ(written, 3);
    EXPECT_EQ(place_.read(dir_ + "clip-0001/frame.0000003.dpx"), kept);
    EXPECT_EQ(complete().size(), 1u);
}

TEST_F(MediaSet, AStrayFileInAnUnfinishedSequenceDoesNotMakeItsFramesSomebodyElses) {
    std::atomic<int> writes{0};
    PrepareProgress progress;
    store_.on_write = [&](const std::string& path) {
        if (path.ends_with(".dpx") && ++writes == 9) progress.cancel = true;
    };
    EXPECT_FALSE(prepare(store_, plan(request(1)), progress));
    store_.on_write = nullptr;
    const std::string stray = unfinished() + "/.DS_Store";
    place_.write(stray, "stray");
    const PreparePlan next = plan(request(1));
    EXPECT_THAT(next.notes, ElementsAre(HasSubstr("is not continued")));
    EXPECT_THAT(next.missing, ElementsAre(::testing::Field(&PlannedClip::number, 2u)));
    prepare_all(request(1));
    EXPECT_EQ(complete().size(), 1u);
    fs::remove(place_.at(stray));
    const auto report = clean(store_, place_.path());
    ASSERT_TRUE(report) << all_problems(report.error());
    EXPECT_THAT(report->kept, IsEmpty());
    EXPECT_FALSE(fs::exists(place_.at("streamsim-media")));
}

TEST_F(MediaSet, FramesThatAreWrongAreWrittenAgain) {
    prepare_all(request(1));
    std::vector<std::string> whole;
    for (int i = 1; i <= 12; ++i)
        whole.push_back(place_.read(dir_ + "clip-0001/" + "frame.00000" + (i < 10 ? "0" : "") +
                                    std::to_string(i) + ".dpx"));
    fs::rename(place_.at(dir_ + "clip-0001"), place_.at(dir_ + "clip-0001.partial"));
    const std::string at = dir_ + "clip-0001.partial/";
    place_.write(at + "frame.0000002.dpx", whole[1].substr(0, 5000));            // cut
    place_.write(at + "frame.0000003.dpx", std::string(whole[2].size(), '\0'));  // never reached the disk
    place_.write(at + "frame.0000004.dpx", whole[3].substr(0, 8192) + whole[4].substr(8192));  // another image
    place_.write(at + "frame.0000005.dpx", whole[4].substr(0, whole[4].size() - 64) + std::string(64, '\0'));
    place_.write(at + "frame.0000006.dpx",
                 std::string(800, '\0') + whole[5].substr(800));  // without its header
    prepare_all(request(1));
    for (int i = 1; i <= 12; ++i) {
        const std::string name = std::string("frame.00000") + (i < 10 ? "0" : "") + std::to_string(i) + ".dpx";
        EXPECT_EQ(place_.read(dir_ + "clip-0001/" + name), whole[static_cast<std::size_t>(i - 1)]) << name;
    }
}

TEST_F(MediaSet, AFrameWhoseComparisonWasCancelledIsNotTakenAsWhole) {
    prepare_all(request(1));
    const std::string whole = place_.read(dir_ + "clip-0001/frame.0000012.dpx");
    fs::rename(place_.at(dir_ + "clip-0001"), place_.at(dir_ + "clip-0001.partial"));
    std::string damaged = whole;
    damaged.replace(8192 + 200, 64, 64, '\0');  // within the image
    place_.write(dir_ + "clip-0001.partial/frame.0000012.dpx", damaged);
    PrepareProgress progress;
    const PreparePlan planned = plan(request(1));
    store_.on_open = [&](const std::string& path) -> std::optional<Error> {
        if (path.ends_with("frame.0000012.dpx")) progress.cancel = true;
        return std::nullopt;
    };
    const auto done = prepare(store_, planned, progress);
    store_.on_open = nullptr;
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, ErrorKind::interrupted);
    EXPECT_THAT(complete(), IsEmpty());
    prepare_all(request(1));
    EXPECT_EQ(place_.read(dir_ + "clip-0001/frame.0000012.dpx"), whole);
    EXPECT_EQ(complete().size(), 1u);
}

/// A kill is a rename that never happened: at each of them, what is there must not play as whole.
TEST_F(MediaSet, AKillAtAnyRenameIsCompletedByTheNextPrepare) {
    for (int survive = 0;; ++survive) {
        const Place place;
        DirectoryStore dying;
        std::atomic<int> renames = 0;
        dying.on_rename = [&](const std::string&) { return renames++ < survive; };
        const PrepareRequest wanted{place.path(), format_, 2, milliseconds(500), 1};
        PrepareProgress progress;
        const auto planned = plan_prepare(dying, wanted);
        ASSERT_TRUE(planned);
        if (prepare(dying, *planned, progress)) {
            EXPECT_EQ(survive,
                      9);  // marker, format, its directory; of two clips the record, the sums and the clip
            break;
        }
        const auto now = complete_clips(store_, place.path(), format_, std::nullopt);
        ASSERT_TRUE(now) << all_problems(now.error());
        EXPECT_LT(now->size(), 2u);
        for (const Clip& clip : *now) EXPECT_TRUE(clip.notes.empty());
        PrepareProgress again;
        const auto rest = plan_prepare(store_, wanted);
        ASSERT_TRUE(rest) << all_problems(rest.error());
        const auto done = prepare(store_, *rest, again);
        ASSERT_TRUE(done) << all_problems(done.error());
        EXPECT_EQ(complete_clips(store_, place.path(), format_, std::nullopt)->size(), 2u);
    }
}

TEST_F(MediaSet, SpaceIsCheckedBefore) {
    store_.free = 24 * 8804;  // exactly the media: nothing to spare
    const auto planned = plan_prepare(store_, request(2));
    ASSERT_FALSE(planned);
    EXPECT_EQ(planned.error().kind, ErrorKind::environment);
    EXPECT_THAT(planned.error().problems.front(), HasSubstr("not enough space for 2 clips of tiny"));
    EXPECT_THAT(planned.error().problems.front(), HasSubstr("213408 bytes"));
    EXPECT_THAT(planned.error().problems.front(), HasSubstr("211296 bytes"));
    EXPECT_THAT(place_.files(), IsEmpty());
}

TEST_F(MediaSet, ADiskThatFillsUpIsNamed) {
    const PreparePlan planned = plan(request(2));
    store_.room = 100'000;
    PrepareProgress progress;
    const auto done = prepare(store_, planned, progress);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, ErrorKind::environment);
    EXPECT_THAT(done.error().problems.front(), HasSubstr(".dpx: No space left on device"));
    EXPECT_THAT(complete(), IsEmpty());
    store_.room = UINT64_MAX;
    prepare_all(request(2));
    EXPECT_EQ(complete().size(), 2u);
}

TEST_F(MediaSet, AContainerIsPreparedAndCompletedToo) {
    format_ = small_prores("mini", 64, 36, 5'000);
    std::atomic<int> writes{0};
    PrepareProgress progress;
    store_.on_write = [&](const std::string& path) {
        const bool clip = path.ends_with(".partial") && path.find(".mov.") != std::string::npos;
        if (clip && ++writes == 1) progress.cancel = true;
    };
    EXPECT_FALSE(prepare(store_, plan(request(2, seconds(4))), progress));
    EXPECT_THAT(complete(), IsEmpty());
    store_.on_write = nullptr;
    prepare_all(request(2, seconds(4)));
    const auto clips = complete();
    ASSERT_EQ(clips.size(), 2u);
    EXPECT_EQ(clips[1].name, "streamsim-media/mini/120-frames/clip-0002.mov");
    EXPECT_EQ(clips[1].index->count(), 120u);
    EXPECT_THAT(place_.files(), ::testing::SizeIs(8));  // marker, format, clips, two documents of each
}

TEST_F(MediaSet, AnUnfinishedContainerCountsAsFreeSpaceForItself) {
    format_ = small_prores("mini", 64, 36, 5'000);
    const PrepareRequest wanted = request(1, seconds(4));
    std::atomic<int> writes{0};
    PrepareProgress progress;
    store_.on_write = [&](const std::string& path) {
        if (path.find(".mov.") != std::string::npos && ++writes == 100) progress.cancel = true;
    };
    EXPECT_FALSE(prepare(store_, plan(wanted), progress));
    store_.on_write = nullptr;
    const PreparePlan rest = plan(wanted);
    ASSERT_EQ(rest.missing.size(), 1u);
    EXPECT_EQ(rest.bytes_freed, fs::file_size(rest.missing[0].from));
    EXPECT_GT(rest.bytes_freed, 400'000u);
    store_.free = rest.bytes_added() + rest.bytes_added() / 100;
    EXPECT_LT(store_.free, rest.bytes_to_write / 2);
    EXPECT_TRUE(plan_prepare(store_, wanted));
    --store_.free;
    EXPECT_FALSE(plan_prepare(store_, wanted));
}

TEST_F(MediaSet, DamagedClipsCountAsFreeSpaceForThemselvesAndForNoOthers) {
    format_ = small_prores("mini", 64, 36, 5'000);
    prepare_all(request(1, seconds(4)));
    const std::string clip = "streamsim-media/mini/120-frames/clip-0001.mov";
    place_.write(clip, place_.read(clip) + std::string(1'000'000, 'x'));
    store_.free = 0;
    EXPECT_EQ(plan(request(1, seconds(4))).bytes_added(), 0u);
    EXPECT_FALSE(plan_prepare(store_, request(2, seconds(4))));

    store_.free = UINT64_MAX / 2;
    format_ = small_dpx("tiny", 17, 9, 10);
    prepare_all(request(1));
    fs::rename(place_.at(dir_ + "clip-0001"), place_.at(dir_ + "clip-0001.partial"));
    fs::resize_file(place_.at(dir_ + "clip-0001.partial/frame.0000002.dpx"), 5000);
    fs::resize_file(place_.at(dir_ + "clip-0001.partial/frame.0000003.dpx"), 50'000);
    const PreparePlan rest = plan(request(1));
    const auto frame_bytes = static_cast<std::uint64_t>(format_.mean_frame_bytes);
    EXPECT_EQ(rest.bytes_to_write, 2 * frame_bytes);
    EXPECT_EQ(rest.bytes_freed, 5000 + frame_bytes);
}

TEST_F(MediaSet, ForeignDirectoriesAreLeftAlone) {
    EXPECT_EQ(plan_prepare(store_, {place_.at("nowhere"), format_, 1, std::nullopt, 1}).error().kind,
              ErrorKind::environment);
    place_.write("streamsim-media/holiday.mov", "mine");
    EXPECT_THAT(plan_prepare(store_, request(1)).error().problems.front(),
                HasSubstr("streamsim did not make it"));
    EXPECT_THAT(clean(store_, place_.path()).error().problems.front(), HasSubstr("streamsim did not make it"));
    EXPECT_EQ(clean(store_, place_.path()).error().kind, ErrorKind::bad_input);
    place_.write("streamsim-media/streamsim-media.json",
                 R"({"schema": "streamsim.media-set", "version": 1, "id": 7})");
    EXPECT_THAT(clean(store_, place_.path()).error().problems.front(), HasSubstr("/id: expected"));
    EXPECT_EQ(place_.read("streamsim-media/holiday.mov"), "mine");
}

TEST_F(MediaSet, CleanRemovesAllThatPrepareMade) {
    place_.write("notes.txt", "mine");
    prepare_all(request(2));
    format_ = small_prores("mini", 64, 36, 5'000);
    prepare_all(request(1));
    const std::string at = "streamsim-media/tiny/12-frames/";
    fs::rename(place_.at(at + "clip-0002"), place_.at(at + "clip-0002.0123456789abcdef.partial"));
    const auto report = clean(store_, place_.path());
    ASSERT_TRUE(report) << all_problems(report.error());
    EXPECT_THAT(report->kept, IsEmpty());
    EXPECT_EQ(report->files_removed, 24u + 1 + 3 + 6);  // frames, container, marker and formats, records
    EXPECT_GT(report->bytes_removed, 24u * 8192);
    EXPECT_THAT(place_.files(), ElementsAre("notes.txt"));
    EXPECT_FALSE(fs::exists(place_.at("streamsim-media")));
    EXPECT_THAT(clean(store_, place_.path()).error().problems.front(), HasSubstr("nothing to remove"));
}

TEST_F(MediaSet, ACleanThatIsStoppedLeavesWhatTheNextPrepareCompletes) {
    prepare_all(request(2));
    std::atomic<bool> stop{false};
    store_.on_rename = [&stop](const std::string& to) {
        stop = stop || to.find("clip-0002.") != std::string::npos;
        return true;
    };
    const auto stopped = clean(store_, place_.path(), &stop);
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().kind, ErrorKind::interrupted);
    EXPECT_THAT(complete(), IsEmpty());
    EXPECT_TRUE(fs::exists(place_.at(unfinished() + "/frame.0000012.dpx")));
    store_.on_rename = nullptr;
    EXPECT_EQ(plan(request(1)).bytes_to_write, 0u) << "no frame of the second clip was removed";
    EXPECT_EQ(plan(request(1)).bytes_to_check, 12u * static_cast<std::uint64_t>(format_.mean_frame_bytes));
    prepare_all(request(2));
    EXPECT_EQ(complete().size(), 2u);
    const auto report = clean(store_, place_.path());
    ASSERT_TRUE(report) << all_problems(report.error());
    EXPECT_THAT(report->kept, IsEmpty());
    EXPECT_FALSE(fs::exists(place_.at("streamsim-media")));
}

TEST_F(MediaSet, AStoppedCleanChangesNothingMoreWhereverItIs) {
    for (int last = 1;; ++last) {
        prepare_all(request(2, milliseconds(125)));
        std::atomic<bool> stop{false};
        int changes = 0;
        const auto note_change = [&] { stop = ++changes >= last; };
        store_.on_rename = [&](const std::string& to) {
            if (to.ends_with(".partial")) note_change();  // else a directory gets its name back
            return true;
        };
        store_.on_remove = [&](const std::string& path) -> std::optional<Error> {
            if (!fs::is_directory(path)) note_change();
            return std::nullopt;
        };
        const auto cleaned = clean(store_, place_.path(), &stop);
        store_.on_rename = nullptr;
        store_.on_remove = nullptr;
        ASSERT_EQ(changes, last) << (cleaned ? "cleaned" : all_problems(cleaned.error()));
        if (cleaned) break;  // the last change of all
        EXPECT_EQ(cleaned.error().kind, ErrorKind::interrupted);
        ASSERT_TRUE(clean(store_, place_.path()));
        ASSERT_FALSE(fs::exists(place_.at("streamsim-media")));
    }
}

TEST_F(MediaSet, CleanKeepsAndNamesWhatIsNotItsOwn) {
    const Place elsewhere;
    elsewhere.write("frame.0000001.dpx", "precious");
    elsewhere.write("format.json", "precious");
    prepare_all(request(2));
    place_.write(dir_ + "clip-0001/grade.xml", "mine");
    place_.write("streamsim-media/extra/film.mov", "mine");
    fs::create_directory_symlink(elsewhere.path(), place_.at(dir_ + "clip-0009"));
    fs::create_directory_symlink(elsewhere.path(), place_.at("streamsim-media/dpx10"));
    const auto report = clean(store_, place_.path());
    ASSERT_TRUE(report) << all_problems(report.error());
    EXPECT_THAT(report->kept,
                ElementsAre(place_.at("streamsim-media/dpx10"), place_.at("streamsim-media/extra"),
                            place_.at(unfinished() + "/grade.xml"), place_.at(dir_ + "clip-0009")));
    EXPECT_EQ(report->files_removed, 24u + 2);  // and the records of the second clip
    EXPECT_EQ(elsewhere.read("frame.0000001.dpx"), "precious");
    EXPECT_EQ(elsewhere.read("format.json"), "precious");
    EXPECT_EQ(place_.read("streamsim-media/extra/film.mov"), "mine");
    EXPECT_THAT(complete(), IsEmpty());

    fs::remove_all(place_.at("streamsim-media/extra"));
    fs::remove(place_.at("streamsim-media/dpx10"));
    fs::remove(place_.at(dir_ + "clip-0009"));
    fs::remove(place_.at(unfinished() + "/grade.xml"));
    EXPECT_THAT(clean(store_, place_.path())->kept, IsEmpty());
    EXPECT_FALSE(fs::exists(place_.at("streamsim-media")));
}

TEST_F(MediaSet, SaysOfWhichFormatsItHoldsClips) {
    const auto formats = [this] {
        std::vector<std::string> names;
        const auto found = formats_in_set(store_, place_.path());
        for (const MediaFormat& format : found.value()) names.push_back(format.name);
        return names;
    };
    EXPECT_THAT(formats(), IsEmpty());
    prepare_all(request(1));
    fs::create_directories(place_.at("streamsim-media/recordings/tiny"));
    EXPECT_THAT(formats(), ElementsAre("tiny"));
    format_ = small_prores("p", 64, 36, 5000);
    prepare_all(request(1));
    EXPECT_THAT(formats(), ElementsAre("p", "tiny"));
    fs::remove(place_.at(dir_ + "../format.json"));
    EXPECT_THAT(formats(), ElementsAre("p")) << "nobody knows the format of the other";
    fs::remove(place_.at("streamsim-media/streamsim-media.json"));
    EXPECT_THAT(formats_in_set(store_, place_.path()).error().problems.front(), HasSubstr("did not make it"));
}

TEST_F(MediaSet, ALinkInPlaceOfTheSetIsNotCleaned) {
    prepare_all(request(1));
    const Place other;
    fs::create_directory_symlink(place_.at("streamsim-media"), other.at("streamsim-media"));
    EXPECT_THAT(clean(store_, other.path()).error().problems.front(), HasSubstr("symbolic link"));
    EXPECT_EQ(complete().size(), 1u);
}

TEST_F(MediaSet, AKillDuringCleanLeavesNothingThatPlaysAsWhole) {
    prepare_all(request(1));
    store_.on_rename = [](const std::string&) { return false; };
    EXPECT_FALSE(clean(store_, place_.path()));
    EXPECT_EQ(complete().size(), 1u);  // not a frame is gone
    EXPECT_TRUE(complete()[0].notes.empty());
}

}  // namespace
}  // namespace streamsim::media
