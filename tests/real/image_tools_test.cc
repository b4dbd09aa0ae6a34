// Images that other people's tools write: the length that their headers give is the length that they have.
#include <gmock/gmock.h>

#include <filesystem>

#include "media/clips/clip_index.h"
#include "unit/media/fixtures.h"

namespace streamsim {
namespace {

struct Written {
    const char* tool;
    const char* command;  // {} is the place
    const char* name;
    const char* format;
};

class ImagesOfTools : public ::testing::TestWithParam<Written> {};

TEST_P(ImagesOfTools, AreAsLongAsTheirHeadersSay) {
    const Written& at = GetParam();
    NEED_TOOL(at.tool);
    testing::Place place;
    testing::DirectoryStore store;
    const auto ran = testing::run("cd " + place.path() + " && " + at.command + " " + at.name);
    ASSERT_EQ(ran.code, 0) << ran.output;
    const auto clip = media::index_clip(store, place.at(at.name));
    ASSERT_TRUE(clip) << testing::all_problems(clip.error());
    EXPECT_EQ(clip->format, at.format);
    EXPECT_EQ(clip->index->extent(0).bytes, std::filesystem::file_size(place.at(at.name)));
}

constexpr const char* kFfmpeg = "ffmpeg -v error -f lavfi -i testsrc2=s=322x124 -frames:v 1";
const std::string kFfmpeg12 = std::string(kFfmpeg) + " -pix_fmt gbrp12le";
const std::string kFfmpegExr = std::string(kFfmpeg) + " -pix_fmt gbrpf32le -compression none";

INSTANTIATE_TEST_SUITE_P(
    All,
    ImagesOfTools,
    ::testing::Values(
        Written{"ffmpeg", kFfmpeg12.c_str(), "a.dpx", "dpx 12 bit filled 322x124"},
        Written{"ffmpeg", kFfmpegExr.c_str(), "a.exr", "exr float none 322x124"},
        Written{"gm",
                "gm convert -size 300x200 gradient:red-blue -depth 10 -define dpx:bits-per-sample=10 "
                "-define dpx:packing-method=packed",
                "a.dpx", "dpx 10 bit packed 300x200"},
        Written{"gm", "gm convert -size 300x200 gradient:red-blue", "a.cin", "cineon 10 bit 300x200"},
        Written{"oiiotool", "oiiotool --create 321x123 3 -d uint10 -o", "a.dpx", "dpx 10 bit filled 321x123"},
        Written{"oiiotool", "oiiotool --create 321x123 3 -d uint16 --compression none -o", "a.tif",
                "tiff 16 bit 321x123"},
        Written{"oiiotool", "oiiotool --create 321x123 4 -d half --compression none -o", "a.exr",
                "exr half none 321x123"},
        Written{"oiiotool", "oiiotool --create 321x123 3 -d half --compression zip -o", "a.exr",
                "exr half zip 321x123"},
        Written{"oiiotool", "oiiotool --create 321x123 3 -d float --compression none --tile 64 64 -o", "a.exr",
                "exr float none tiled 321x123"}));

}  // namespace
}  // namespace streamsim
