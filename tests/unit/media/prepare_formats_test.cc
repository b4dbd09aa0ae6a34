// prepare and clean with formats whose frames differ in size, and with formats that cannot be made.
#include <gmock/gmock.h>

#include <filesystem>
#include <mutex>
#include <set>

#include "media/catalogue/frame_sizes.h"
#include "media/clips/planned_index.h"
#include "media/frames/frame_maker.h"
#include "media/write/media_set.h"
#include "media/write/media_set_names.h"
#include "unit/media/prepared_formats.h"

namespace streamsim::media {
namespace {

namespace fs = std::filesystem;
using testing::all_problems;
using testing::Container;
using testing::DirectoryStore;
using ::testing::ElementsAre;
using testing::format_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Place;
using testing::with_scenes;

class PrepareFormats : public ::testing::Test {
protected:
    PreparePlan plan(const MediaFormat& format, std::uint64_t frames = 12) {
        auto planned = plan_prepare(store_, {place_.path(), format, 1, format.rate.due(frames), 1});
        if (!planned) ADD_FAILURE() << all_problems(planned.error());
        return std::move(*planned);
    }
    std::string text(const std::string& name) { return place_.read(dir_ + name); }

    Place place_;
    DirectoryStore store_;
    MediaFormat zip_ = with_scenes(format_of("exr", "zip", Container::sequence, 64, 40));
    const std::string dir_ = "streamsim-media/exr-zip/12-frames/";
};

TEST_F(PrepareFormats, ASequenceWhoseFramesDifferIsPlayedAsPlanned) {
    testing::prepare_clip(store_, place_, zip_, 12);
    const Clip clip = testing::prepared_clip(store_, place_, zip_);
    ASSERT_TRUE(clip.index);
    const auto planned = planned_index(zip_, 12, 1, 1, "x");
    std::set<std::uint64_t> sizes;
    for (std::uint64_t i = 0; i < 12; ++i) {
        EXPECT_EQ(clip.index->extent(i).bytes, planned->extent(i).bytes);
        EXPECT_EQ(text(fs::path(testing::path_of(*clip.index, i)).lexically_relative(place_.at(dir_)).string())
                      .size(),
                  planned->extent(i).bytes);
        sizes.insert(planned->extent(i).bytes);
    }
    EXPECT_GT(sizes.size(), 6u);
    EXPECT_EQ(clip.index->largest_frame_bytes(), *sizes.rbegin());
    EXPECT_EQ(planned->largest_frame_bytes(), *sizes.rbegin());
    EXPECT_THAT(testing::path_of(*planned, 0), "x/frame.0000001.exr");
}

TEST_F(PrepareFormats, AnInterruptedSequenceOfManySizesIsCompleted) {
    PrepareProgress progress;
    store_.on_write = [&](const std::string& path) {
        if (path.ends_with("frame.0000006.exr")) progress.cancel = true;
    };
    const auto stopped = prepare(store_, plan(zip_), progress);
    ASSERT_FALSE(stopped);
    store_.on_write = nullptr;
    EXPECT_TRUE(complete_clips(store_, place_.path(), zip_, std::nullopt)->empty());
    std::string begun;
    for (const auto& entry : fs::directory_iterator(place_.at(dir_)))
        if (entry.path().extension() == ".partial") begun = entry.path().string() + "/";
    EXPECT_TRUE(fs::exists(begun + "frame.0000006.exr"));

    // One that is cut is not there; one of the right length whose end was never written is made again.
    fs::resize_file(begun + "frame.0000002.exr", 100);
    const std::string third = begun + "frame.0000003.exr";
    const auto bytes = fs::file_size(third);
    fs::resize_file(third, bytes - 1000);
    fs::resize_file(third, bytes);
    const auto sizes = plan_frame_bytes(zip_, 12, 1, 1);
    const PreparePlan rest = plan(zip_);
    std::uint64_t missing = 0;
    for (const std::size_t i : {1u, 6u, 7u, 8u, 9u, 10u, 11u}) missing += sizes[i];
    EXPECT_EQ(rest.bytes_to_write, missing);

    std::set<std::string> written;
    std::mutex mutex;
    store_.on_write = [&](const std::string& path) {
        const std::lock_guard lock(mutex);
        if (path.ends_with(".exr")) written.insert(fs::path(path).filename());
    };
    PrepareProgress again;
    const auto done = prepare(store_, rest, again);
    ASSERT_TRUE(done) << all_problems(done.error());
    EXPECT_EQ(again.bytes_done, again.bytes_total);
    EXPECT_EQ(again.bytes_done, missing + sizes[2]);
    EXPECT_EQ(written.size(), 8u);
    EXPECT_TRUE(written.contains("frame.0000003.exr"));
    const auto maker = make_frame_maker(zip_, 12);
    EXPECT_EQ(fs::file_size(place_.at(dir_ + "clip-0001/frame.0000003.exr")), sizes[2]);
    EXPECT_EQ(testing::prepared_clip(store_, place_, zip_).index->count(), 12u);
}

TEST_F(PrepareFormats, AMissingFrameKeepsItsSlot) {
    testing::prepare_clip(store_, place_, zip_, 12);
    fs::remove(place_.at(dir_ + "clip-0001/frame.0000004.exr"));
    const Clip clip = testing::prepared_clip(store_, place_, zip_);
    EXPECT_EQ(clip.index->count(), 12u);
    EXPECT_FALSE(clip.index->listed(3));
    EXPECT_TRUE(clip.index->listed(4));
    EXPECT_GT(clip.index->extent(3).bytes, 0u);
    EXPECT_THAT(clip.notes, ElementsAre("1 frame number is missing: 4"));
}

TEST_F(PrepareFormats, AnInterruptedContainerNeverPlaysAndIsMadeAnew) {
    for (const auto& [codec, profile, container, extension] :
         {std::tuple{"dnxhr", "lb", Container::mxf, ".mxf"},
          {"h264", "long-gop", Container::mp4, ".mp4"},
          {"v210", "", Container::quicktime, ".mov"}}) {
        const MediaFormat format = format_of(codec, profile, container, 256, 120, {25, 1});
        PrepareProgress progress;
        int writes = 0;
        store_.on_write = [&](const std::string& path) {
            if (path.find(format.name) != std::string::npos && path.find("clip") != std::string::npos &&
                ++writes == 2)
                progress.cancel = true;
        };
        EXPECT_FALSE(prepare(store_, plan(format, 50), progress)) << format.name;
        store_.on_write = nullptr;
        EXPECT_TRUE(complete_clips(store_, place_.path(), format, std::nullopt)->empty());
        testing::prepare_clip(store_, place_, format, 50);
        const Clip clip = testing::prepared_clip(store_, place_, format);
        ASSERT_TRUE(clip.index);
        EXPECT_EQ(clip.index->count(), 50u);
        EXPECT_TRUE(clip.name.ends_with(std::string("clip-0001") + extension)) << clip.name;
    }
    const auto cleaned = clean(store_, place_.path());
    ASSERT_TRUE(cleaned);
    EXPECT_THAT(cleaned->kept, IsEmpty());
    EXPECT_THAT(place_.files(), IsEmpty());
}

TEST_F(PrepareFormats, CleanRemovesFramesOfEveryKindAndNothingElse) {
    for (const char* codec : {"tiff", "cineon", "exr"}) {
        const char* const profile = std::string(codec) == "exr" ? "none" : "";
        testing::prepare_clip(store_, place_, format_of(codec, profile, Container::sequence, 16, 9), 2);
    }
    place_.write("streamsim-media/tiff/2-frames/clip-0001/frame.0000001.png", "mine");
    auto cleaned = clean(store_, place_.path());
    ASSERT_TRUE(cleaned);
    EXPECT_THAT(cleaned->kept, ElementsAre(HasSubstr("frame.0000001.png")));
    fs::remove(cleaned->kept.front());
    cleaned = clean(store_, place_.path());
    ASSERT_TRUE(cleaned);
    EXPECT_THAT(place_.files(), IsEmpty());
}

/// Their headers state the length that they were to have.
TEST_F(PrepareFormats, FramesThatEndEarlyAreOurs) {
    for (const char* codec : {"tiff", "cineon"}) {
        MediaFormat format = format_of(codec, "", Container::sequence, 64, 40);
        format.size.mean_bytes += 1000;
        format.mean_frame_bytes += 1000;
        testing::prepare_clip(store_, place_, format, 12);
        const std::string clip = place_.at("streamsim-media/" + format.name + "/12-frames/clip-0001");
        const std::string frame = "/frame.0000003." + std::string(frame_extension(format));
        const std::uint64_t bytes = fs::file_size(clip + frame);
        const std::string begun = clip + ".0123456789abcdef.partial";
        fs::rename(clip, begun);
        fs::resize_file(begun + frame, bytes / 2);
        EXPECT_THAT(plan(format).notes, IsEmpty()) << codec;
        testing::prepare_clip(store_, place_, format, 12);
        EXPECT_FALSE(fs::exists(begun)) << codec;
        EXPECT_EQ(fs::file_size(clip + frame), bytes);
        fs::resize_file(clip + frame, bytes / 2);
    }
    const auto cleaned = clean(store_, place_.path());
    ASSERT_TRUE(cleaned);
    EXPECT_THAT(cleaned->kept, IsEmpty());
}

TEST_F(PrepareFormats, WhatCannotBeMadeIsSaidBeforeAnythingIsWritten) {
    const auto problem_of = [&](const MediaFormat& format) {
        const auto planned = plan_prepare(store_, {place_.path(), format, 1, format.rate.due(3), 1});
        if (!planned) return all_problems(planned.error());
        PrepareProgress progress;
        const auto done = prepare(store_, *planned, progress);
        EXPECT_FALSE(done);
        EXPECT_EQ(done.error().kind, ErrorKind::bad_input);
        return all_problems(done.error());
    };
    EXPECT_THAT(
        problem_of(format_of("dnxhr", "sq", Container::mxf, 1920, 1080, {24, 1}, 1'000)),
        HasSubstr("dnxhr-sq: frame 0 is to have 1000 bytes, and a dnxhr frame of 1920x1080 has at least"));
    EXPECT_THAT(problem_of(format_of("v210", "", Container::quicktime, 48, 2, {24, 1}, 300)),
                HasSubstr("has exactly 256"));
    EXPECT_THAT(problem_of(format_of("exr", "b44", Container::sequence, 48, 2, {24, 1}, 3000)),
                HasSubstr("/profile: prepare makes EXR with the compression none, zip, piz or dwaa, not b44"));
    EXPECT_THAT(problem_of(format_of("dnxhr", "hd", Container::mxf, 1920, 1080)), HasSubstr("found hd"));
    EXPECT_THAT(problem_of(format_of("h264", "baseline", Container::mp4, 320, 176)),
                HasSubstr("found baseline"));
    EXPECT_THAT(problem_of(format_of("r3d", "", Container::quicktime, 320, 176, {24, 1}, 5000)),
                HasSubstr("/codec: prepare cannot make r3d"));
    MediaFormat raw = format_of("arriraw", "", Container::mxf, 320, 176, {24, 1}, 5000);
    raw.not_prepared = "its frames are not documented";
    EXPECT_THAT(problem_of(raw), HasSubstr("cannot be prepared: its frames are not documented"));
    MediaFormat gop = format_of("h264", "long-gop", Container::mp4, 320, 176);
    gop.size.gop = "IBBP";
    EXPECT_THAT(problem_of(gop), HasSubstr("/frame_sizes/gop: expected each B frame right behind the P frame "
                                           "that is shown after it, found IBBP"));
    gop.size.gop = "";
    EXPECT_THAT(problem_of(gop), HasSubstr("a long GOP needs the model long_gop"));
    EXPECT_THAT(place_.files(), IsEmpty());
}

TEST(ClipNames, HaveTheExtensionOfTheirContainer) {
    for (const char* name : {"clip-0001", "clip-0012.mov", "clip-0001.mp4", "clip-10000.mxf.partial",
                             "clip-0001.0123456789abcdef.partial", "clip-0002.mov.0123456789abcdef.partial"}) {
        const auto read = clip_name_in(name);
        ASSERT_TRUE(read) << name;
        EXPECT_EQ(read->text(), name);
        EXPECT_EQ(read->is_file(), std::string(name).find(".m") != std::string::npos);
    }
    for (const char* name :
         {"clip-0001.0123456789abcde.partial", "clip-0001.0123456789ABCDEF.partial", "clip-0001.mkv",
          "clip-0001.mov.mp4", "clip-0001.mp4.mov", "clip-0001.MXF", "clip-.mxf"})
        EXPECT_FALSE(clip_name_in(name)) << name;
}

}  // namespace
}  // namespace streamsim::media
