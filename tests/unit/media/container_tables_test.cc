// The project's own reader of sample tables gives what libavformat gives, or declines.
#include "media/container/container_tables.h"

#include <gmock/gmock.h>

#include <cstring>
#include <map>

#include "base/prng.h"
#include "media/container/container_reader.h"
#include "media/container/mov_audio.h"
#include "unit/media/fixtures.h"

namespace streamsim::media {
namespace {

using testing::DirectoryStore;
using testing::Place;
using testing::run;

class MemorySource final : public ByteSource {
public:
    explicit MemorySource(const std::string& bytes) : bytes_(bytes) {}
    Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override {
        if (offset >= bytes_.size()) return std::size_t{0};
        const std::size_t got = std::min(into.size(), bytes_.size() - static_cast<std::size_t>(offset));
        std::memcpy(into.data(), bytes_.data() + offset, got);
        return got;
    }
    Result<std::uint64_t> size() override { return bytes_.size(); }

private:
    const std::string& bytes_;
};

std::uint32_t read_size(const std::string& bytes, std::size_t at) {
    return u32(std::as_bytes(std::span(bytes)), at);
}

void write_size(std::string& bytes, std::size_t at, std::size_t size) {
    for (int i = 0; i < 4; ++i)
        bytes[at + static_cast<std::size_t>(i)] = static_cast<char>(size >> (24 - 8 * i));
}

std::string in_text(const std::vector<Extent>& extents) {
    std::string out;
    for (const Extent& extent : extents)
        out += std::to_string(extent.offset) + "+" + std::to_string(extent.bytes) + " ";
    return out;
}

template <typename Number>
std::string in_text(const std::vector<Number>& numbers) {
    std::string out;
    for (const Number number : numbers) out += std::to_string(number) + " ";
    return out;
}

/// Each fact of it, by its name.
std::map<std::string, std::string> facts(const ReadContainer& read) {
    std::map<std::string, std::string> out{
        {"format", read.format},
        {"tracks", read.tracks},
        {"pattern", read.pattern},
        {"time code", read.timecode.value_or("none")},
        {"time code rate", std::to_string(read.timecode_rate)},
        {"frames", in_text(read.extents)},
        {"sync", in_text(read.sync)},
        {"tick", std::to_string(read.stamps.tick_num) + "/" + std::to_string(read.stamps.tick_den)},
        {"decode", in_text(read.stamps.decode)},
        {"show", in_text(read.stamps.show)},
        {"last", std::to_string(read.stamps.last_ticks)},
        {"cut", std::to_string(static_cast<int>(read.stamps.cut))},
    };
    for (const FrameRate rate : read.stamps.stated_rates) out["rates"] += rate.to_string() + " ";
    for (const std::string& note : read.notes) out["notes"] += note + "\n";
    for (const auto& track : read.audio) {
        for (const AudioPiece& piece : track)
            out["audio"] += in_text(std::vector{piece.extent}) + std::to_string(piece.start_ns) + " for " +
                            std::to_string(piece.length_ns) + "\n";
        out["audio"] += "end\n";
    }
    return out;
}

/// True when the own reader reads `bytes`, and then as libavformat does.
bool reads(const std::string& bytes, bool audio, const std::string& what) {
    MemorySource source(bytes);
    const auto structure = container_structure(source, nullptr);
    if (!structure) return false;
    const auto own = read_tables(source, *structure, {.audio = audio});
    EXPECT_TRUE(own) << what;
    if (!own || !*own) return false;
    const auto other = read_container(source, "x", *structure, {.audio = audio});
    EXPECT_TRUE(other) << what << ": " << testing::all_problems(other.error());
    if (!other) return true;
    auto expected = facts(*other);
    for (const auto& [name, value] : facts(**own)) EXPECT_EQ(value, expected[name]) << what << ": " << name;
    return true;
}

class Tables : public ::testing::Test {
protected:
    std::string made(const std::string& name, const std::string& options) {
        const auto ran =
            run("ffmpeg -v error -y -f lavfi -i testsrc2=s=64x36:r=25 -f lavfi -i sine=r=48000 -t 0.8 " +
                options + " " + place_.at(name));
        EXPECT_EQ(ran.code, 0) << options << ": " << ran.output;
        return ran.code == 0 ? place_.read(name) : "";
    }

    Place place_;
};

struct Case {
    const char* name;
    const char* options;
    bool own;  // the own reader reads it
};

const std::vector<Case>& cases() {
    static const std::vector<Case> all{
        {"prores.mov", "-map 0 -c:v prores_ks", true},
        {"prores_audio.mov", "-map 0 -map 1 -c:v prores_ks -c:a pcm_s16le", true},
        {"prores_audio24.mov", "-map 0 -map 1 -map 1 -c:v prores_ks -c:a pcm_s24le", true},
        {"prores_audio24be.mov", "-map 0 -map 1 -c:v prores_ks -ac 2 -c:a pcm_s24be", true},
        {"prores_surround.mov", "-map 0 -map 1 -c:v prores_ks -ac 6 -c:a pcm_s16be", true},
        {"prores_aac.mov", "-map 0 -map 1 -c:v prores_ks -c:a aac", true},
        {"prores_timecode.mov", "-map 0 -c:v prores_ks -timecode 10:11:12:13", true},
        {"prores_drop.mov", "-map 0 -r 30000/1001 -c:v prores_ks -timecode '01:00:59;28'", true},
        {"prores_2398.mov", "-map 0 -r 24000/1001 -c:v prores_ks -timecode 01:00:59:20", true},
        {"prores_50.mov", "-map 0 -r 50 -c:v prores_ks -timecode 01:00:59:40", true},
        {"prores_start.mov", "-map 0 -c:v prores_ks -movflags +faststart", true},
        {"prores_tags.mov", "-map 0 -c:v prores_ks -metadata title=one -metadata comment=timecode", true},
        {"prores_keys.mov", "-map 0 -c:v prores_ks -movflags use_metadata_tags -metadata x=1", false},
        {"dnxhr.mov", "-map 0 -s 256x144 -c:v dnxhd -profile:v dnxhr_sq -pix_fmt yuv422p", true},
        {"dnxhr_audio.mov",
         "-map 0 -map 1 -s 256x144 -c:v dnxhd -profile:v dnxhr_sq -pix_fmt yuv422p -c:a pcm_s24le", true},
        {"v210.mov", "-map 0 -c:v v210", true},
        {"mjpeg.mov", "-map 0 -c:v mjpeg", false},
        {"mpeg4.mp4", "-map 0 -c:v mpeg4", false},
        {"h264.mp4", "-map 0 -c:v libx264 -g 10 -bf 0", true},
        {"h264_b.mp4", "-map 0 -c:v libx264 -g 10 -bf 3", true},
        {"h264_audio.mp4", "-map 0 -map 1 -c:v libx264 -g 10 -bf 3 -c:a aac", true},
        {"h264_audio44.mp4", "-map 0 -map 1 -c:v libx264 -g 10 -c:a aac -ar 44100 -ac 2", true},
        {"h264_start.mp4", "-map 0 -map 1 -c:v libx264 -g 10 -c:a aac -movflags +faststart", true},
        {"h264.mov", "-map 0 -map 1 -c:v libx264 -g 10 -c:a pcm_s16le", true},
        {"h264_negative.mp4", "-map 0 -c:v libx264 -g 10 -bf 3 -movflags +negative_cts_offsets", true},
        {"h264_no_edits.mp4", "-map 0 -c:v libx264 -g 10 -bf 3 -use_editlist 0", true},
        {"h264_timecode.mp4", "-map 0 -c:v libx264 -g 10 -timecode 01:02:03:04", true},
        {"h264_title.mp4", "-map 0 -c:v libx264 -metadata title=one -metadata artist=two", true},
        {"h264_1001.mp4", "-map 0 -r 30000/1001 -c:v libx264 -g 10 -bf 2", true},
        {"h264_600.mov", "-map 0 -c:v libx264 -video_track_timescale 600", true},
        {"hevc.mp4", "-map 0 -c:v libx265 -x265-params log-level=none -tag:v hvc1", true},
        {"late.mp4", "-map 0 -c:v libx264 -output_ts_offset 0.5", false},
        {"variable.mp4", "-map 0 -vf setpts='PTS+0.2*floor(N/7)/TB' -vsync vfr -c:v libx264 -bf 0", false},
        {"fragmented.mp4", "-map 0 -c:v libx264 -movflags +frag_keyframe+empty_moov", false},
        {"two_videos.mov", "-map 0 -map 0 -c:v prores_ks", false},
        {"mp3.mov", "-map 0 -map 1 -c:v prores_ks -c:a libmp3lame", false},
        {"ac3.mp4", "-map 0 -map 1 -c:v libx264 -c:a ac3", false},
        {"one.mov", "-map 0 -frames:v 1 -c:v prores_ks", true},
    };
    return all;
}

TEST_F(Tables, AreReadAsLibavformatReadsThem) {
    for (const Case& each : cases()) {
        const std::string bytes = made(each.name, each.options);
        EXPECT_EQ(reads(bytes, false, each.name), each.own) << each.name;
        EXPECT_EQ(reads(bytes, true, each.name), each.own) << each.name << " with audio";
    }
}

TEST_F(Tables, OfOurOwnFilesAreRead) {
    const MediaFormat format = testing::small_prores("x", 64, 36, 3'000);
    DirectoryStore disk;
    for (const std::uint64_t frames : {1u, 2u, 50u}) {
        testing::write_mov(disk, place_.at("a.mov"), format, frames);
        EXPECT_TRUE(reads(place_.read("a.mov"), true, std::to_string(frames)));
    }
}

/// Only a forger writes such headers: libavformat may have them.
TEST_F(Tables, WithoutMeasureAreLeft) {
    // With few samples, so that all tracks together do not claim more than there are bytes.
    const std::string whole =
        made("a.mov", "-map 0 -map 1 -c:v prores_ks -af atrim=end=0.05 -ar 8000 -c:a pcm_s16le");
    const auto with = [&whole](const std::string& more) {
        std::string bytes = whole;
        const std::size_t moov = bytes.find("moov") - 4;
        EXPECT_EQ(moov + read_size(bytes, moov), bytes.size()) << "it is the last";
        bytes += more;
        write_size(bytes, moov, bytes.size() - moov);
        return bytes;
    };
    const std::size_t audio = whole.rfind("trak") - 4;
    const std::string track = whole.substr(audio, read_size(whole, audio));
    const auto times = [](std::size_t count, const std::string& text) {
        std::string out;
        for (std::size_t i = 0; i < count; ++i) out += text;
        return out;
    };
    const std::string free_box(
        "\0\0\0\x08"
        "free",
        8);
    EXPECT_TRUE(reads(with(""), true, "as it was"));
    EXPECT_TRUE(reads(with(times(3, track)), true, "some tracks"));
    EXPECT_FALSE(reads(with(times(63, track)), true, "65 tracks"));
    EXPECT_TRUE(reads(with(times(100, free_box)), true, "some boxes"));
    EXPECT_FALSE(reads(with(times(20'000, free_box)), true, "many boxes"));
}

TEST(MovTimes, AreInNanosecondsAndNeverBeyondTheFarthest) {
    EXPECT_EQ(ticks_to_ns(-1, 3), -333'333'334);
    EXPECT_EQ(ticks_to_ns(48'000, 48'000), 1'000'000'000);
    EXPECT_EQ(ticks_to_ns(std::int64_t{1} << 40, 1), std::int64_t{1} << 60);
    EXPECT_EQ(ticks_to_ns(-(std::int64_t{1} << 40), 1), -(std::int64_t{1} << 60));
}

/// Whatever the own reader accepts of a damaged file, libavformat reads alike.
TEST_F(Tables, DamagedOnesAreReadAlikeOrLeft) {
    Prng random(5);
    std::size_t read_by_own = 0;
    for (const Case& each : cases()) {
        if (!each.own) continue;
        const std::string whole = made(each.name, std::string("-bitexact ") + each.options);
        const std::size_t header = whole.find("moov");
        ASSERT_NE(header, std::string::npos);
        const std::size_t end = std::string_view(each.name).find("start") == std::string_view::npos
                                    ? whole.size()
                                    : whole.find("mdat");
        for (unsigned round = 0; round < 160; ++round) {
            std::string bytes = whole;
            std::string what = std::string(each.name) + " round " + std::to_string(round);
            if (round % 8 == 0) bytes.resize(random.below(whole.size()));
            const std::uint64_t flips = round % 8 == 0 ? 0 : 1 + random.below(3);
            for (std::uint64_t i = 0; i < flips; ++i) {
                const std::size_t at = header - 4 + random.below(end - header + 4);
                bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
                what += " byte " + std::to_string(at);
            }
            if (reads(bytes, round % 2 == 0, what)) ++read_by_own;
            if (HasFailure()) return;
        }
    }
    EXPECT_GT(read_by_own, 50u);
}

}  // namespace
}  // namespace streamsim::media
