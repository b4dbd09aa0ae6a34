// What the tools of others say about our files.
#include <gmock/gmock.h>

#include <cmath>

#include "media/clip_index.h"
#include "media/media_set.h"
#include "unit/media/fixtures.h"

namespace streamsim {
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
    for (const char* name : {"dpx10", "dpx12"}) {
        const PreparedFrame frame(*testing::shipped_formats().find(name));
        const auto facts =
            run("gm identify -format '%m %w %h %b %[DPX:image.element[0].bits] "
                "%[DPX:image.element[0].packing]\\n' " +
                frame.path);
        EXPECT_EQ(facts.code, 0) << facts.output;
        EXPECT_THAT(facts.output, HasSubstr("DPX 3840 2160"));
        const auto verbose = run("gm identify -verbose " + frame.path);
        EXPECT_THAT(verbose.output, HasSubstr(std::string(name) == "dpx10" ? "10 bits" : "12 bits"));
        EXPECT_THAT(verbose.output, HasSubstr("frame.0000001.dpx"));
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
        EXPECT_THAT(facts.output, HasSubstr("FramesPerSecond: 23.976"));
        EXPECT_THAT(facts.output, HasSubstr("dpx:FramePosition: 1"));
    }
}

/// Each tool that can decode finds the same pixels in a frame: the padding is where they expect it.
TEST(Tools, FindTheSamePixels) {
    NEED_TOOL("ffmpeg");
    NEED_TOOL("oiiotool");
    NEED_TOOL("gm");
    for (const int bits : {10, 12}) {
        const PreparedFrame frame(small_dpx("x", 64, 36, bits));
        const Place place;
        const std::string raw = " | cksum";
        const auto by_ffmpeg =
            run("ffmpeg -v error -i " + frame.path + " -f rawvideo -pix_fmt rgb48le - " + raw);
        const auto ours = run("oiiotool " + frame.path + " -d uint16 -o " + place.at("a.tif") +
                              " && oiiotool " + place.at("a.tif") + " --stats");
        EXPECT_EQ(by_ffmpeg.code, 0);
        // The pixels are uniform noise: mean and spread say whether the words were cut in the right places.
        const auto mean_at = ours.output.find("Stats Avg: ");
        ASSERT_NE(mean_at, std::string::npos) << ours.output;
        std::istringstream numbers(ours.output.substr(mean_at + 11));
        for (int i = 0; i < 3; ++i) {
            double mean = 0;
            numbers >> mean;
            EXPECT_NEAR(mean, 32767, 1600) << bits;  // four standard errors of 2304 pixels
        }
    }
}

TEST(Tools, OurReaderReadsTheirs) {
    NEED_TOOL("gm");
    NEED_TOOL("ffmpeg");
    const Place place;
    DirectoryStore store;
    for (const int width : {64, 65}) {
        const std::string size = std::to_string(width) + "x9";
        const std::string tif = place.at("in.tif");
        ASSERT_EQ(run("gm convert -size " + size + " gradient:red-blue " + tif).code, 0);
        int made = 0;
        for (const int bits : {8, 10, 12, 16}) {
            const std::string name = "gm" + std::to_string(bits) + "." + std::to_string(width) + ".1.dpx";
            made += run("gm convert " + tif + " -depth " + std::to_string(bits) +
                        " -define dpx:bits-per-sample=" + std::to_string(bits) + " " + place.at(name))
                        .code == 0;
            const std::string packed = "packed" + name;
            made += run("gm convert " + tif + " -depth " + std::to_string(bits) +
                        " -define dpx:bits-per-sample=" + std::to_string(bits) +
                        " -define dpx:packing-method=packed " + place.at(packed))
                        .code == 0;
        }
        for (const char* pixels : {"gbrp10be", "gbrp10le", "gbrp12be", "rgb24", "rgba", "gray", "rgb48be"}) {
            const std::string name = std::string("ff") + pixels + "." + std::to_string(width) + ".1.dpx";
            made += run("ffmpeg -v error -i " + tif + " -pix_fmt " + pixels + " " + place.at(name)).code == 0;
        }
        EXPECT_EQ(made, 15);
    }
    for (const std::string& file : place.files()) {
        if (!file.ends_with(".dpx")) continue;
        const auto clip = index_clip(store, place.at(file));
        ASSERT_TRUE(clip) << file << " " << testing::all_problems(clip.error());
        EXPECT_EQ(clip->index->extent(0).bytes, place.read(file).size()) << file << " " << clip->format;
    }
}

}  // namespace
}  // namespace streamsim
