// Every format that prepare makes, at a raster of the field, as the tools of others read it: ffprobe and ffmpeg
// for all of them, GraphicsMagick, OpenImageIO and exrheader for images.
#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "media/catalogue/frame_sizes.h"
#include "media/frames/frame_maker.h"
#include "media/write/media_set.h"
#include "unit/media/prepared_formats.h"

namespace streamsim {
namespace {

using testing::Container;
using ::testing::Contains;
using testing::DirectoryStore;
using testing::dpx_of;
using testing::format_of;
using ::testing::HasSubstr;
using testing::Place;
using testing::run;
using testing::with_scenes;

struct Claim {
    MediaFormat format;
    const char* codec;    // as ffprobe calls it
    const char* profile;  // "": says nothing of it
    const char* pixels;
    std::uint64_t frames = 5;
};

void PrintTo(const Claim& claim, std::ostream* out) {
    *out << claim.format.name << " " << claim.format.width << "x" << claim.format.height;
}

std::string test_name(const ::testing::TestParamInfo<Claim>& at) {
    std::string name = at.param.format.name + "_" + std::to_string(at.param.format.width) + "_" +
                       std::to_string(at.param.format.rate.num);
    std::replace_if(
        name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
    return name;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::istringstream lines(text);
    std::vector<std::string> out;
    for (std::string line; std::getline(lines, line);)
        if (!line.empty()) out.push_back(line);
    return out;
}

std::string rate_text(FrameRate rate) {
    return std::to_string(rate.num) + "/" + std::to_string(rate.den);
}

class Prepared : public ::testing::TestWithParam<Claim> {
protected:
    void SetUp() override {
        NEED_TOOL("ffprobe");
        NEED_TOOL("ffmpeg");
        testing::prepare_clip(store_, place_, format(), claim().frames);
        clip_ = testing::prepared_clip(store_, place_, format());
        ASSERT_TRUE(clip_.index);
        sizes_ = media::plan_frame_bytes(format(), claim().frames, 1, 1);
    }
    const Claim& claim() const { return GetParam(); }
    const MediaFormat& format() const { return GetParam().format; }
    std::string frame(std::uint64_t number) const { return testing::path_of(*clip_.index, number); }
    /// "key=value" lines of the video stream.
    std::vector<std::string> probe() const {
        const auto ran =
            run("ffprobe -v error -select_streams v:0 -show_entries stream=codec_name,profile,"
                "width,height,pix_fmt,r_frame_rate,avg_frame_rate -of default=nw=1 " +
                frame(0));
        return lines_of(ran.output);
    }

    Place place_;
    DirectoryStore store_;
    Clip clip_;
    std::vector<std::uint32_t> sizes_;
};

void expect_no_complaint(const std::string& input) {
    const auto decoded = run("ffmpeg -v error -xerror -i " + input + " -f null -");
    EXPECT_EQ(decoded.code, 0);
    EXPECT_EQ(decoded.output, "");
}

class Containers : public Prepared {};

TEST_P(Containers, AreWhatTheyClaim) {
    const auto facts = probe();
    EXPECT_THAT(facts, Contains(std::string("codec_name=") + claim().codec));
    if (*claim().profile != '\0') {
        EXPECT_THAT(facts, Contains(std::string("profile=") + claim().profile));
    }
    EXPECT_THAT(facts, Contains(std::string("pix_fmt=") + claim().pixels));
    EXPECT_THAT(facts, Contains("width=" + std::to_string(format().width)));
    EXPECT_THAT(facts, Contains("height=" + std::to_string(format().height)));
    EXPECT_THAT(facts, Contains("r_frame_rate=" + rate_text(format().rate)));
    if (format().container != Container::mxf) {  // a mean of as many packets as ffprobe looks at, or none
        EXPECT_THAT(facts, Contains("avg_frame_rate=" + rate_text(format().rate)));
    }

    // Packets as planned, and where our index says.
    const auto walked =
        run("ffprobe -v error -select_streams v:0 -show_entries packet=size,pos -of csv=p=0 " + frame(0));
    const auto packets = lines_of(walked.output);
    ASSERT_EQ(packets.size(), claim().frames) << walked.output;
    for (std::uint64_t i = 0; i < claim().frames; ++i) {
        const Extent extent = clip_.index->extent(i);
        EXPECT_EQ(packets[i], std::to_string(sizes_[i]) + "," + std::to_string(extent.offset));
        EXPECT_EQ(extent.bytes, sizes_[i]);
    }

    // Frames are decoded without a word, each at its time. Standard error is in the output.
    const auto decoded =
        run("ffprobe -v error -select_streams v:0 -show_entries "
            "frame=best_effort_timestamp_time -of csv=p=0 " +
            frame(0));
    const auto times = lines_of(decoded.output);
    ASSERT_EQ(times.size(), claim().frames) << decoded.output;
    for (std::uint64_t i = 0; i < times.size(); ++i)
        EXPECT_NEAR(std::atof(times[i].c_str()), static_cast<double>(format().rate.due(i).ns) / 1e9, 2e-6);
    expect_no_complaint(frame(0));
}

Claim container(const char* codec,
                const char* profile,
                Container kind,
                int width,
                int height,
                FrameRate rate,
                std::uint64_t bytes,
                const char* name,
                const char* profile_name,
                const char* pixels) {
    return {format_of(codec, profile, kind, width, height, rate, bytes), name, profile_name, pixels};
}

std::vector<Claim> containers() {
    constexpr auto kMov = Container::quicktime;
    constexpr auto kMxf = Container::mxf;
    constexpr FrameRate k24{24000, 1001};
    constexpr FrameRate k25{25, 1}, k30{30000, 1001}, k60{60000, 1001};
    std::vector<Claim> out;
    const auto add = [&out](const char* codec, const char* profile, Container kind, int width, int height,
                            FrameRate rate, std::uint64_t bytes, const char* name, const char* said,
                            const char* pixels) {
        out.push_back(container(codec, profile, kind, width, height, rate, bytes, name, said, pixels));
    };
    add("prores", "apco", kMov, 1920, 1080, k24, 189'773, "prores", "Proxy", "yuv422p10le");
    add("prores", "apcs", kMov, 1920, 1080, k30, 425'425, "prores", "LT", "yuv422p10le");
    add("prores", "apcn", kMov, 1920, 1080, k25, 611'027, "prores", "Standard", "yuv422p10le");
    add("prores", "apch", kMov, 3840, 2160, k60, 3'687'017, "prores", "HQ", "yuv422p10le");
    add("prores", "ap4h", kMov, 2048, 1080, k24, 1'474'000, "prores", "4444", "yuv444p12le");
    add("prores", "ap4x", kMov, 4096, 2160, k24, 8'846'000, "prores", "XQ", "yuv444p12le");
    out.push_back(out.front());
    out.back().format = with_scenes(out.back().format);
    out.back().format.name += "-scenes";
    for (const auto& [width, height, lb, sq, hq, four] :
         {std::tuple{1920, 1080, 188'416, 606'208, 917'504, 1'835'008},
          {2048, 1080, 200'704, 643'072, 970'752, 1'941'504},
          {3840, 2160, 749'568, 2'408'448, 3'641'344, 7'286'784}}) {
        const auto dnxhr = [&add, &k24, width = width, height = height](const char* profile, int bytes,
                                                                        const char* said, const char* pixels) {
            add("dnxhr", profile, kMxf, width, height, width == 2048 ? FrameRate{24, 1} : k24,
                static_cast<std::uint64_t>(bytes), "dnxhd", said, pixels);
        };
        dnxhr("lb", lb, "DNXHR LB", "yuv422p");
        dnxhr("sq", sq, "DNXHR SQ", "yuv422p");
        dnxhr("hq", hq, "DNXHR HQ", "yuv422p");
        dnxhr("hqx", hq, "DNXHR HQX", "yuv422p10le");
        dnxhr("444", four, "DNXHR 444", "yuv444p10le");
    }
    add("dnxhr", "hqx", kMov, 1920, 1080, k60, 917'504, "dnxhd", "DNXHR HQX", "yuv422p10le");
    out.back().format.name += "-mov";
    add("v210", "", kMov, 1920, 1080, k24, 5'529'600, "v210", "", "yuv422p10le");
    add("v210", "", kMov, 4096, 2160, k60, 23'777'280, "v210", "", "yuv422p10le");
    constexpr const char* kIntra = "High 4:2:2 Intra";
    add("h264", "avci100", kMxf, 1920, 1080, k24, 472'576, "h264", kIntra, "yuv422p10le");
    add("h264", "avci100", kMxf, 1920, 1080, k30, 472'576, "h264", kIntra, "yuv422p10le");
    add("h264", "avci100", kMxf, 1920, 1080, k25, 568'832, "h264", kIntra, "yuv422p10le");
    add("h264", "avci100", kMxf, 1920, 1080, FrameRate{50, 1}, 568'832, "h264", kIntra, "yuv422p10le");
    add("h264", "avci100", kMxf, 1920, 1080, k60, 472'576, "h264", kIntra, "yuv422p10le");
    add("h264", "avci200", kMxf, 1920, 1080, k24, 952'832, "h264", kIntra, "yuv422p10le");
    add("h264", "avci200", kMxf, 1920, 1080, k25, 1'144'320, "h264", kIntra, "yuv422p10le");
    add("h264", "xavc300", kMxf, 3840, 2160, k25, 1'260'032, "h264", kIntra, "yuv422p10le");
    add("h264", "xavc300", kMxf, 4096, 2160, k60, 1'260'032, "h264", kIntra, "yuv422p10le");
    add("h264", "xavc480", kMxf, 3840, 2160, k30, 2'009'600, "h264", kIntra, "yuv422p10le");
    const auto long_gop = [&](const char* name, const char* gop, std::uint64_t frames, FrameRate rate) {
        add("h264", "long-gop", Container::mp4, 1920, 1080, rate, std::uint64_t{41'667}, "h264", "High",
            "yuv420p");
        out.back().format.name += name;
        out.back().format.size.gop = gop;
        out.back().frames = frames;
    };
    long_gop("-24", "IPBBPBBPBBPBBPBBPBBPBBPB", 60, k24);
    long_gop("-cut", "IPBBPBBPBBPBBPBBPBBPBBPB", 44, k30);
    long_gop("-p", "IPPPPPP", 10, k25);
    long_gop("-i", "I", 4, k25);
    long_gop("-b3", "IPBBBPBBB", 21, k60);
    add("jpeg2000", "", kMxf, 2048, 1080, FrameRate{24, 1}, 1'302'083, "jpeg2000",
        "JPEG 2000 digital cinema 2K", "xyz12le");
    add("jpeg2000", "", kMxf, 4096, 2160, FrameRate{24, 1}, 1'302'083, "jpeg2000",
        "JPEG 2000 digital cinema 4K", "xyz12le");
    add("jpeg2000", "", kMxf, 1920, 1080, k24, 1'302'083, "jpeg2000", "", "rgb48le");
    return out;
}

INSTANTIATE_TEST_SUITE_P(All, Containers, ::testing::ValuesIn(containers()), test_name);

class Images : public Prepared {};
class DpxImages : public Prepared {};

TEST_P(Images, AreWhatTheyClaim) {
    for (std::uint64_t i = 0; i < claim().frames; ++i) {
        const auto info = store_.stat(frame(i));
        EXPECT_EQ((*info)->bytes, sizes_[i]);
    }
    if (*claim().codec == '\0') return;
    const auto facts = probe();
    EXPECT_THAT(facts, Contains(std::string("codec_name=") + claim().codec));
    EXPECT_THAT(facts, Contains(std::string("pix_fmt=") + claim().pixels));
    EXPECT_THAT(facts, Contains("width=" + std::to_string(format().width)));
    EXPECT_THAT(facts, Contains("height=" + std::to_string(format().height)));
    expect_no_complaint(frame(0));
}

/// GraphicsMagick reads the samples and writes them with the same packing: the same bytes come out, so the
/// samples stand where it expects them, and all filler is zero as its own.
TEST_P(DpxImages, ComeBackFromGraphicsMagickUnchanged) {
    NEED_TOOL("gm");
    const DpxLayout& layout = format().dpx;
    constexpr const char* kPackings[] = {"packed", "a", "b"};
    const bool filled = layout.bits == 10 || layout.bits == 12;
    const std::string again = place_.at("again.dpx");
    const auto written = run("gm convert " + frame(0) + " -endian " + (layout.big_endian ? "MSB" : "LSB") +
                             " -define dpx:bits-per-sample=" + std::to_string(layout.bits) +
                             (filled ? std::string(" -define dpx:packing-method=") +
                                           kPackings[static_cast<std::size_t>(layout.packing)]
                                     : "") +
                             " " + again);
    ASSERT_EQ(written.code, 0) << written.output;
    const std::string ours = place_.read(frame(0).substr(place_.path().size() + 1));
    const std::string theirs = place_.read("again.dpx");
    const std::size_t image = sizes_[0] - layout.image_offset;
    ASSERT_GE(theirs.size(), image);
    EXPECT_TRUE(std::equal(ours.end() - static_cast<std::ptrdiff_t>(image), ours.end(),
                           theirs.end() - static_cast<std::ptrdiff_t>(image)));
}

TEST_P(Images, ReadInGraphicsMagickAndOpenImageIo) {
    NEED_TOOL("gm");
    NEED_TOOL("oiiotool");
    const std::string raster = std::to_string(format().width) + "x" + std::to_string(format().height);
    if (format().codec != "exr") {
        const auto facts = run("gm identify -format '%m %wx%h' " + frame(1));
        EXPECT_EQ(facts.code, 0) << facts.output;
        EXPECT_THAT(facts.output, HasSubstr(raster));
    }
    const bool oiio_reads = format().codec != "dpx" || format().dpx.bits != 8 || format().width % 4 == 0;
    if (!oiio_reads) return;
    const auto read = run("oiiotool --info -v --stats " + frame(1));
    EXPECT_EQ(read.code, 0) << read.output;
    EXPECT_THAT(read.output, HasSubstr("3 channel"));
    if (format().codec != "exr") return;
    EXPECT_THAT(read.output, HasSubstr("half openexr"));
    EXPECT_THAT(read.output, HasSubstr("NanCount: 0 0 0"));
    EXPECT_THAT(read.output, HasSubstr("InfCount: 0 0 0"));
    NEED_TOOL("exrheader");
    const auto header = run("exrheader " + frame(1));
    EXPECT_EQ(header.code, 0);
    EXPECT_THAT(header.output, HasSubstr("framesPerSecond"));
    EXPECT_THAT(header.output, HasSubstr(rate_text(format().rate)));
}

Claim exr(const char* profile, int width, int height, std::uint64_t bytes) {
    return {format_of("exr", profile, Container::sequence, width, height, {24000, 1001}, bytes), "exr", "",
            "gbrpf32le", 2};
}

std::vector<Claim> images() {
    std::vector<Claim> out = {exr("none", 1920, 1080, 12'459'483), exr("none", 3840, 2160, 49'801'563),
                              exr("zip", 3840, 2160, 19'000'000),  exr("piz", 3840, 2160, 19'000'000),
                              exr("dwaa", 3840, 2160, 13'000'000), exr("zip", 1998, 1077, 4'000'001)};
    const auto other = [&out](const char* codec, int width, int height, std::uint64_t bytes,
                              const char* pixels) {
        out.push_back({format_of(codec, "", Container::sequence, width, height, {24, 1}, bytes),
                       std::string(codec) == "cineon" ? "" : codec, "", pixels, 2});
    };
    other("tiff", 3840, 2160, 49'779'718, "rgb48le");
    other("tiff", 1921, 1081, 0, "rgb48le");
    other("cineon", 2048, 1556, 12'746'752 + 2048, "");
    other("cineon", 1999, 857, 0, "");
    for (const int width : {1920, 1999}) {
        for (const bool big_endian : {true, false}) {
            for (const int bits : {8, 16}) {
                out.push_back({dpx_of(bits, 0, big_endian, width, 1080), "", "", "", 2});
            }
            for (const int packing : {0, 1, 2})
                for (const int bits : {10, 12})
                    out.push_back({dpx_of(bits, packing, big_endian, width, 1080), "", "", "", 2});
        }
    }
    return out;
}

std::vector<Claim> dpx_images() {
    std::vector<Claim> out = images();
    std::erase_if(out, [](const Claim& claim) { return claim.format.codec != "dpx"; });
    return out;
}

INSTANTIATE_TEST_SUITE_P(All, Images, ::testing::ValuesIn(images()), test_name);
INSTANTIATE_TEST_SUITE_P(All, DpxImages, ::testing::ValuesIn(dpx_images()), test_name);

TEST(FrameMakers, EstimatesHoldAtTheRastersOfTheField) {
    for (const auto& [width, height] :
         {std::pair{1920, 1080}, {2048, 1080}, {1998, 1080}, {3840, 2160}, {4096, 2160}}) {
        std::vector<MediaFormat> formats;
        for (const char* profile : {"lb", "hqx", "444"})
            formats.push_back(format_of("dnxhr", profile, Container::mxf, width, height));
        for (const char* profile : {"zip", "piz", "dwaa"})
            formats.push_back(format_of("exr", profile, Container::sequence, width, height));
        formats.push_back(format_of("h264", "long-gop", Container::mp4, width, height));
        const bool class_100 = width == 1920;
        const bool class_300 = width >= 3840;
        if (class_100) formats.push_back(format_of("h264", "avci100", Container::mxf, width, height, {25, 1}));
        if (class_300) formats.push_back(format_of("h264", "xavc300", Container::mxf, width, height, {25, 1}));
        formats.push_back(format_of("jpeg2000", "", Container::mxf, width, height));
        formats.push_back(format_of("v210", "", Container::quicktime, width, height));
        for (const MediaFormat& format : formats) {
            const auto made = media::make_frame_maker(format, 8);
            ASSERT_TRUE(made) << testing::all_problems(made.error());
            const auto& maker = *made;
            for (std::uint64_t frame = 0; frame < 8; ++frame)
                EXPECT_LE(maker->limits(frame).min, media::frame_bytes_min(format))
                    << format.name << " " << width;
        }
    }
}

}  // namespace
}  // namespace streamsim
