#include "media/container/sample_entry.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>
#include <utility>

namespace streamsim::media {
namespace {

struct VideoCodec {
    std::uint32_t type;
    const char* name;
    bool intra;
};

constexpr VideoCodec kVideoCodecs[] = {
    {box_type("apco"), "prores", true}, {box_type("apcs"), "prores", true}, {box_type("apcn"), "prores", true},
    {box_type("apch"), "prores", true}, {box_type("ap4h"), "prores", true}, {box_type("ap4x"), "prores", true},
    {box_type("AVdn"), "dnxhd", true},  {box_type("AVdh"), "dnxhd", true},  {box_type("v210"), "v210", true},
    {box_type("avc1"), "h264", false},  {box_type("hvc1"), "hevc", false},  {box_type("hev1"), "hevc", false}};

struct PcmCodec {
    std::uint32_t type;
    const char* big_endian;
    const char* little_endian;  // with the box "enda", where the codec has it
    std::uint32_t bytes;        // of one sample of one channel
};

constexpr PcmCodec kPcmCodecs[] = {{box_type("sowt"), "pcm_s16le", nullptr, 2},
                                   {box_type("twos"), "pcm_s16be", nullptr, 2},
                                   {box_type("in24"), "pcm_s24be", "pcm_s24le", 3},
                                   {box_type("in32"), "pcm_s32be", "pcm_s32le", 4}};

constexpr std::array<std::uint32_t, 13> kAacRates{96'000, 88'200, 64'000, 48'000, 44'100, 32'000, 24'000,
                                                  22'050, 16'000, 12'000, 11'025, 8'000,  7'350};

std::optional<SampleEntry> read_video(std::uint32_t type, Bytes body) {
    constexpr std::size_t kFields = 78;
    const auto codec = std::find_if(std::begin(kVideoCodecs), std::end(kVideoCodecs),
                                    [&](const VideoCodec& each) { return each.type == type; });
    if (codec == std::end(kVideoCodecs) || body.size() < kFields) return std::nullopt;
    const bool other_raster = u8(body, 43) == 'P';  // libavformat changes the one of "Planar Y'CbCr ..."
    const unsigned colours = u16(body, 74) & 0x1fu;
    const bool palette = colours == 1 || colours == 2 || colours == 4 || colours == 8;
    if (other_raster || palette) return std::nullopt;
    const auto boxes = BoxSet::read(body.subspan(kFields),
                                    {box_type("avcC"), box_type("hvcC"), box_type("colr"), box_type("pasp"),
                                     box_type("fiel"), box_type("gama"), box_type("clap"), box_type("btrt"),
                                     box_type("ACLR"), box_type("ADHR"), box_type("APRG"), box_type("ARES")});
    if (!boxes) return std::nullopt;
    const auto colour = boxes->find(box_type("colr"));
    const auto fields = boxes->find(box_type("fiel"));
    if ((colour && colour->size() < 10) || (fields && fields->size() < 2)) return std::nullopt;
    SampleEntry entry{.kind = SampleEntry::Kind::video,
                      .codec = codec->name,
                      .intra = codec->intra,
                      .width = u16(body, 24),
                      .height = u16(body, 26)};
    for (int shift = 24; shift >= 0; shift -= 8) entry.tag += static_cast<char>(type >> shift & 0xff);
    if (entry.width == 0 || entry.height == 0) return std::nullopt;
    return entry;
}

/// The body of a descriptor (ISO 14496-1) of this kind at the beginning of `bytes`.
std::optional<Bytes> descriptor(Bytes bytes, unsigned kind) {
    if (bytes.empty() || u8(bytes, 0) != kind) return std::nullopt;
    std::size_t size = 0;
    for (std::size_t at = 1; at < std::min<std::size_t>(bytes.size(), 5); ++at) {
        const unsigned part = u8(bytes, at);
        size = size << 7 | (part & 0x7fu);
        if (part & 0x80u) continue;
        if (size > bytes.size() - at - 1) return std::nullopt;
        return bytes.subspan(at + 1, size);
    }
    return std::nullopt;
}

/// AAC-LC whose configuration names a common rate and number of channels.
bool read_aac(Bytes esds, SampleEntry& entry) {
    if (esds.size() < 4) return false;
    const auto stream = descriptor(esds.subspan(4), 3);
    if (!stream || stream->size() < 3 || u8(*stream, 2) != 0) return false;
    const auto decoder = descriptor(stream->subspan(3), 4);
    if (!decoder || decoder->size() < 13 || u8(*decoder, 0) != 0x40) return false;
    const auto specific = descriptor(decoder->subspan(13), 5);
    if (!specific || specific->size() < 2) return false;
    const unsigned config = u16(*specific, 0);
    const bool without_sbr = specific->size() == 5 && u16(*specific, 2) == 0x56e5 && u8(*specific, 4) == 0;
    if (specific->size() != 2 && !without_sbr) return false;
    const unsigned rate = config >> 7 & 0xfu;
    const unsigned channels = config >> 3 & 0xfu;
    if (config >> 11 != 2 || (config & 7u) != 0 || rate >= kAacRates.size()) return false;
    if (channels < 1 || channels > 7) return false;
    entry.codec = "aac";
    entry.sample_rate = kAacRates[rate];
    entry.channels = channels == 7 ? 8 : static_cast<int>(channels);
    return true;
}

/// A channel layout that has as many channels as the description says.
bool channels_agree(Bytes chan, int channels) {
    constexpr std::uint32_t kBitmap = 0x10000;
    if (chan.size() < 12) return false;
    const std::uint32_t layout = u32(chan, 4);
    if (layout == kBitmap) return std::popcount(u32(chan, 8)) == channels;
    return static_cast<int>(layout & 0xffff) == channels;
}

bool read_pcm(std::uint32_t type, Bytes body, const std::optional<BoxSet>& wave, SampleEntry& entry) {
    const auto codec = std::find_if(std::begin(kPcmCodecs), std::end(kPcmCodecs),
                                    [&](const PcmCodec& each) { return each.type == type; });
    if (codec == std::end(kPcmCodecs)) return false;
    const auto enda = wave ? wave->find(box_type("enda")) : std::nullopt;
    if (codec->bytes == 2 && u16(body, 18) != 16) return false;
    if (enda && (enda->size() != 2 || codec->little_endian == nullptr)) return false;
    entry.codec = enda && (u16(*enda, 0) & 0xff) == 1 ? codec->little_endian : codec->big_endian;
    entry.pcm_bytes = codec->bytes * static_cast<std::uint32_t>(entry.channels);
    return true;
}

std::optional<SampleEntry> read_audio(std::uint32_t type, Bytes body) {
    constexpr std::size_t kFields = 28;
    if (body.size() < kFields) return std::nullopt;
    const unsigned version = u16(body, 8);
    const std::size_t fields = version == 1 ? kFields + 16 : kFields;
    if (version > 1 || body.size() < fields) return std::nullopt;
    SampleEntry entry{
        .kind = SampleEntry::Kind::audio, .channels = u16(body, 16), .sample_rate = u32(body, 24) >> 16};
    const auto boxes = BoxSet::read(body.subspan(fields),
                                    {box_type("esds"), box_type("wave"), box_type("chan"), box_type("btrt")});
    if (!boxes || entry.channels == 0 || entry.sample_rate == 0) return std::nullopt;
    const auto inside = boxes->find(box_type("wave"));
    std::optional<BoxSet> wave;
    if (inside) {
        wave =
            BoxSet::read(*inside, {box_type("frma"), box_type("mp4a"), box_type("esds"), box_type("enda"), 0});
        if (!wave || wave->find(box_type("frma")).value_or(Bytes()).size() != 4) return std::nullopt;
    }
    if (type == box_type("mp4a")) {
        auto esds = boxes->find(box_type("esds"));
        if (!esds && wave) esds = wave->find(box_type("esds"));
        const bool twice = wave && wave->has(box_type("esds")) && boxes->has(box_type("esds"));
        if (!esds || twice || !read_aac(*esds, entry)) return std::nullopt;
    } else {
        const bool grouped = version == 1 && u32(body, 28) > 1;
        if (grouped || !read_pcm(type, body, wave, entry)) return std::nullopt;
    }
    const auto layout = boxes->find(box_type("chan"));
    if (layout && !channels_agree(*layout, entry.channels)) return std::nullopt;
    return entry;
}

std::optional<SampleEntry> read_timecode(std::uint32_t type, Bytes body) {
    constexpr unsigned kDrop = 1;
    constexpr unsigned kDay = 2;  // wraps around at midnight
    if (type != box_type("tmcd") || body.size() < 26) return std::nullopt;
    const std::uint32_t flags = u32(body, 12);
    const std::uint64_t scale = u32(body, 16);
    const std::uint64_t duration = u32(body, 20);
    SampleEntry entry{
        .kind = SampleEntry::Kind::timecode, .drop = (flags & kDrop) != 0, .count_per_second = u8(body, 24)};
    if ((flags & ~(kDrop | kDay)) != 0 || duration == 0 || scale > INT32_MAX || duration > INT32_MAX)
        return std::nullopt;
    const std::uint64_t nominal = (scale + duration / 2) / duration;
    const bool counts = entry.count_per_second > 0 && entry.count_per_second <= 60;
    if (!counts || nominal != entry.count_per_second) return std::nullopt;
    if (entry.drop && entry.count_per_second % 30 != 0) return std::nullopt;
    return entry;
}

}  // namespace

std::optional<SampleEntry> read_sample_entry(SampleEntry::Kind kind, Bytes stsd) {
    if (stsd.size() < 8 || u32(stsd, 0) != 0 || u32(stsd, 4) != 1) return std::nullopt;
    const auto entries = boxes_in(stsd.subspan(8));
    if (!entries || entries->size() != 1) return std::nullopt;
    const auto& [type, body] = entries->front();
    const bool here = body.size() >= 8 && u16(body, 6) == 1;  // the first data reference
    if (!here) return std::nullopt;
    switch (kind) {
        case SampleEntry::Kind::video: return read_video(type, body);
        case SampleEntry::Kind::audio: return read_audio(type, body);
        case SampleEntry::Kind::timecode: return read_timecode(type, body);
    }
    return std::nullopt;
}

}  // namespace streamsim::media
