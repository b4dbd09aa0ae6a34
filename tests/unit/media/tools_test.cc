// Checks our files with other tools.
#include <gmock/gmock.h>

#include <cmath>

#include "media/clips/clip_index.h"
#include "media/write/media_set.h"
#include "unit/media/fixtures.h"

namespace streamsim::media {
namespace {

using testing::DirectoryStore;
using ::testing::HasSubstr;
using testing::Place;
using testing::run;
using testing::small_dpx;

/// One frame of a format, on disk.
class PreparedFrame {
public:
    explicit PreparedFrame(const MediaFormat& format) {
        DirectoryStore store;
        PrepareProgress progress;
        const auto plan = plan_prepare(store, {place_.path(), format, 1, format.rate.due(1), 1});
        EXPECT_TRUE(plan);
        EXPECT_TRUE(prepare(store, *plan, progress));
        const auto clips = complete_clips(store, place_.path(), format, std::nullopt);
        EXPECT_TRUE(clips);
        path = testing::path_of(*clips->front().index, 0);
    }
    std::string path;

private:
    Place place_;
};

TEST(Tools, GraphicsMagickReadsOurFrames) {
    NEED_TOOL("gm");
    for (const int bits : {8, 10, 12, 16}) {
        const MediaFormat format = small_dpx("x", 640, 360, bits);
        const PreparedFrame frame(format);
        const auto facts = run("gm identify -format '%m %wx%h %b' " + frame.path);
        EXPECT_EQ(facts.code, 0) << facts.output;
        EXPECT_THAT(facts.output, HasSubstr("DPX 640x360 "));
        const auto verbose = run("gm identify -verbose " + frame.path);
        EXPECT_EQ(verbose.code, 0) << verbose.output;
        for (const char* fact :
             {"DPX:file.version: V2.0", "DPX:file.filename: frame.0000001.dpx", "DPX:mp.frame.position: 1",
              "DPX:mp.frame.rate: 24", "DPX:tv.time.code: 00:00:00:00"}) {
            EXPECT_THAT(verbose.output, HasSubstr(fact));
        }
    }
}

TEST(Tools, FfmpegDecodesOurFrames) {
    NEED_TOOL("ffmpeg");
    for (const int bits : {8, 10, 12, 16}) {
        for (const int width : {64, 65}) {
            const PreparedFrame frame(small_dpx("x", width, 9, bits));
            const auto facts =
                run("ffprobe -v error -show_entries stream=codec_name,width,height,pix_fmt -of csv=p=0 " +
                    frame.path);
            const char* pixels = bits == 8 ? "rgb24" : bits == 10 ? "gbrp10" : bits == 12 ? "gbrp12" : "rgb48";
            EXPECT_THAT(facts.output, HasSubstr("dpx," + std::to_string(width) + ",9," + pixels));
            const auto decoded = run("ffmpeg -v warning -xerror -i " + frame.path + " -f null -");
            EXPECT_EQ(decoded.code, 0);
            EXPECT_EQ(decoded.output, "") << bits << " bit, " << width;
        }
    }
}

TEST(Tools, OpenImageIoReadsOurFrames) {
    NEED_TOOL("oiiotool");
    struct Case {
        int bits;
        const char* depth;
        const char* packing;
    };
    for (const Case at : {Case{10, "uint10", "Filled, method A"}, Case{12, "uint12", "Filled, method A"}}) {
        const PreparedFrame frame(small_dpx("x", 64, 36, at.bits, {24000, 1001}));
        const auto facts = run("oiiotool --info -v --stats " + frame.path);
        EXPECT_EQ(facts.code, 0);
        EXPECT_THAT(facts.output, HasSubstr("64 x   36, 3 channel, " + std::string(at.depth) + " dpx"));
        EXPECT_THAT(facts.output, HasSubstr("dpx:Packing: \"" + std::string(at.packing)));
        EXPECT_THAT(facts.output, HasSubstr("dpx:Version: \"V2.0\""));
        EXPECT_THAT(facts.output, HasSubstr("dpx:FrameRate: 23.976\n"));
        EXPECT_THAT(facts.output, HasSubstr("dpx:TemporalFrameRate: 23.976\n"));
        EXPECT_THAT(facts.output, HasSubstr("dpx:FramePosition: 1"));
    }
}

/// Two decoders that share no code find the same pixels: the words are cut where both expect it.
TEST(Tools, DecodersFindTheSamePixels) {
    NEED_TOOL("ffmpeg");
    NEED_TOOL("oiiotool");
    for (const int bits : {10, 12}) {
        const PreparedFrame frame(small_dpx("x", 64, 36, bits));
        const Place place;
        const std::string tif = place.at("a.tif");
        const auto decoded = run("ffmpeg -v error -i " + frame.path + " -pix_fmt rgb48le " + tif);
        ASSERT_EQ(decoded.code, 0) << decoded.output;
        const auto same = run("oiiotool --fail 0.002 --diff " + frame.path + " " + tif);
        EXPECT_EQ(same.code, 0) << bits << " bit: " << same.output;
    }
}

/// Makes images of all kinds with other people's writers, each in a directory of its own.
int make_theirs(const Place& place, int width) {
    const std::string tif = place.at("in" + std::to_string(width) + ".tif");
    run("gm convert -size " + std::to_string(width) + "x9 gradient:red-blue " + tif);
    const auto make = [&](const std::string& kind, const std::string& before, const std::string& after) {
        const std::string name = std::to_string(width) + "-" + kind + "/a.1.dpx";
        place.write(name, "");
        return run(before + " " + tif + " " + after + " " + place.at(name)).code == 0 ? 1 : 0;
    };
    int made = 0;
    for (const char* bits : {"8", "10", "12", "16"}) {
        const std::string depth = std::string("-depth ") + bits + " -define dpx:bits-per-sample=" + bits;
        made += make(std::string("gm") + bits, "gm convert", depth);
        made +=
            make(std::string("gm-packed") + bits, "gm convert", depth + " -define dpx:packing-method=packed");
    }
    for (const char* pixels : {"gbrp10be", "gbrp10le", "gbrp12be", "rgb24", "rgba", "gray", "rgb48be"}) {
        made += make(std::string("ff-") + pixels, "ffmpeg -v error -y -i", std::string("-pix_fmt ") + pixels);
    }
    return made;
}

TEST(Tools, OurReaderReadsTheirs) {
    NEED_TOOL("gm");
    NEED_TOOL("ffmpeg");
    const Place place;
    DirectoryStore store;
    for (const int width : {64, 65}) EXPECT_EQ(make_theirs(place, width), 15);
    for (const std::string& file : place.files()) {
        if (!file.ends_with(".dpx")) continue;
        const auto clip = index_clip(store, place.at(file));
        ASSERT_TRUE(clip) << file << " " << testing::all_problems(clip.error());
        EXPECT_EQ(clip->index->extent(0).bytes, place.read(file).size()) << file << " " << clip->format;
    }
}

}  // namespace
}  // namespace streamsim::media
