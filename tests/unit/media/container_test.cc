#include <gmock/gmock.h>

#include <cstdio>
#include <filesystem>
#include <set>
#include <sstream>

#include "media/catalogue/frame_sizes.h"
#include "media/clips/clip_index.h"
#include "media/clips/inspect.h"
#include "media/clips/planned_index.h"
#include "media/frames/codec_makers.h"
#include "media/write/container_writer.h"
#include "media/write/media_set.h"
#include "unit/media/fixtures.h"

namespace streamsim::media {
namespace {

using testing::DirectoryStore;
using ::testing::HasSubstr;
using testing::Place;
using testing::run;
using testing::small_prores;
using testing::write_mov;

/// "offset size" of every video packet, as ffprobe reads them.
std::vector<std::string> probed(const std::string& path) {
    const auto ran =
        run("ffprobe -v error -select_streams v:0 -show_entries packet=pos,size -of csv=p=0:s=/ " + path);
    std::istringstream lines(ran.output);
    std::vector<std::string> out;
    for (std::string line; std::getline(lines, line);) {
        std::uint64_t bytes = 0;
        std::uint64_t at = 0;
        if (std::sscanf(line.c_str(), "%lu/%lu", &bytes, &at) == 2)
            out.push_back(std::to_string(at) + " " + std::to_string(bytes));
    }
    return out;
}

std::vector<std::string> indexed(const FrameIndex& index) {
    std::vector<std::string> out;
    for (std::uint64_t frame = 0; frame < index.count(); ++frame) {
        const Extent extent = index.extent(frame);
        out.push_back(std::to_string(extent.offset) + " " + std::to_string(extent.bytes));
    }
    return out;
}

class Containers : public ::testing::Test {
protected:
    Clip index(const std::string& name) {
        auto clip = index_clip(store_, place_.at(name));
        if (clip) return *clip;
        ADD_FAILURE() << testing::all_problems(clip.error());
        return {};
    }
    std::string problem(const std::string& name) {
        const auto clip = index_clip(store_, place_.at(name));
        if (clip) return "no problem";
        EXPECT_EQ(clip.error().kind, ErrorKind::bad_input);
        return clip.error().problems.front();
    }

    Place place_;
    DirectoryStore store_;
};

TEST_F(Containers, OurOwnIsIndexedAsItWasPlanned) {
    for (const FrameRate rate :
         {FrameRate{30, 1}, FrameRate{24000, 1001}, FrameRate{24, 1}, FrameRate{60000, 1001}}) {
        MediaFormat format = small_prores("x", 320, 180, 40'000);
        format.rate = rate;
        write_mov(store_, place_.at("a.mov"), format, 100);
        const Clip clip = index("a.mov");
        ASSERT_NE(clip.index, nullptr);
        EXPECT_EQ(clip.index->rate(), rate);
        EXPECT_EQ(indexed(*clip.index), indexed(*planned_index(format, 100, 1, 1, place_.at("a.mov"))));
        EXPECT_EQ(clip.format, "prores apcn 320x180");
        EXPECT_EQ(clip.name, "a.mov");
        EXPECT_TRUE(clip.notes.empty());
        std::filesystem::remove(place_.at("a.mov"));
    }
}

TEST_F(Containers, TheIndexIsMadeWithoutReadingTheFrames) {
    write_mov(store_, place_.at("a.mov"), small_prores("x", 640, 360, 400'000), 50);
    store_.bytes_read = 0;
    index("a.mov");
    EXPECT_LT(store_.bytes_read, 3'000'000u);  // of 20 MB: the beginning and the movie header
}

TEST_F(Containers, FfprobeListsWhatWasPlanned) {
    NEED_TOOL("ffprobe");
    const MediaFormat format = *testing::shipped_formats().find("prores-uhd");
    write_mov(store_, place_.at("a.mov"), format, 10);
    EXPECT_EQ(probed(place_.at("a.mov")), indexed(*planned_index(format, 10, 1, 1, "")));
    const auto facts =
        run("ffprobe -v error -show_entries stream=codec_name,codec_tag_string,width,height,time_base,"
            "avg_frame_rate,nb_frames -of compact=p=0 " +
            place_.at("a.mov"));
    EXPECT_EQ(
        facts.output,
        "codec_name=prores|codec_tag_string=apch|width=3840|height=2160|avg_frame_rate=30/1|time_base=1/30|"
        "nb_frames=10\n");
    const auto times =
        run("ffprobe -v error -show_entries packet=pts,duration,flags -of csv=p=0 " + place_.at("a.mov"));
    EXPECT_THAT(times.output, HasSubstr("0,1,K_\n1,1,K_\n2,1,K_\n"));
}

TEST_F(Containers, DecodersShowOurFramesWithoutComplaint) {
    NEED_TOOL("ffmpeg");
    const std::pair<int, int> rasters[] = {{1920, 1080}, {64, 36}, {2, 2}, {1998, 1080}, {120, 18}};
    for (const auto& [width, height] : rasters) {
        for (const char* fourcc : {"apcn", "ap4h"}) {
            MediaFormat format = small_prores("x", width, height, 100'000);
            format.profile = fourcc;
            write_mov(store_, place_.at("a.mov"), format, 3);
            const auto decoded = run("ffmpeg -v warning -xerror -i " + place_.at("a.mov") + " -f null -");
            EXPECT_EQ(decoded.code, 0);
            EXPECT_EQ(decoded.output, "") << width << "x" << height << " " << fourcc;
        }
    }
}

/// The picture of a frame is what was meant: each slice of 128 x 16 pixels one grey, and not the same
/// everywhere.
TEST_F(Containers, DecodersSeeFlatSlices) {
    NEED_TOOL("ffmpeg");
    write_mov(store_, place_.at("a.mov"), small_prores("x", 256, 64, 100'000), 1);
    const auto decoded = run("ffmpeg -v error -i " + place_.at("a.mov") + " -f rawvideo -pix_fmt yuv422p10le " +
                             place_.at("raw"));
    ASSERT_EQ(decoded.code, 0) << decoded.output;
    const std::string raw = place_.read("raw");
    ASSERT_EQ(raw.size(), 256u * 64 * 2 * 2);
    std::set<std::string> greys;
    for (std::size_t y = 0; y < 64; ++y) {
        for (std::size_t x = 0; x < 256; ++x) {
            const std::size_t corner = y / 16 * 16 * 256 + x / 128 * 128;
            ASSERT_EQ(raw.substr((y * 256 + x) * 2, 2), raw.substr(corner * 2, 2)) << x << "," << y;
            greys.insert(raw.substr(corner * 2, 2));
        }
    }
    EXPECT_GT(greys.size(), 2u);
}

TEST_F(Containers, ThoseOfOthersAreIndexedAsFfprobeReadsThem) {
    NEED_TOOL("ffmpeg");
    NEED_TOOL("ffprobe");
    const std::string picture =
        "ffmpeg -v error -y -f lavfi -i testsrc2=s=320x180:r=24000/1001 -f lavfi -i sine -t 2 ";
    const std::pair<const char*, const char*> files[] = {
        {"a.mov", "-c:v prores_ks -profile:v 3 -c:a pcm_s16le"},
        {"fast.mov", "-c:v prores_ks -c:a pcm_s16le -movflags +faststart"},
        {"a.mp4", "-c:v mpeg4 -bf 2 -c:a aac"},
        {"fragments.mp4", "-c:v mpeg4 -c:a aac -movflags frag_keyframe+empty_moov"},
        {"a.mxf", "-c:v mpeg2video -g 1 -r 25 -c:a pcm_s16le"},
        {"a.mkv", "-c:v prores_ks -c:a pcm_s16le"},
        {"a.avi", "-c:v mjpeg -c:a pcm_s16le"}};
    for (const auto& [name, options] : files) {
        SCOPED_TRACE(name);
        const auto made = run(picture + options + " -ar 48000 " + place_.at(name));
        ASSERT_EQ(made.code, 0) << made.output;
        const Clip clip = index(name);
        ASSERT_NE(clip.index, nullptr);
        EXPECT_EQ(indexed(*clip.index), probed(place_.at(name)));
        EXPECT_GE(clip.index->count(), 47u);
        const FrameRate rate = std::string(name) == "a.mxf" ? FrameRate{25, 1} : FrameRate{24000, 1001};
        EXPECT_EQ(clip.index->rate(), rate);
    }
}

TEST_F(Containers, FramesOfAStreamReachUpToTheNextOne) {
    NEED_TOOL("ffmpeg");
    NEED_TOOL("ffprobe");
    for (const std::string name : {"a.ts", "silent.ts", "a.mpg"}) {
        SCOPED_TRACE(name);
        const auto made = run("ffmpeg -v error -f lavfi -i testsrc2=s=320x180:r=25 -f lavfi -i sine -t 2 " +
                              std::string(name == "silent.ts" ? "-an" : "-c:a mp2") +
                              " -c:v mpeg2video -b:v 8M " + place_.at(name));
        ASSERT_EQ(made.code, 0) << made.output;
        const auto clip = index_clip(store_, place_.at(name), {.audio = true});
        ASSERT_TRUE(clip) << testing::all_problems(clip.error());
        const FrameIndex& frames = *clip->index;
        EXPECT_EQ(frames.count(), probed(place_.at(name)).size());
        std::uint64_t end = frames.extent(0).offset;
        for (std::uint64_t k = 0; k < frames.count(); ++k) {
            EXPECT_EQ(frames.extent(k).offset, end) << k;
            end += frames.extent(k).bytes;
        }
        const std::uint64_t size = std::filesystem::file_size(place_.at(name));
        EXPECT_LE(end, size);
        if (name == "silent.ts") {
            EXPECT_EQ(end, size);
        } else {
            EXPECT_THAT(::testing::PrintToString(clip->notes), HasSubstr("its audio lies between its frames"));
        }
        EXPECT_EQ(frames.largest_audio_bytes(), 0u);
        EXPECT_EQ(clip->audio, name != "silent.ts");
    }
}

TEST_F(Containers, TimeCodeKeepsItsOwnCounting) {
    NEED_TOOL("ffmpeg");
    const std::string picture = "ffmpeg -v error -y -f lavfi -i testsrc2=s=320x180:r=30000/1001 -t 0.2 ";
    struct Label {
        const char* name;
        const char* options;
        std::uint64_t frame;
        bool drop;
    };
    const Label labels[] = {{"a.mov", "-c:v prores_ks -timecode '01:00:00:00' ", 108'000, false},
                            {"b.mov", "-c:v prores_ks -timecode '01:00:00;00' ", 107'892, true},
                            {"a.mxf", "-c:v mpeg2video -timecode '01:00:00:00' ", 108'000, false},
                            {"b.mxf", "-c:v mpeg2video -timecode '01:00:00;00' ", 107'892, true}};
    for (const Label& label : labels) {
        SCOPED_TRACE(label.name);
        const auto made = run(picture + label.options + place_.at(label.name));
        ASSERT_EQ(made.code, 0) << made.output;
        const Clip clip = index(label.name);
        EXPECT_EQ(clip.start_timecode, label.frame);
        EXPECT_EQ(clip.drop, label.drop);
    }
}

TEST_F(Containers, TimeCodeMayCountEverySecondFrame) {
    NEED_TOOL("ffmpeg");
    for (const char* rate : {"50", "60000/1001"}) {
        const std::uint64_t labels = *rate == '5' ? 25 : 30;
        testing::write_timecoded_mov(place_, "a.mov", rate, 5, "00:30:00:05", 2);
        const Clip clip = index("a.mov");
        EXPECT_EQ(clip.start_timecode, 2 * (3600 * labels + 5)) << rate;
        EXPECT_EQ(clip.timecode_each, 2u) << rate;
        EXPECT_EQ(inspect(clip).end_timecode, "01:00:00:07") << rate;
        testing::write_timecoded_mov(place_, "a.mov", rate, 5, "01:00:00:05");
        EXPECT_EQ(index("a.mov").start_timecode, 2 * 3600 * labels + 5) << rate;
        EXPECT_EQ(index("a.mov").timecode_each, 1u) << rate;
    }
    testing::write_timecoded_mov(place_, "a.mov", "120000/1001", 5, "00:30:00:05", 4);
    EXPECT_FALSE(index("a.mov").drop);
    EXPECT_EQ(inspect(index("a.mov")).end_timecode, "02:00:00:06");
}

/// Stereoscopic MXF, and interlaced one with an element for each field.
TEST_F(Containers, TwoPicturesInAnEditUnitPlayAtTwiceItsRate) {
    NEED_TOOL("ffmpeg");
    const auto made =
        run("ffmpeg -v error -f lavfi -i testsrc2=s=64x36:r=24 -t 2 -c:v jpeg2000 -timecode 01:00:00:10 " +
            place_.at("a.mxf"));
    ASSERT_EQ(made.code, 0) << made.output;
    const std::string whole = place_.read("a.mxf");
    const auto states = [&](int units) {
        const std::string head = std::string("\2\2\0\10", 4) + std::string(7, '\0');  // of each duration
        std::string bytes = whole;
        for (std::size_t at = 0; (at = bytes.find(head + char{48}, at)) != std::string::npos; ++at)
            bytes[at + head.size()] = static_cast<char>(units);
        place_.write("a.mxf", bytes);
        return index("a.mxf");
    };
    EXPECT_EQ(states(48).index->rate(), (FrameRate{24, 1}));
    EXPECT_TRUE(states(48).notes.empty());
    const Clip two = states(24);
    EXPECT_EQ(two.index->count(), 48u);
    EXPECT_EQ(two.index->rate(), (FrameRate{48, 1}));
    EXPECT_FALSE(two.index->variable_rate());
    EXPECT_EQ(two.start_timecode, 2u * (24 * 3600 + 10)) << "counted in edit units";
    EXPECT_EQ(two.notes, std::vector<std::string>{"2 pictures in each edit unit: played at 48 a second"});
    const std::uint64_t cut = whole.size() * 7 / 10;
    std::filesystem::resize_file(place_.at("a.mxf"), cut);
    const Clip less = index("a.mxf");
    EXPECT_EQ(less.index->count(), 48u);
    EXPECT_EQ(less.index->rate(), (FrameRate{48, 1}));
    EXPECT_GE(less.index->extent(47).offset, cut) << "it will fail at its slot";
    EXPECT_EQ(states(20).index->rate(), (FrameRate{24, 1}));
    EXPECT_EQ(states(20).notes,
              std::vector<std::string>{"the file states 20 frames and has 48: all are played"});
}

TEST_F(Containers, AFileCutBehindItsHeaderKeepsItsFrames) {
    NEED_TOOL("ffmpeg");
    const auto made =
        run("ffmpeg -v error -f lavfi -i testsrc2=s=320x180 -t 2 -c:v prores_ks -movflags +faststart " +
            place_.at("a.mov"));
    ASSERT_EQ(made.code, 0) << made.output;
    const auto whole = indexed(*index("a.mov").index);
    std::filesystem::resize_file(place_.at("a.mov"), std::filesystem::file_size(place_.at("a.mov")) / 2);
    EXPECT_EQ(indexed(*index("a.mov").index), whole);  // the lost ones will fail at their slots
}

TEST_F(Containers, WhatIsNoClipIsNamedWithTheByte) {
    place_.write("text.mov", std::string(100'000, 'x'));
    EXPECT_THAT(problem("text.mov"), HasSubstr("text.mov: byte "));
    place_.write("list.mov", "#EXTM3U\n#EXTINF:1,\n/etc/passwd\n");
    EXPECT_THAT(problem("list.mov"), HasSubstr("not a video container"));
    place_.write("empty.mov", "");
    EXPECT_THAT(problem("empty.mov"), HasSubstr("empty.mov: byte 0"));
    write_mov(store_, place_.at("a.mov"), small_prores("x", 320, 180, 40'000), 20);
    std::filesystem::resize_file(place_.at("a.mov"), 500'000);  // its header was at the end
    EXPECT_THAT(problem("a.mov"), HasSubstr("moov atom not found"));
}

TEST_F(Containers, AnErrorOfTheStorageStaysOne) {
    write_mov(store_, place_.at("a.mov"), small_prores("x", 320, 180, 40'000), 20);
    store_.on_open = [](const std::string& path) -> std::optional<Error> {
        return environment_error(path + ": Permission denied");
    };
    const auto clip = index_clip(store_, place_.at("a.mov"));
    ASSERT_FALSE(clip);
    EXPECT_EQ(clip.error().kind, ErrorKind::environment);
}

TEST_F(Containers, AFullDiskIsAnErrorOfTheDisk) {
    store_.room = 100'000;
    const MediaFormat format = small_prores("x", 320, 180, 40'000);
    auto sink = store_.create(place_.at("a.mov"));
    const auto maker = make_frame_maker(format, 1);
    auto writer = ContainerWriter::create(**sink, format, **maker, place_.at("a.mov"));
    std::vector<std::byte> frame(200'000);
    build_prores_frame(frame, format, 1);
    Result<void> added;
    for (int i = 0; i < 10 && added; ++i) added = (*writer)->add(frame);
    if (added) added = (*writer)->finish();
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().kind, ErrorKind::environment);
    EXPECT_THAT(added.error().problems.front(), HasSubstr("a.mov: No space left on device"));
}

}  // namespace
}  // namespace streamsim::media
