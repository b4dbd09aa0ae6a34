#include "media/write/recording.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "media/clips/clip_index.h"
#include "media/clips/recording_index.h"
#include "media/write/media_set.h"
#include "unit/media/fixtures.h"

namespace streamsim::media {
namespace {

namespace fs = std::filesystem;
using testing::DirectoryStore;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Place;
using testing::small_dpx;
using testing::small_prores;

void write(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
}

TEST(Recording, NamesAreOursExactlyAsTheyArePrinted) {
    EXPECT_TRUE(is_recording(recording_name(0, 12)));
    EXPECT_TRUE(is_run(run_name(0xfeed)));
    for (const char* other :
         {"seat01-stream2", "seat1-stream2x", "seat-stream2", "seat1-stream", "Seat1-stream2"})
        EXPECT_FALSE(is_recording(other)) << other;
    for (const char* other : {"run-", "run-00000000000000000", "run-000000000000000g", "walk-0000000000000000"})
        EXPECT_FALSE(is_run(other)) << other;
}

TEST(Recording, FramesOfAContainerFollowEachOtherOnTheGrid) {
    const MediaFormat format = small_prores("tiny", 64, 64, 8000);
    const auto index = recording_index(format, 7, 4096, "/x/seat0-stream0");
    std::uint64_t end = 0;
    double bytes = 0;
    const std::uint64_t round = distinct_frames(format);
    for (std::uint64_t i = 0; i < 3 * round; ++i) {
        const Extent extent = index->extent(i);
        EXPECT_EQ(extent.offset % 4096, 0U);
        EXPECT_GE(extent.offset, end);
        EXPECT_LT(extent.offset - end, 8192U);
        EXPECT_EQ(extent.bytes, index->extent(i + round).bytes);
        end = extent.offset + extent.bytes;
        if (i < round) bytes += static_cast<double>(extent.bytes);
    }
    EXPECT_NEAR(bytes / static_cast<double>(round), format.mean_frame_bytes, 1.0);
    std::string path(index->path_capacity(), '\0');
    index->write_path(99, path.data());
    EXPECT_STREQ(path.c_str(), "/x/seat0-stream0.mov");
}

TEST(Recording, TheFramesAreReadableAndDistinct) {
    Place place;
    DirectoryStore store;
    const MediaFormat format = small_dpx("tiny", 17, 9, 10);
    const auto index = recording_index(format, 1, 1, place.path() + "/seat0-stream0");
    constexpr std::uint64_t kStride = 12288;
    std::vector<std::byte> memory(kStride * distinct_frames(format), std::byte{0xaa});
    ASSERT_TRUE(make_recorded_frames(format, *index, 1, kStride, memory));
    fs::create_directory(place.path() + "/seat0-stream0");
    std::set<std::string> distinct;
    for (std::uint64_t i = 0; i < distinct_frames(format); ++i) {
        const auto frame = std::span(memory).subspan(i * kStride, index->extent(i).bytes);
        const std::string text(reinterpret_cast<const char*>(frame.data()), frame.size());
        distinct.insert(text);
        std::string path(index->path_capacity(), '\0');
        index->write_path(i, path.data());
        write(path.c_str(), text);
        EXPECT_EQ(memory[i * kStride + frame.size()], std::byte{0}) << "nothing of others behind a frame";
    }
    EXPECT_EQ(distinct.size(), distinct_frames(format));
    const auto clip = index_clip(store, place.path() + "/seat0-stream0", {});
    ASSERT_TRUE(clip);
    EXPECT_EQ(clip->index->count(), distinct_frames(format));
    EXPECT_EQ(clip->index->extent(0).bytes, index->extent(0).bytes);
}

void record(DirectoryStore& store, const Place& place, const std::string& run) {
    const auto done =
        record_streams(store, place.path(), run, {{"seat0-stream0", "dpx", 10}, {"seat0-stream1", ".mov", 10}});
    ASSERT_TRUE(done) << done.error().problems.front();
}

TEST(Recording, ARunsDirectoryGoesAndWhatWasThereStays) {
    Place place;
    DirectoryStore store;
    write(fs::path(place.path()) / "mine.txt", "as it was");
    const auto one = make_recordings(store, place.path());
    const auto two = make_recordings(store, place.path());
    ASSERT_TRUE(one && two);
    EXPECT_NE(*one, *two);
    record(store, place, *one);
    record(store, place, *two);
    write(fs::path(*one) / "seat0-stream0" / "frame.0000001.dpx", "x");
    write(fs::path(*one) / "seat0-stream1.mov", "x");
    EXPECT_THAT(remove_recordings(store, place.path(), *one), IsEmpty());
    EXPECT_FALSE(fs::exists(*one));
    EXPECT_TRUE(fs::exists(*two));
    EXPECT_THAT(remove_recordings(store, place.path(), *two), IsEmpty());
    EXPECT_FALSE(fs::exists(place.path() + "/streamsim-media")) << "it was made for this";
    EXPECT_TRUE(fs::exists(place.path() + "/mine.txt"));
    EXPECT_THAT(remove_recordings(store, place.path(), *two), IsEmpty()) << "gone already";
}

TEST(Recording, WhatIsNotOursStaysAndIsSaid) {
    Place place;
    DirectoryStore store;
    const auto run = make_recordings(store, place.path());
    ASSERT_TRUE(run);
    record(store, place, *run);
    write(fs::path(*run) / "seat0-stream0" / "frame.0000001.dpx", "x");
    write(fs::path(*run) / "seat0-stream0" / "notes.txt", "somebody's");
    EXPECT_EQ(remove_recordings(store, place.path(), *run).size(), 1U);
    EXPECT_TRUE(fs::exists(*run + "/seat0-stream0/notes.txt"));
    EXPECT_FALSE(fs::exists(*run + "/seat0-stream0/frame.0000001.dpx"));
}

TEST(Recording, OnlyWhatTheRecordNamesIsRemoved) {
    Place place;
    DirectoryStore store;
    const auto run = make_recordings(store, place.path());
    ASSERT_TRUE(run);
    record(store, place, *run);
    write(fs::path(*run) / "seat0-stream0" / "frame.0000010.dpx", "ours");
    for (const char* name : {"seat0-stream0/frame.0000011.dpx", "seat0-stream0/frame.0000001.exr",
                             "seat0-stream2.mov", "seat0-stream1.mxf"})
        write(fs::path(*run) / name, "mine");
    EXPECT_EQ(remove_recordings(store, place.path(), *run).size(), 4U);
    EXPECT_FALSE(fs::exists(*run + "/seat0-stream0/frame.0000010.dpx"));
    EXPECT_TRUE(fs::exists(*run + "/seat0-stream2.mov"));
}

TEST(Recording, ARemovalThatIsStoppedLeavesTheRestToClean) {
    Place place;
    DirectoryStore store;
    const auto run = make_recordings(store, place.path());
    ASSERT_TRUE(run);
    record(store, place, *run);
    for (const char* frame : {"frame.0000001.dpx", "frame.0000002.dpx", "frame.0000003.dpx"})
        write(fs::path(*run) / "seat0-stream0" / frame, "x");
    const auto frames_left = [&] {
        const fs::directory_iterator frames(*run + "/seat0-stream0");
        return std::distance(begin(frames), end(frames));
    };
    const auto problems = remove_recordings(store, place.path(), *run, [&] { return frames_left() < 3; });
    EXPECT_THAT(problems, ElementsAre("interrupted"));
    EXPECT_EQ(frames_left(), 2);
    ASSERT_TRUE(clean(store, place.path()));
    EXPECT_FALSE(fs::exists(place.path() + "/streamsim-media"));
}

TEST(Recording, CleanRemovesRecordingsThatWereKept) {
    Place place;
    DirectoryStore store;
    const auto run = make_recordings(store, place.path());
    ASSERT_TRUE(run);
    record(store, place, *run);
    write(fs::path(*run) / "seat0-stream0" / "frame.0000001.dpx", "x");
    write(fs::path(*run) / "seat0-stream1.mov", "x");
    const auto report = clean(store, place.path());
    ASSERT_TRUE(report);
    EXPECT_THAT(report->kept, IsEmpty());
    EXPECT_EQ(report->files_removed, 4U);  // with the record and the marker
    EXPECT_FALSE(fs::exists(place.path() + "/streamsim-media"));
}

}  // namespace
}  // namespace streamsim::media
