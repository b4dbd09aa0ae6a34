// Clips that ffmpeg made in many ways, none of them ours: the index must equal, frame by frame, what ffprobe
// lists. A new case is a line in the table.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ostream>

#include "base/document/json.h"
#include "base/timecode.h"
#include "media/clips/clip_index.h"
#include "unit/media/fixtures.h"

namespace streamsim {
namespace {

using testing::DirectoryStore;
using ::testing::HasSubstr;
using testing::Place;
using testing::run;

struct Made {
    const char* file;
    std::string input;   // pictures and sound
    std::string output;  // how they are coded and stored
    FrameRate rate = {25, 1};
    std::optional<std::uint64_t> timecode = std::nullopt;
    std::string structure = "";  // in its line
    std::string note = "";       // among its notes
    bool variable = false;
    std::string encoder = "";  // that this ffmpeg may not have
};

void PrintTo(const Made& made, std::ostream* out) {
    *out << made.file;
}

std::string small(const std::string& rate) {
    return "-f lavfi -i testsrc2=s=320x180:r=" + rate;
}
std::string hd(const std::string& rate) {
    return "-f lavfi -i testsrc2=s=1920x1080:r=" + rate;
}
const std::string kSound = " -f lavfi -i sine=r=48000";
const std::string kFilm = "24000/1001";
const std::string kVarying = "-vf \"setpts='if(lt(N,20),N,20+(N-20)*3)/25/TB'\" -vsync vfr ";
constexpr FrameRate kFilmRate{24000, 1001};
constexpr FrameRate kNtscRate{30000, 1001};
constexpr FrameRate kNtsc60Rate{60000, 1001};

const std::vector<Made> kClips = {
    {"faststart.mov",
     small(kFilm) + kSound,
     "-t 2 -c:v prores_ks -c:a pcm_s24le -movflags +faststart",
     kFilmRate,
     {},
     "MOV: ftyp 20 B, moov "},
    {"chunks.mov",
     small("25") + kSound,
     "-t 3 -c:v prores_ks -c:a pcm_s24le -ac 2 -chunk_duration 500000",
     {25, 1},
     {},
     "last; video prores, audio pcm_s24le 2 ch 48 kHz; 10.7 frames back to back on average; audio in 6 "
     "chunks of 501.3 ms"},
    {"four_tracks.mov",
     small("24") + kSound + kSound + kSound + kSound,
     "-map 0 -map 1 -map 2 -map 3 -map 4 -t 2 -c:v prores_ks -c:a pcm_s16le",
     {24, 1},
     {},
     "4 x audio pcm_s16le 1 ch 48 kHz"},
    {"two_videos.mov",
     small("24") + " " + small("25"),
     "-map 1 -map 0 -t 1 -c:v prores_ks",
     {25, 1},
     {},
     "2 x video prores",
     "it has 2 video tracks"},
    {"start.mov", small("25"), "-t 1 -c:v prores_ks -timecode 10:00:00:05", {25, 1}, 900'005},
    {"dnxhr.mov", hd("25") + kSound, "-t 1 -c:v dnxhd -profile:v dnxhr_lb -pix_fmt yuv422p -c:a pcm_s16le"},
    {"dnxhr.mxf",
     hd("25") + kSound,
     "-t 1 -c:v dnxhd -profile:v dnxhr_lb -pix_fmt yuv422p -c:a pcm_s16le -timecode 01:00:00:00",
     {25, 1},
     90'000,
     "MXF OP1a; video dnxhd, audio pcm_s16le 1 ch 48 kHz"},
    {"dnxhd_atom.mxf", hd(kFilm), "-t 1 -c:v dnxhd -b:v 36M -pix_fmt yuv422p -f mxf_opatom", kFilmRate, 0,
     "MXF OP-Atom; video dnxhd; frames back to back"},
    {"avc_intra.mxf", hd("30000/1001") + kSound,
     "-t 1 -c:v libx264 -preset ultrafast -pix_fmt yuv422p10le -x264-params avcintra-class=100:interlaced=0 "
     "-c:a pcm_s16le "
     "-timecode '00:59:59;29'",
     kNtscRate, 107'891, "OP1a"},
    {"jpeg2000.mxf", small("24"), "-t 1 -c:v jpeg2000 -pix_fmt yuv422p10le", {24, 1}, 0},
    {"xdcam.mxf",
     hd("25") + kSound,
     "-t 1 -c:v mpeg2video -pix_fmt yuv422p -b:v 50M -g 12 -bf 2 -c:a pcm_s16le",
     {25, 1},
     0},
    {"v210.mov", small("60000/1001"), "-t 1 -c:v v210", kNtsc60Rate},
    {"b_frames.mp4", small(kFilm) + kSound, "-t 2 -c:v libx264 -bf 3 -g 24 -c:a aac", kFilmRate},
    {"b_frames.mkv",
     small(kFilm) + kSound,
     "-t 2 -c:v libx264 -bf 3 -g 24 -c:a aac",
     kFilmRate,
     {},
     "Matroska: 2 clusters, cues; video h264"},
    {"b_frames.ts",
     small("30000/1001") + kSound,
     "-t 2 -c:v libx264 -bf 3 -g 24 -c:a aac",
     kNtscRate,
     {},
     "MPEG transport stream"},
    {"b_frames.avi", small("50") + kSound, "-t 1 -c:v libx264 -bf 2 -g 24 -c:a mp3", {50, 1}, {}, "AVI"},
    {"fields.ts", small("25") + kSound,
     "-t 2 -c:v libx264 -x264-params tff=1:interlaced=1 -flags +ildct+ilme -c:a aac"},
    {"fragments.mp4",
     small("60000/1001") + kSound,
     "-t 2 -c:v libx264 -g 30 -c:a aac -movflags frag_keyframe+empty_moov",
     kNtsc60Rate,
     {},
     "4 fragments"},
    {"based.mp4",
     small("25") + kSound,
     "-t 2 -c:v libx264 -c:a aac -movflags frag_keyframe+empty_moov+default_base_moof -frag_duration "
     "300000",
     {25, 1},
     {},
     "fragments"},
    {"indexed.mp4",
     small(kFilm) + kSound,
     "-t 3 -c:v libx264 -g 12 -c:a aac -movflags dash+global_sidx",
     kFilmRate,
     {},
     "sidx "},
    {"each_fragment.mp4", small("25"),
     "-t 3 -c:v libx264 -g 10 -movflags frag_keyframe+empty_moov+default_base_moof+global_sidx"},
    {"half_moov.mp4", small("25") + kSound, "-t 2 -c:v libx264 -g 10 -c:a aac -movflags frag_keyframe"},
    {"late_sound.mp4",
     small(kFilm) + kSound,
     "-t 2 -c:v mpeg4 -g 12 -c:a aac -movflags frag_keyframe+empty_moov",
     kFilmRate,
     {},
     "",
     "its first frame lasts 63.0 ms"},
    {"no_edit_list.mov", small("25") + kSound, "-t 2 -c:v libx264 -c:a pcm_s16le -use_editlist 0"},
    {"hevc.mp4",
     small("50"),
     "-t 1 -c:v libx265 -x265-params log-level=none -tag:v hvc1",
     {50, 1},
     {},
     "video hevc",
     "",
     false,
     "libx265"},
    {"vp9.webm",
     small("30"),
     "-t 1 -c:v libvpx-vp9 -deadline realtime -cpu-used 8",
     {30, 1},
     {},
     "video vp9",
     "",
     false,
     "libvpx-vp9"},
    {"mjpeg.avi", small("30000/1001") + kSound, "-t 2 -c:v mjpeg -c:a pcm_s16le", kNtscRate},
    {"program.mpg",
     small("25") + kSound,
     "-t 2 -c:v mpeg2video -b:v 8M -bf 2 -c:a mp2",
     {25, 1},
     {},
     "MPEG program stream"},
    {"padded.ts", small("25") + kSound, "-t 2 -c:v mpeg2video -c:a mp2 -muxrate 4M"},
    {"ffv1.mkv", small("30000/1001"), "-t 1 -c:v ffv1", kNtscRate},
    {"prores.mkv", small("60000/1001") + kSound, "-t 1 -c:v prores_ks -c:a pcm_s16le", kNtsc60Rate},
    {"tagged.mkv", small("25"), "-t 1 -c:v libx264 -g 1 -timecode 02:00:00:05", {25, 1}, 180'005},
    {"drop.mov", small("30000/1001"), "-t 1 -c:v prores_ks -timecode '01:00:00;00'", kNtscRate, 107'892},
    {"no_drop.mov", small("30000/1001"), "-t 1 -c:v prores_ks -timecode 01:00:00:00", kNtscRate, 108'000},
    {"drop60.mp4", small("60000/1001"), "-t 1 -c:v libx264 -timecode '00:10:00;00'", kNtsc60Rate, 35'964},
    {"milliseconds.mp4", small(kFilm), "-t 4 -c:v libx264 -video_track_timescale 1000", kFilmRate},
    {"90k.mp4", small(kFilm), "-t 4 -c:v libx264 -video_track_timescale 90000", kFilmRate},
    {"not_quite.mov",
     small("2997/125"),
     "-t 4 -c:v prores_ks -video_track_timescale 2997",
     kFilmRate,
     {},
     "",
     "its time stamps give 2997/125 fps: taken as 24000/1001"},
    {"varying.mov",
     small("25") + kSound,
     kVarying + "-t 2 -c:v prores_ks -c:a pcm_s16le",
     {750, 47},
     {},
     "",
     "its frame rate varies (frames of 40.0 ms to 160.0 ms)",
     true},
    {"varying.mp4", small("25"), kVarying + "-t 2 -c:v libx264 -bf 2", {375, 22}, {}, "", "rate varies", true},
    {"varying.mkv", small("25"), kVarying + "-t 2 -c:v libx264 -bf 2", {750, 47}, {}, "", "rate varies", true},
};

struct Probed {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> frames;  // offset, size
    std::vector<double> seconds;                                  // from the first on, rising
    std::vector<std::uint64_t> sync;
    std::vector<Extent> audio;
};

/// The frames that ffprobe lists. If it lacks the decoding stamp of a frame, the presentation stamps are used
/// for all, in order.
Probed probe(const std::string& path) {
    const auto ran =
        run("ffprobe -v error -show_entries packet=codec_type,stream_index,pos,size,pts_time,dts_time,flags "
            "-of json " +
            path);
    const auto document = parse_json(ran.output, path);
    Probed out;
    std::vector<double> decode;
    std::vector<double> show;
    int video = -1;
    for (const Json& packet : document ? (*document)["packets"] : Json::array()) {
        const auto number = [&](const char* key) { return std::stoull(packet.value(key, "0")); };
        if (packet["codec_type"] == "audio") out.audio.push_back({number("pos"), number("size")});
        if (packet["codec_type"] != "video") continue;
        const int stream = packet["stream_index"].get<int>();
        if (video < 0 || stream < video) {
            video = stream;
            out.frames.clear();
            out.sync.clear();
            decode.clear();
            show.clear();
        }
        if (stream != video) continue;
        const bool key = packet["flags"].get<std::string>().front() == 'K';
        const std::uint64_t frame = out.frames.size();
        out.sync.push_back(key || frame == 0 ? frame : out.sync.back());
        out.frames.emplace_back(number("pos"), number("size"));
        if (packet.contains("dts_time")) decode.push_back(std::stod(packet["dts_time"].get<std::string>()));
        if (packet.contains("pts_time")) show.push_back(std::stod(packet["pts_time"].get<std::string>()));
    }
    std::sort(show.begin(), show.end());
    out.seconds = decode.size() == out.frames.size() ? decode : show;
    const double first = out.seconds.empty() ? 0 : out.seconds.front();
    for (double& at : out.seconds) at -= first;
    return out;
}

class ContainerClips : public ::testing::Test {
protected:
    static void SetUpTestSuite() { place_ = std::make_unique<Place>(); }
    static void TearDownTestSuite() { place_.reset(); }

    void make(const Made& made) {
        const auto ran =
            run("ffmpeg -v error -y -bitexact " + made.input + " " + made.output + " " + place_->at(made.file));
        ASSERT_EQ(ran.code, 0) << ran.output;
    }

    static std::unique_ptr<Place> place_;
    DirectoryStore store_;
};

std::unique_ptr<Place> ContainerClips::place_;

class EachContainerClip : public ContainerClips, public ::testing::WithParamInterface<Made> {};

void expect_times(const FrameIndex& index, const Probed& probed, bool odd_first) {
    ASSERT_EQ(probed.seconds.size(), index.count());
    // Milliseconds of Matroska, ticks of 1/90000, microseconds of ffprobe's decimals.
    const double slack = index.variable_rate() ? 2e-6 : 1.1e-3;
    // If only the first frame is too long, the others are on a grid of their own.
    const std::uint64_t from = odd_first ? 1 : 0;
    const double late = probed.seconds[from] - static_cast<double>(index.due(from).ns) * 1e-9;
    for (std::uint64_t k = from; k < index.count(); ++k) {
        ASSERT_NEAR(static_cast<double>(index.due(k).ns) * 1e-9, probed.seconds[k] - late, slack) << k;
    }
    EXPECT_GT(index.due(index.count()), index.due(index.count() - 1));
}

/// Every packet of audio lies in one chunk, and the chunks hold nothing else.
void expect_audio(const FrameIndex& index, const Probed& probed) {
    std::vector<Extent> chunks;
    std::uint64_t bytes = 0;
    for (std::uint64_t k = 0; k < index.count(); ++k) {
        for (const Extent& chunk : index.audio(k)) {
            chunks.push_back(chunk);
            bytes += chunk.bytes;
        }
    }
    std::sort(chunks.begin(), chunks.end(), [](auto a, auto b) { return a.offset < b.offset; });
    std::uint64_t listed = 0;
    for (const Extent& packet : probed.audio) {
        listed += packet.bytes;
        if (packet.offset == 0) continue;  // a packet that shares its place with the one before
        const bool inside = std::any_of(chunks.begin(), chunks.end(), [&](const Extent& chunk) {
            return chunk.offset <= packet.offset && packet.offset + packet.bytes <= chunk.offset + chunk.bytes;
        });
        ASSERT_TRUE(inside) << packet.offset;
    }
    EXPECT_EQ(bytes, listed);
}

/// In a transport or program stream a frame reaches up to the next one, with what lies between them; ffprobe
/// tells its size without the packets that carry it.
void expect_reach(const Clip& clip, const Probed& probed) {
    const FrameIndex& index = *clip.index;
    ASSERT_EQ(index.count(), probed.frames.size());
    const std::uint64_t last = index.count() - 1;
    for (std::uint64_t k = 0; k <= last; ++k) EXPECT_EQ(index.extent(k).offset, probed.frames[k].first) << k;
    for (std::uint64_t k = 0; k < last; ++k)
        EXPECT_EQ(index.extent(k).offset + index.extent(k).bytes, probed.frames[k + 1].first) << k;
    EXPECT_GT(index.extent(last).bytes, probed.frames[last].second);
    EXPECT_THAT(clip.notes, ::testing::Contains("its audio lies between its frames, and is read with them"));
}

TEST_P(EachContainerClip, IsIndexedAsFfprobeListsIt) {
    NEED_TOOL("ffmpeg");
    NEED_TOOL("ffprobe");
    const Made& made = GetParam();
    if (!made.encoder.empty() &&
        run("ffmpeg -v error -encoders").output.find(made.encoder) == std::string::npos)
        GTEST_SKIP() << "this ffmpeg has no " << made.encoder;
    ASSERT_NO_FATAL_FAILURE(make(made));
    const std::string path = place_->at(made.file);
    IndexOptions options;
    options.audio = true;
    const auto clip = media::index_clip(store_, path, options);
    ASSERT_TRUE(clip) << testing::all_problems(clip.error());
    const FrameIndex& index = *clip->index;
    const Probed probed = probe(path);
    const bool stream = clip->structure.starts_with("MPEG ");
    std::vector<std::pair<std::uint64_t, std::uint64_t>> frames;
    for (std::uint64_t k = 0; k < index.count(); ++k)
        frames.emplace_back(index.extent(k).offset, index.extent(k).bytes);
    if (!stream) EXPECT_EQ(frames, probed.frames);
    EXPECT_EQ(index.rate(), made.rate) << index.rate().to_string();
    EXPECT_EQ(index.variable_rate(), made.variable);
    EXPECT_EQ(clip->start_timecode, made.timecode);
    if (made.timecode && has_drop_frame(made.rate)) {
        EXPECT_EQ(clip->drop, made.output.find(';') != std::string::npos);
    }
    EXPECT_THAT(clip->structure, HasSubstr(made.structure));
    EXPECT_THAT(::testing::PrintToString(clip->notes), HasSubstr(made.note));
    for (std::uint64_t k = 0; k < index.count(); ++k) ASSERT_EQ(index.sync_frame(k), probed.sync[k]) << k;
    expect_times(index, probed, made.note.starts_with("its first frame"));
    if (stream) {
        expect_reach(*clip, probed);
    } else if (probed.audio.empty()) {
        EXPECT_THAT(clip->notes, ::testing::Contains("it has no audio"));
        EXPECT_FALSE(clip->audio);
    } else {
        expect_audio(index, probed);
        EXPECT_TRUE(clip->audio);
    }
}

std::string big_endian(std::uint64_t value, int bytes) {
    std::string out;
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
    return out;
}

std::uint64_t number_at(const std::string& text, std::size_t at) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(text[at + i]);
    return value;
}

/// The atoms in `atoms` with every stco made a co64 whose offsets are `further` on.
std::string with_co64(const std::string& atoms, std::uint64_t further) {
    std::string out;
    for (std::size_t at = 0; at + 8 <= atoms.size();) {
        const auto size = static_cast<std::size_t>(number_at(atoms, at));
        std::string type = atoms.substr(at + 4, 4);
        std::string body = atoms.substr(at + 8, size - 8);
        if (type == "moov" || type == "trak" || type == "mdia" || type == "minf" || type == "stbl") {
            body = with_co64(body, further);
        } else if (type == "stco") {
            type = "co64";
            std::string offsets = body.substr(0, 8);
            for (std::size_t i = 8; i < body.size(); i += 4)
                offsets += big_endian(number_at(body, i) + further, 8);
            body = offsets;
        }
        out += big_endian(body.size() + 8, 4) + type + body;
        at += size;
    }
    return out;
}

/// A clip as a camera's of many GB: a hole before its frames, and 64-bit offsets.
TEST_F(ContainerClips, BeyondFourGigabytes) {
    NEED_TOOL("ffmpeg");
    NEED_TOOL("ffprobe");
    ASSERT_NO_FATAL_FAILURE(
        make({"small.mov", small("25") + kSound, "-t 2 -c:v prores_ks -c:a pcm_s16le", {25, 1}}));
    const std::string file = place_->read("small.mov");
    constexpr std::uint64_t kHole = 5'000'000'000;
    const std::size_t begin = 36;  // behind ftyp, wide and the header of mdat
    ASSERT_EQ(file.substr(32, 4), "mdat");
    const std::size_t end = 28 + static_cast<std::size_t>(number_at(file, 28));
    const std::string path = place_->at("large.mov");
    {
        std::ofstream out(path, std::ios::binary);
        out << file.substr(0, 20) << big_endian(1, 4) << "mdat" << big_endian(16 + kHole + end - begin, 8);
        out.seekp(static_cast<std::streamoff>(begin + kHole));
        out << file.substr(begin, end - begin) << with_co64(file.substr(end), kHole);
        ASSERT_TRUE(out.good());
    }
    store_.bytes_read = 0;
    const auto clip = media::index_clip(store_, path);
    ASSERT_TRUE(clip) << testing::all_problems(clip.error());
    EXPECT_LT(store_.bytes_read, 1'000'000u);
    EXPECT_THAT(clip->structure, HasSubstr("mdat 5.0 GB at byte 20 (64-bit size), moov"));
    const Probed probed = probe(path);
    ASSERT_EQ(clip->index->count(), probed.frames.size());
    for (std::uint64_t k = 0; k < clip->index->count(); ++k) {
        EXPECT_EQ(clip->index->extent(k).offset, probed.frames[k].first);
        EXPECT_EQ(clip->index->extent(k).bytes, probed.frames[k].second);
        EXPECT_GT(clip->index->extent(k).offset, kHole);
    }
}

/// Table, fragments and key-length headers: the frames themselves are left alone.
TEST_F(ContainerClips, LongOnesAreNotReadThrough) {
    NEED_TOOL("ffmpeg");
    const Made made[] = {
        {"long.mov", small("25"), "-t 10 -c:v prores_ks"},
        {"long.mp4", small("25"),
         "-t 10 -c:v libx264 -preset ultrafast -qp 4 -g 50 -movflags frag_keyframe+empty_moov "
         "-frag_duration 2000000"},
        {"long.mxf", hd("25") + kSound, "-t 6 -c:v dnxhd -profile:v dnxhr_lb -pix_fmt yuv422p -c:a pcm_s16le"}};
    for (const Made& one : made) {
        SCOPED_TRACE(one.file);
        ASSERT_NO_FATAL_FAILURE(make(one));
        store_.bytes_read = 0;
        const auto clip = media::index_clip(store_, place_->at(one.file));
        ASSERT_TRUE(clip) << testing::all_problems(clip.error());
        EXPECT_LT(store_.bytes_read, std::filesystem::file_size(place_->at(one.file)) / 4);
        EXPECT_EQ(clip->notes, std::vector<std::string>());
    }
}

INSTANTIATE_TEST_SUITE_P(Ffmpeg, EachContainerClip, ::testing::ValuesIn(kClips), [](const auto& test) {
    std::string name = test.param.file;
    std::replace(name.begin(), name.end(), '.', '_');
    return name;
});

}  // namespace
}  // namespace streamsim
