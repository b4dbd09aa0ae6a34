#include "unit/media/prepared_formats.h"

#include <gtest/gtest.h>

#include "media/frames/frame_maker.h"
#include "media/write/media_set.h"

namespace streamsim::testing {

MediaFormat format_of(const std::string& codec,
                      const std::string& profile,
                      Container container,
                      int width,
                      int height,
                      FrameRate rate,
                      std::uint64_t bytes) {
    MediaFormat format;
    format.name = codec + (profile.empty() ? "" : "-" + profile);
    format.codec = codec;
    format.profile = profile;
    format.container = container;
    format.width = width;
    format.height = height;
    format.rate = rate;
    format.rates = {rate};
    if (profile == "long-gop") format.size.gop = "IPBBPBB";
    const bool stuffed = codec != "dpx" && codec != "v210" && codec != "tiff" && codec != "cineon";
    const bool random = codec == "exr" && profile == "none";
    if (bytes == 0) bytes = media::frame_bytes_min(format) + (stuffed && !random ? 150'001 : 0);
    format.size.mean_bytes = static_cast<double>(bytes);
    format.mean_frame_bytes = format.size.mean_bytes;
    return format;
}

MediaFormat dpx_of(int bits, int packing, bool big_endian, int width, int height) {
    MediaFormat format = format_of("dpx", "", Container::sequence, width, height);
    format.name += std::to_string(bits) +
                   (packing == 0   ? "p"
                    : packing == 1 ? "a"
                                   : "b") +
                   (big_endian ? "" : "le") + "-" + std::to_string(width);
    format.dpx = {.bits = bits, .packing = packing, .big_endian = big_endian};
    format.mean_frame_bytes = static_cast<double>(media::frame_bytes_min(format));
    format.size.mean_bytes = format.mean_frame_bytes;
    return format;
}

MediaFormat with_scenes(MediaFormat format) {
    FrameSizeModel& size = format.size;
    size.kind = FrameSizeModel::Kind::scene;
    size.level_min = 0.8;
    size.level_max = 1.2;
    size.shot_frames_min = 2;
    size.shot_frames_max = 5;
    size.variation = 0.05;
    size.correlation = 0.5;
    size.cap = 1.3;
    return format;
}

std::vector<MediaFormat> all_small_formats() {
    std::vector<MediaFormat> formats;
    for (const int width : {64, 37}) {
        for (const bool big_endian : {true, false}) {
            for (const int bits : {8, 16}) formats.push_back(dpx_of(bits, 0, big_endian, width, 19));
            for (const int packing : {0, 1, 2})
                for (const int bits : {10, 12}) formats.push_back(dpx_of(bits, packing, big_endian, width, 19));
        }
    }
    for (const char* profile : {"none", "zip", "piz", "dwaa"})
        formats.push_back(format_of("exr", profile, Container::sequence, 101, 67));
    formats.push_back(format_of("tiff", "", Container::sequence, 101, 67));
    formats.push_back(format_of("cineon", "", Container::sequence, 101, 67));
    formats.push_back(format_of("v210", "", Container::quicktime, 98, 66, {24000, 1001}));
    for (const char* profile : {"apco", "apcs", "apcn", "apch", "ap4h", "ap4x"})
        formats.push_back(format_of("prores", profile, Container::quicktime, 160, 90, {30000, 1001}));
    for (const char* profile : {"lb", "sq", "hq", "hqx", "444"})
        formats.push_back(format_of("dnxhr", profile, Container::mxf, 320, 180, {24000, 1001}));
    formats.push_back(format_of("dnxhr", "sq", Container::quicktime, 320, 180, {25, 1}));
    formats.back().name += "-mov";
    for (const char* profile : {"avci100", "avci200", "xavc300", "xavc480"})
        formats.push_back(format_of("h264", profile, Container::mxf, 320, 176, {25, 1}));
    formats.push_back(format_of("h264", "avci100", Container::quicktime, 320, 176, {25, 1}));
    formats.back().name += "-mov";
    formats.push_back(format_of("h264", "long-gop", Container::mp4, 320, 176, {24000, 1001}));
    formats.push_back(format_of("jpeg2000", "", Container::mxf, 320, 176));
    return formats;
}

void prepare_clip(DirectoryStore& store, const Place& place, const MediaFormat& format, std::uint64_t frames) {
    media::PrepareProgress progress;
    const auto plan = media::plan_prepare(store, {place.path(), format, 1, format.rate.due(frames), 1});
    ASSERT_TRUE(plan) << all_problems(plan.error());
    ASSERT_EQ(plan->frames, frames);
    const auto done = prepare(store, *plan, progress);
    ASSERT_TRUE(done) << all_problems(done.error());
    EXPECT_EQ(progress.bytes_done, progress.bytes_total);
}

Clip prepared_clip(DirectoryStore& store, const Place& place, const MediaFormat& format) {
    auto clips = media::complete_clips(store, place.path(), format, std::nullopt);
    if (!clips) ADD_FAILURE() << format.name << ": " << all_problems(clips.error());
    if (!clips || clips->size() != 1) return {};
    return std::move(clips->front());
}

}  // namespace streamsim::testing
