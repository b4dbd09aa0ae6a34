// Sequences of every kind, from a directory to a clip.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "media/clips/clip_index.h"
#include "media/clips/inspect.h"
#include "unit/media/fixtures.h"
#include "unit/media/image_samples.h"

namespace streamsim::media {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using testing::DirectoryStore;
using testing::dng_sample;
using testing::dpx_sample;
using testing::exr_attribute;
using testing::exr_sample;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::path_of;
using testing::Place;
using testing::put;

class Images : public ::testing::Test {
protected:
    Clip index(const std::string& name, const IndexOptions& options = {}) {
        auto clip = index_clip(store_, name.empty() ? place_.path() : place_.at(name), options);
        if (clip) return *clip;
        ADD_FAILURE() << testing::all_problems(clip.error());
        return {};
    }
    std::string problem(const std::string& name) {
        const auto clip = index_clip(store_, name.empty() ? place_.path() : place_.at(name));
        return clip ? "no problem" : clip.error().problems.front();
    }

    Place place_;
    DirectoryStore store_;
};

TEST_F(Images, NoFileIsLookedAtWhereTheListingIsEnough) {
    const std::string frame = dpx_sample(4, 2, 10, 1, 2048);
    for (int i = 1000; i < 1300; ++i) place_.write("a." + std::to_string(i) + ".dpx", frame);
    store_.stats = 0;
    store_.bytes_read = 0;
    const Clip clip = index("");
    EXPECT_EQ(clip.index->count(), 300u);
    EXPECT_LE(store_.stats, 18u);  // of the path that was given, for the age of the media, and a few frames
    EXPECT_LE(store_.bytes_read, 64u << 10);
    EXPECT_EQ(clip.start_timecode, 1000u);
    EXPECT_TRUE(clip.index->listed(299));
    EXPECT_THAT(inspect(clip).layout, HasSubstr("the sizes of 16 of 300 files were compared"));
}

TEST_F(Images, AreAsYoungAsTheYoungestFileThatIsLookedAt) {
    store_.tells_times = true;
    const auto write = [this](const std::string& name, const std::string& frame, bool young) {
        place_.write(name, frame);
        const auto now = std::filesystem::file_time_type::clock::now();
        std::filesystem::last_write_time(place_.at(name), now - std::chrono::hours(young ? 3 : 90));
    };
    for (int i = 10; i < 50; ++i) {  // 16 of the DPX files are looked at, and each EXR file
        write("dpx/a." + std::to_string(i) + ".dpx", dpx_sample(4, 2, 10, 1, 2048), i == 49);
        write("exr/a." + std::to_string(i) + ".exr", exr_sample({.compression = 3}), i == 28);
    }
    EXPECT_EQ(index("dpx").touched_s, store_.stat(place_.at("dpx/a.49.dpx")).value()->modified_s);
    EXPECT_EQ(index("exr").touched_s, store_.stat(place_.at("exr/a.28.exr")).value()->modified_s);
}

TEST_F(Images, CompressedOnesAreAsLongAsTheirFiles) {
    for (int i = 0; i < 600; ++i) {
        if (i == 7 || i == 8) continue;
        place_.write("a." + std::to_string(i) + ".exr",
                     exr_sample({.compression = 3}) + std::string(static_cast<std::size_t>(i), 'z'));
    }
    place_.write("a.5.exr", "");
    const std::uint64_t bytes = exr_sample({.compression = 3}).size();
    IndexProgress progress;
    store_.stats = 0;
    const Clip clip = index("", {.progress = &progress});
    EXPECT_EQ(clip.format, "exr half zip 5x3");
    EXPECT_EQ(clip.index->count(), 600u);
    EXPECT_EQ(clip.index->extent(0).bytes, bytes);
    EXPECT_EQ(clip.index->extent(599).bytes, bytes + 599);
    EXPECT_EQ(clip.index->largest_frame_bytes(), bytes + 599);
    EXPECT_FALSE(clip.index->listed(7));
    EXPECT_FALSE(clip.index->listed(8));
    EXPECT_TRUE(clip.index->listed(9));
    EXPECT_EQ(clip.index->extent(9).bytes, bytes + 9);
    EXPECT_NEAR(static_cast<double>(clip.index->extent(7).bytes), static_cast<double>(bytes + 302), 2);
    EXPECT_EQ(clip.index->extent(5).bytes, clip.index->extent(7).bytes);  // empty: as long as it should be
    EXPECT_THAT(clip.notes, Contains("2 frame numbers are missing: 7 to 8"));
    EXPECT_THAT(clip.notes, Contains("1 file is empty or not accessible"));
    EXPECT_EQ(progress.files_done, 598u);
    EXPECT_EQ(progress.files_total, 0u);
    EXPECT_EQ(progress.bytes_done, 0u);
    progress.cancel = true;
    EXPECT_EQ(index_clip(store_, place_.path(), {.progress = &progress}).error().kind, ErrorKind::interrupted);
}

TEST_F(Images, CompressedFramesThatAreFoundCutOrUnreadableFail) {
    const std::string whole = exr_sample({.compression = 3});
    const std::string large =
        exr_sample({.compression = 3, .more = exr_attribute("comment", "string", std::string(500, 'c'))});
    const auto write = [&](int frame, const std::string& bytes) {
        place_.write("a." + std::to_string(frame) + ".exr", bytes);
    };
    for (int i = 1; i < 39; ++i) write(i, whole);
    write(0, large.substr(0, large.size() - 1));
    write(39, whole.substr(0, 20));
    const Clip two = index("");
    EXPECT_EQ(two.index->extent(0).bytes, large.size());
    EXPECT_EQ(two.index->extent(1).bytes, whole.size());
    EXPECT_EQ(two.index->extent(39).bytes, whole.size());
    EXPECT_THAT(two.notes, Contains(AllOf(HasSubstr("2 frames are cut or unreadable and will fail: "),
                                          HasSubstr("a.0.exr: byte"))));
    for (int i = 0; i < 40; ++i) write(i, whole.substr(0, whole.size() - 1));
    const Clip first_headers = index("");
    for (const std::uint64_t i : {0u, 16u, 39u}) EXPECT_EQ(first_headers.index->extent(i).bytes, whole.size());
    for (const char* name : {"all/a.1.exr", "all/a.2.exr"}) place_.write(name, whole.substr(0, 300));
    EXPECT_THAT(problem("all"), HasSubstr("a.1.exr: byte 300: the file ends here, expected the chunk"));
    for (const char* name : {"t/a.1.tif", "t/a.2.tif"})
        place_.write(name, testing::tiff_sample({.compression = 8, .directory_last = true}));
    place_.write("t/a.3.tif", std::string(place_.read("t/a.1.tif"), 0, 50));  // before its directory
    EXPECT_GT(index("t").index->extent(2).bytes, 50u);
}

TEST_F(Images, EachFrameOfExrMayHaveADataWindowOfItsOwn) {
    const std::string small = exr_sample({});
    const std::string large = exr_sample({.height = 30});
    for (int i = 0; i < 40; ++i)
        place_.write("a." + std::to_string(i) + ".exr", i == 21 || i == 22 ? large : small);
    const Clip clip = index("");
    EXPECT_EQ(clip.index->extent(20).bytes, small.size());
    EXPECT_EQ(clip.index->extent(21).bytes, large.size());
}

TEST_F(Images, KindsThatAreNotRead) {
    place_.write("j/a.1.jp2", "12345");
    place_.write("j/a.2.jp2", "1234567");
    const Clip clip = index("j");
    EXPECT_EQ(clip.format, "jp2");
    EXPECT_EQ(clip.index->extent(1).bytes, 7u);
    EXPECT_THAT(clip.notes,
                Contains("streamsim reads no frame rate from .jp2 files: 24 fps assumed, give --fps"));
    place_.write("e/a.1.png", "");
    EXPECT_THAT(problem("e"), HasSubstr("a.1.png: byte 0: the file is empty"));
}

TEST_F(Images, CinemaDngHasTheRateOfItsHeaderAndTheLengthOfItsFiles) {
    const std::string frame = dng_sample(25, 1);
    place_.write("a/a.1.dng", frame);
    place_.write("a/a.2.dng", frame + "more");
    const Clip clip = index("a");
    EXPECT_EQ(clip.index->rate(), (FrameRate{25, 1}));
    EXPECT_FALSE(clip.rate_assumed);
    EXPECT_EQ(clip.index->extent(1).bytes, frame.size() + 4);
    EXPECT_THAT(clip.notes, IsEmpty());
    place_.write("b/b.1.dng", dng_sample(0, 1));
    EXPECT_THAT(index("b").notes,
                Contains(place_.at("b/b.1.dng") + " has no frame rate in its header: 24 fps assumed"));
}

TEST_F(Images, HeadersOfDifferentLengthsAreEachTheirOwn) {
    for (const int frame : {9, 10}) {
        const std::string text = exr_attribute("comment", "string", "frame " + std::to_string(frame));
        place_.write("a." + std::to_string(frame) + ".exr", exr_sample({.more = text}));
    }
    const Clip clip = index("");
    EXPECT_EQ(clip.index->extent(1).bytes, clip.index->extent(0).bytes + 1);
    EXPECT_THAT(clip.notes, Contains(HasSubstr("headers are of different lengths")));
}

TEST_F(Images, AFrameStandsForItsSequenceOnlyWhereItLooksLikeIt) {
    place_.write("input10.dpx", dpx_sample(73, 43, 10, 0, 2048));
    place_.write("input12.dpx", dpx_sample(73, 43, 12, 0, 2048));
    place_.write("input16.dpx", dpx_sample(73, 43, 16, 0, 2048));
    const Clip twelve = index("input12.dpx");
    EXPECT_EQ(twelve.format, "dpx 12 bit packed 73x43");
    EXPECT_EQ(twelve.index->count(), 1u);
    EXPECT_EQ(path_of(*twelve.index, 0), place_.at("input12.dpx"));
    EXPECT_EQ(twelve.index->extent(0).bytes, 2048u + 332 * 43);
    EXPECT_THAT(twelve.notes, Contains(HasSubstr("indexed as a single file, because it is dpx 12 bit packed")));
    EXPECT_EQ(index("input10.dpx").index->count(), 1u);
    const Clip all = index("");
    EXPECT_EQ(all.index->count(), 7u);
    EXPECT_THAT(all.notes, Contains(HasSubstr("its headers differ")));
}

TEST_F(Images, OneFileAndNoNumber) {
    place_.write("one/title.dpx", dpx_sample(8, 8, 10, 1, 2048));
    for (const char* path : {"one", "one/title.dpx"}) {
        const Clip clip = index(path);
        EXPECT_EQ(clip.index->count(), 1u);
        EXPECT_EQ(path_of(*clip.index, 0), place_.at("one/title.dpx"));
        EXPECT_FALSE(clip.start_timecode);
    }
    EXPECT_EQ(index("one/title.dpx").name, "title.dpx");
}

TEST_F(Images, APictureBesideTheMediaIsNoClip) {
    const std::string frame = dpx_sample(8, 8, 10, 1, 2048);
    place_.write("a.1.dpx", frame);
    place_.write("a.2.dpx", frame);
    place_.write("thumb01.jpg", "jpeg");
    EXPECT_EQ(index("").format, "dpx 10 bit filled 8x8");
    EXPECT_EQ(clips_in(store_, place_.path()).value().size(), 1u);
    EXPECT_EQ(index("thumb01.jpg").format, "jpg");
}

TEST_F(Images, TwoSpellingsOfTheExtensionAreReadByTheirNames) {
    const std::string frame = dpx_sample(8, 8, 10, 1, 2048);
    for (const char* name : {"a.1.dpx", "a.2.DPX", "a.4.dpx"}) place_.write(name, frame);
    const Clip clip = index("");
    EXPECT_EQ(clip.index->count(), 4u);
    EXPECT_EQ(path_of(*clip.index, 1), place_.at("a.2.DPX"));
    EXPECT_EQ(path_of(*clip.index, 2), place_.at("a.3.dpx"));
    EXPECT_EQ(path_of(*clip.index, 3), place_.at("a.4.dpx"));
    EXPECT_THAT(clip.notes, Contains("1 of its names ends in .DPX instead of .dpx: taken as one sequence"));
    EXPECT_EQ(index("a.2.DPX").index->count(), 4u);
}

TEST_F(Images, ThePatternOfTheUserWins) {
    const std::string frame = dpx_sample(8, 8, 10, 1, 2048);
    for (const char* name : {"s01_1.dpx", "s02_1.dpx", "s03_1.dpx"}) place_.write(name, frame);
    EXPECT_EQ(index("").index->count(), 3u);
    EXPECT_EQ(index("s01_%d.dpx").index->count(), 1u);
    EXPECT_EQ(index("s01_@.dpx").index->count(), 1u);
    EXPECT_EQ(index("s##_1.dpx").index->count(), 3u);
    EXPECT_EQ(index("s%2d_1.dpx").index->count(), 3u);
}

TEST_F(Images, AHeaderIsBelievedLessThanAFileThatIsLonger) {
    const std::string frame = dpx_sample(64, 36, 16, 0, 2048);
    for (const char* name : {"one/a.1.dpx", "two/a.1.dpx", "two/a.2.dpx"})
        place_.write(name, frame + std::string(100, 'x'));
    for (const char* path : {"one", "two"}) {
        EXPECT_EQ(index(path).index->extent(0).bytes, frame.size() + 100);
        EXPECT_THAT(index(path).notes, Contains(HasSubstr("15,972 bytes and its header accounts for 15,872")));
    }
    std::string declared = frame + std::string(100, 'x');
    put(declared, 16, testing::be(declared.size(), 4));
    place_.write("declared/a.1.dpx", declared);
    EXPECT_EQ(index("declared").index->extent(0).bytes, declared.size());
    EXPECT_THAT(index("declared").notes, Not(Contains(HasSubstr("accounts for"))));
}

TEST_F(Images, OneImageThatIsCutIsAnErrorThatNamesWhereItEnds) {
    const std::pair<const char*, std::string> images[] = {{"a.1.dpx", dpx_sample(64, 36, 16, 0, 2048)},
                                                          {"a.1.exr", exr_sample({.width = 64, .height = 36})},
                                                          {"a.1.exr", exr_sample({.compression = 2})},
                                                          {"a.1.exr", exr_sample({.compression = 3})},
                                                          {"a.1.tif", testing::tiff_sample({})},
                                                          {"a.1.tif", testing::tiff_sample({.compression = 8})},
                                                          {"a.1.cin", testing::cineon_sample(64, 36, 2048)}};
    for (const auto& [name, whole] : images) {
        for (const std::size_t bytes : {whole.size() - 1, whole.size() * 95 / 100}) {
            place_.write(name, whole.substr(0, bytes));
            EXPECT_THAT(problem(name), HasSubstr(std::string(name) + ": byte " + std::to_string(bytes) +
                                                 ": the file ends here, expected"));
        }
        std::filesystem::remove(place_.at(name));
    }
}

TEST_F(Images, ACutFrameAmongOthersKeepsItsLength) {
    const std::string frame = dpx_sample(64, 36, 16, 0, 2048);
    for (int i = 0; i < 30; ++i) place_.write("a." + std::to_string(i) + ".dpx", frame);
    place_.write("a.0.dpx", frame.substr(0, 5000));
    place_.write("a.29.dpx", frame.substr(0, 1000));
    const Clip clip = index("");
    for (const std::uint64_t i : {0u, 1u, 29u}) EXPECT_EQ(clip.index->extent(i).bytes, frame.size());
    EXPECT_THAT(clip.notes, Contains(HasSubstr("2 frames are shorter than they should be and will fail: ")));
    EXPECT_THAT(clip.notes, Contains(HasSubstr("a.0.dpx: byte 5000: the file ends here")));
    for (int i = 0; i < 30; ++i)
        place_.write("a." + std::to_string(i) + ".dpx", frame.substr(0, 5000 + static_cast<std::size_t>(i)));
    EXPECT_THAT(problem(""), HasSubstr("a.0.dpx: byte 5000: the file ends here"));
}

TEST_F(Images, FramesOfDifferentSizesAreEachReadWhole) {
    const std::string small = dpx_sample(16, 16, 10, 1, 2048);
    const std::string large = dpx_sample(128, 64, 10, 1, 2048);
    const auto write = [&](int frame, const std::string& bytes) {
        place_.write("s." + std::to_string(1000 + frame) + ".dpx", bytes);
    };
    write(0, small);
    for (int i = 1; i < 29; ++i) write(i, large);
    const Clip slate = index("");
    EXPECT_EQ(slate.index->extent(0).bytes, small.size());
    EXPECT_EQ(slate.index->extent(1).bytes, large.size());
    EXPECT_EQ(slate.index->extent(28).bytes, large.size());
    EXPECT_EQ(slate.index->largest_frame_bytes(), large.size());
    EXPECT_THAT(slate.notes, Contains(HasSubstr("the size of each file is taken")));
    write(28, small);  // the first and the last are alike
    write(14, large.substr(0, 3000));
    const Clip middle = index("");
    EXPECT_EQ(middle.index->extent(13).bytes, large.size());
    EXPECT_EQ(middle.index->extent(14).bytes, large.size());  // cut: it fails as too short
    EXPECT_EQ(middle.index->extent(28).bytes, small.size());
}

TEST_F(Images, FilesThatAreAllAsShortDoNotBearEachOtherOut) {
    const std::string frame = dpx_sample(64, 36, 10, 1, 8192);
    for (int i = 1000; i < 1030; ++i) {
        const std::string name = "/a." + std::to_string(i) + ".dpx";
        place_.write("head" + name, frame.substr(0, 1024));
        place_.write("cut" + name, frame.substr(0, frame.size() - 4 * 36 - 1));
        place_.write("filled" + name, frame.substr(0, frame.size() - 4 * 36));
    }
    place_.write("one/a.1.dpx", frame.substr(0, 1024));
    place_.write("empty/a.1.dpx", frame.substr(0, 1024));
    place_.write("empty/a.2.dpx", "");
    EXPECT_THAT(problem("head"), HasSubstr("a.1000.dpx: byte 808: the image begins at byte 8192"));
    EXPECT_THAT(problem("cut"), HasSubstr("a.1000.dpx: byte 17263: the file ends here, expected 17,408"));
    const Clip filled = index("filled");  // writers differ by so much
    EXPECT_EQ(filled.index->extent(20).bytes, 17'264u);
    EXPECT_THAT(filled.notes, Contains(HasSubstr("has 17,264 bytes and its header accounts for 17,408")));
    EXPECT_THAT(problem("one"), HasSubstr("a.1.dpx: byte 808: the image begins at byte 8192"));
    EXPECT_THAT(problem("empty"), HasSubstr("a.1.dpx: byte 808: the image begins at byte 8192"));
    std::string far = frame;
    put(far, 808, std::string("\xff\xff\xff\x00", 4));
    place_.write("far/a.1.dpx", far);
    place_.write("far/a.2.dpx", far);
    EXPECT_THAT(problem("far"), HasSubstr("a.1.dpx: byte 808: the image begins at byte 4294967040"));
}

TEST_F(Images, NamesOfWhichSeveralNumbersChangeAreReadByTheirNames) {
    const std::string frame = dpx_sample(8, 8, 10, 1, 2048);
    for (const char* name : {"c_0000_0000.dpx", "c_0001_0002.dpx", "c_0002_0004.dpx", "c_0004_0006.dpx"})
        place_.write(name, frame);
    const Clip clip = index("");
    EXPECT_EQ(clip.index->count(), 5u);
    EXPECT_EQ(path_of(*clip.index, 1), place_.at("c_0001_0002.dpx"));
    EXPECT_EQ(path_of(*clip.index, 4), place_.at("c_0004_0006.dpx"));
    EXPECT_FALSE(clip.index->listed(3));
    EXPECT_EQ(index("c_0002_0004.dpx").index->count(), 5u);
    EXPECT_THAT(clip.notes, Contains(HasSubstr("taken as one sequence")));
}

TEST_F(Images, TheTimeCodeOfTheHeaderIsSaidWhereItDiffers) {
    std::string frame = dpx_sample(8, 8, 10, 1, 2048);  // 25 fps
    put(frame, 1920, std::string("\x01\x00\x00\x00", 4));
    place_.write("same/a.90000.dpx", frame);
    EXPECT_THAT(index("same").notes, Not(Contains(HasSubstr("time code"))));
    EXPECT_EQ(index("same").start_timecode, 90000u);
    place_.write("other/a.90001.dpx", frame);
    EXPECT_THAT(index("other").notes, Contains(HasSubstr("is 01:00:00:00; its number says 01:00:00:01")));
}

}  // namespace
}  // namespace streamsim::media
