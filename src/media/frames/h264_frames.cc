// H.264 (ISO/IEC 14496-10): flat pictures by libx264, each access unit stuffed to its planned size with a
// message of user data (SEI), which decoders keep aside. In MXF units are separated by start codes, in MP4 and
// QuickTime each has its length in front of it; both take four bytes.
#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/byte_order.h"
#include "base/check.h"
#include "media/frames/codec_makers.h"
#include "media/frames/flat_picture.h"
#include "media/frames/payload.h"
#include "media/libav/libav.h"

namespace streamsim::media {
namespace {

constexpr std::size_t kPrefix = 4;  // start code or length
constexpr int kSei = 6;
constexpr int kSequenceSet = 7;
constexpr int kPictureSet = 8;

// An SEI unit: its type, messages (kind, length, payload), a stop bit. A length is as many bytes of 255 as fit
// it and one more byte for the rest.
constexpr std::size_t kSeiFrame = kPrefix + 2;
constexpr std::byte kUserData{5};
constexpr std::size_t kIdentifier = 16;  // bytes that identify user data
constexpr std::size_t kMessageMin = 2 + kIdentifier;
/// Longer stuffing is split, because the 255 bytes of a long message's length would form blocks that all frames
/// share.
constexpr std::size_t kMessageMax = 64 * 1024;
constexpr std::size_t kStuffingMin = kSeiFrame + kMessageMin;

using Unit = std::vector<std::byte>;  // without prefix

int type_of(const Unit& unit) {
    return std::to_integer<int>(unit.front()) & 31;
}
bool is_slice(const Unit& unit) {
    return type_of(unit) >= 1 && type_of(unit) <= 5;
}

/// Cuts a stream at its start codes (00 00 01). Zeroes behind a unit belong to none.
std::vector<Unit> units_of(const std::vector<std::byte>& stream) {
    const auto is_start = [&](std::size_t at) {
        return at + 3 <= stream.size() && stream[at] == std::byte{0} && stream[at + 1] == std::byte{0} &&
               stream[at + 2] == std::byte{1};
    };
    std::vector<Unit> units;
    std::size_t at = 0;
    while (at < stream.size()) {
        if (!is_start(at)) {
            if (!units.empty()) units.back().push_back(stream[at]);
            ++at;
            continue;
        }
        at += 3;
        units.emplace_back();
    }
    for (Unit& unit : units) {
        while (!unit.empty() && unit.back() == std::byte{0}) unit.pop_back();
    }
    std::erase_if(units, [](const Unit& unit) { return unit.empty(); });
    return units;
}

/// Writes one message of exactly `bytes` at `into`'s beginning, over payload that is there; returns what is
/// left. REQUIRES: bytes >= kMessageMin and bytes % 256 != 1 (no length makes that).
std::span<std::byte> write_message(std::span<std::byte> into, std::size_t bytes) {
    const std::size_t payload = (bytes - 2) - (bytes - 2) / 256;
    into[0] = kUserData;
    std::fill_n(into.begin() + 1, payload / 255, std::byte{255});
    into[1 + payload / 255] = static_cast<std::byte>(payload % 255);
    STREAMSIM_CHECK(2 + payload / 255 + payload == bytes, "a message has the bytes that are left for it");
    return into.subspan(bytes);
}

/// Fills `into` (kStuffingMin bytes or more) with an SEI unit.
void write_stuffing(std::span<std::byte> into, std::uint64_t key, bool start_codes) {
    fill_mark_free(into, key);
    store<std::uint32_t>(into, 0, true, start_codes ? 1 : static_cast<std::uint32_t>(into.size() - kPrefix));
    into[kPrefix] = static_cast<std::byte>(kSei);
    into.back() = std::byte{0x80};
    auto rest = into.subspan(kPrefix + 1, into.size() - kSeiFrame);
    while (rest.size() >= kMessageMax + kMessageMin + kMessageMin) rest = write_message(rest, kMessageMax);
    if (rest.size() % 256 == 1) rest = write_message(rest, kMessageMin);
    write_message(rest, rest.size());
}

/// One access unit, its prefixes included; stuffing goes between the two parts.
struct AccessUnit {
    std::vector<std::byte> before;  // parameter sets, messages
    std::vector<std::byte> slices;
    std::uint64_t display = 0;
    std::size_t bytes() const { return before.size() + slices.size(); }
};

void append_unit(std::vector<std::byte>& to, const Unit& unit, bool start_codes) {
    const std::size_t at = to.size();
    to.resize(at + kPrefix);
    store<std::uint32_t>(to, at, true, start_codes ? 1 : static_cast<std::uint32_t>(unit.size()));
    to.insert(to.end(), unit.begin(), unit.end());
}

struct Pattern {
    std::string display;                    // picture types as they are shown
    std::vector<std::uint64_t> display_of;  // display position of each stored picture
    std::uint64_t delay = 0;
    int b_frames_max = 0;  // in a row
};

/// B frames lie behind the P frame that is shown after them. Empty when a B frame has no P frame.
std::optional<Pattern> pattern_of(const std::string& stored) {
    Pattern out;
    out.display_of.resize(stored.size());
    std::vector<std::size_t> order;
    for (std::size_t at = 0; at < stored.size();) {
        const std::size_t after = std::min(stored.find_first_not_of('B', at + 1), stored.size());
        if (stored[at] == 'B' || (stored[at] == 'I' && after > at + 1)) return std::nullopt;
        for (std::size_t b = at + 1; b < after; ++b) order.push_back(b);
        out.b_frames_max = std::max(out.b_frames_max, static_cast<int>(after - at - 1));
        order.push_back(at);
        at = after;
    }
    for (std::size_t position = 0; position < order.size(); ++position) {
        out.display += stored[order[position]];
        out.display_of[order[position]] = position;
    }
    for (std::size_t i = 0; i < stored.size(); ++i)
        if (i > out.display_of[i]) out.delay = std::max<std::uint64_t>(out.delay, i - out.display_of[i]);
    return out;
}

struct H264Flavour {
    const char* name;
    const char* avc_intra_class;  // null: not intra
};
constexpr H264Flavour kH264Flavours[] = {
    {"avci100", "100"}, {"avci200", "200"}, {"xavc300", "300"}, {"xavc480", "480"}, {"long-gop", nullptr},
};

/// True when x264 may know the class for this raster. Each refusal by x264 itself leaks a little memory.
bool may_have_class(const MediaFormat& format) {
    return (format.width == 1920 && format.height == 1080) || (format.width == 1280 && format.height == 720) ||
           format.height == 2160;
}

class H264Maker final : public FrameMaker {
public:
    H264Maker(const MediaFormat& format, const H264Flavour& flavour)
        : format_(format), flavour_(flavour), start_codes_(format.container == MediaFormat::Container::mxf) {}

    /// Codes the pictures: of a whole group, and of the shorter one at the end of the clip.
    Result<void> code(std::uint64_t frames) {
        if (flavour_.avc_intra_class != nullptr) {
            // Two, because neighbours that are both IDR pictures must not have the same number.
            group_ = 2;
            return code_intra();
        }
        const std::string& gop = format_.size.gop;
        const bool only_i = gop.find_first_not_of('I') == std::string::npos;
        const std::string stored = only_i ? "II" : gop;
        group_ = stored.size();
        whole_end_ = frames / group_ * group_;
        if (auto done = code_group(stored, whole_); !done) return done.error();
        if (frames > whole_end_) return code_group(stored.substr(0, frames - whole_end_), tail_);
        return {};
    }

    FrameLimits limits(std::uint64_t frame) const override {
        return {unit_of(frame).bytes() + kStuffingMin, UINT32_MAX};
    }
    void make(std::span<std::byte> into, const FrameToMake& at) const override {
        const AccessUnit& unit = unit_of(at.frame);
        STREAMSIM_CHECK(into.size() >= unit.bytes() + kStuffingMin, "an H.264 frame has room for its picture");
        const std::size_t stuffing = into.size() - unit.bytes();
        std::copy(unit.before.begin(), unit.before.end(), into.begin());
        write_stuffing(into.subspan(unit.before.size(), stuffing), at.key, start_codes_);
        std::copy(unit.slices.begin(), unit.slices.end(),
                  into.begin() + static_cast<std::ptrdiff_t>(unit.before.size() + stuffing));
    }
    std::uint64_t display(std::uint64_t frame) const override {
        return frame / group_ * group_ + unit_of(frame).display;
    }
    std::uint64_t delay() const override { return delay_; }
    bool is_key(std::uint64_t frame) const override {
        return flavour_.avc_intra_class != nullptr || format_.size.gop[frame % format_.size.gop.size()] == 'I';
    }

    void describe(AVCodecParameters& track) const override {
        track.codec_id = AV_CODEC_ID_H264;
        track.format = pixels();
        track.profile = sequence_set_.size() > 1 ? std::to_integer<int>(sequence_set_[1]) : FF_PROFILE_UNKNOWN;
        if (start_codes_) return;
        const std::vector<std::byte> header = decoder_configuration();
        track.extradata =
            static_cast<std::uint8_t*>(libav().av_mallocz(header.size() + AV_INPUT_BUFFER_PADDING_SIZE));
        if (track.extradata == nullptr) throw std::bad_alloc();
        track.extradata_size = static_cast<int>(header.size());
        std::copy(header.begin(), header.end(), reinterpret_cast<std::byte*>(track.extradata));
    }

private:
    AVPixelFormat pixels() const {
        return flavour_.avc_intra_class != nullptr ? AV_PIX_FMT_YUV422P10 : AV_PIX_FMT_YUV420P;
    }
    const AccessUnit& unit_of(std::uint64_t frame) const {
        return frame < whole_end_ ? whole_[frame % group_] : tail_[frame - whole_end_];
    }

    Result<void> code_intra() {
        FlatPictures wanted{.encoder = "libx264",
                            .pixels = pixels(),
                            .types = "II",
                            .options = {{"avcintra-class", flavour_.avc_intra_class}, {"preset", "ultrafast"}}};
        Result<std::vector<CodedPicture>> coded = Error{};
        if (may_have_class(format_)) coded = code_flat(format_, wanted);
        if (!coded) {
            // Rasters and rates that the classes are not defined for: the same profile, without their fixed
            // sizes, which stuffing gives anyway.
            wanted.options = {{"preset", "ultrafast"}, {"qp", "20"}, {"forced-idr", "1"}};
            coded = code_flat(format_, wanted);
        }
        if (!coded) return coded.error();
        return keep(*coded, whole_);
    }

    Result<void> code_group(const std::string& stored, std::vector<AccessUnit>& into) {
        const auto pattern = pattern_of(stored);
        STREAMSIM_CHECK(pattern.has_value(), "groups without order are unmakable");
        delay_ = std::max(delay_, pattern->delay);
        const auto coded = code_flat(
            format_,
            {.encoder = "libx264",
             .pixels = pixels(),
             .types = pattern->display,
             .b_frames_max = pattern_of(format_.size.gop)->b_frames_max,
             .options = {{"preset", "ultrafast"},
                         {"profile", "high"},
                         {"qp", "30"},
                         {"coder", "cabac"},
                         {"b_strategy", "0"},
                         {"b-pyramid", "none"},
                         {"sc_threshold", "0"},
                         {"rc-lookahead", "0"},
                         {"forced-idr", "1"},
                         {"x264-params", "keyint=infinite:sync-lookahead=0:sliced-threads=0:8x8dct=1"}}});
        if (!coded) return coded.error();
        for (std::size_t i = 0; i < coded->size(); ++i) {
            if ((*coded)[i].display == static_cast<std::int64_t>(pattern->display_of[i])) continue;
            return environment_error(
                fmt::format("{}: libx264 does not keep to the group of pictures {}", format_.name, stored));
        }
        return keep(*coded, into);
    }

    Result<void> keep(const std::vector<CodedPicture>& coded, std::vector<AccessUnit>& into) {
        for (const CodedPicture& picture : coded) {
            AccessUnit unit{.display = static_cast<std::uint64_t>(picture.display)};
            for (const Unit& each : units_of(picture.bytes)) {
                if (!is_the_same(each, kSequenceSet, sequence_set_) ||
                    !is_the_same(each, kPictureSet, picture_set_)) {
                    return environment_error(format_.name +
                                             ": libx264 codes a short group with other parameters");
                }
                const bool of_the_header = type_of(each) == kSequenceSet || type_of(each) == kPictureSet;
                if (of_the_header && !start_codes_) continue;
                append_unit(is_slice(each) ? unit.slices : unit.before, each, start_codes_);
            }
            into.push_back(std::move(unit));
        }
        if (sequence_set_.size() < 4 || picture_set_.empty())
            return environment_error(format_.name + ": libx264 made a stream without parameter sets");
        return {};
    }

    /// Keeps the first unit of a type; false when a later one differs. One header is for all frames.
    static bool is_the_same(const Unit& unit, int type, Unit& kept) {
        if (type_of(unit) != type) return true;
        if (kept.empty()) kept = unit;
        return kept == unit;
    }

    /// AVCDecoderConfigurationRecord (ISO/IEC 14496-15).
    std::vector<std::byte> decoder_configuration() const {
        std::vector<std::byte> out = {std::byte{1},     sequence_set_[1], sequence_set_[2],
                                      sequence_set_[3], std::byte{0xff},  std::byte{0xe1}};
        const auto put = [&out](const Unit& unit) {
            out.push_back(static_cast<std::byte>(unit.size() >> 8));
            out.push_back(static_cast<std::byte>(unit.size() & 0xff));
            out.insert(out.end(), unit.begin(), unit.end());
        };
        put(sequence_set_);
        out.push_back(std::byte{1});
        put(picture_set_);
        const bool intra = flavour_.avc_intra_class != nullptr;
        const std::byte depth{static_cast<unsigned char>(intra ? 0xf8 | 2 : 0xf8)};         // 10 or 8 bits
        out.push_back(std::byte{static_cast<unsigned char>(intra ? 0xfc | 2 : 0xfc | 1)});  // 4:2:2 or 4:2:0
        out.insert(out.end(), {depth, depth, std::byte{0}});
        return out;
    }

    MediaFormat format_;
    H264Flavour flavour_;
    bool start_codes_;
    std::uint64_t group_ = 1;
    std::uint64_t whole_end_ = UINT64_MAX;  // frames in whole groups
    std::uint64_t delay_ = 0;
    std::vector<AccessUnit> whole_;
    std::vector<AccessUnit> tail_;
    Unit sequence_set_;
    Unit picture_set_;
};

std::optional<Unmakable> why_no_h264(const MediaFormat& format) {
    if (flavour_named(kH264Flavours, format.profile) == nullptr) {
        return Unmakable{
            "/profile",
            fmt::format("expected avci100, avci200, xavc300, xavc480 or long-gop, found {}", format.profile)};
    }
    if (format.width % 2 != 0 || format.height % 2 != 0) {
        return Unmakable{"/raster",
                         fmt::format("H.264 with halved chroma has an even width and height, found {}x{}",
                                     format.width, format.height)};
    }
    if (format.profile != "long-gop") return std::nullopt;
    const std::string& gop = format.size.gop;
    if (gop.empty()) return Unmakable{"/frame_sizes", "a long GOP needs the model long_gop"};
    if (pattern_of(gop)) return std::nullopt;
    return Unmakable{
        "/frame_sizes/gop",
        fmt::format("expected each B frame right behind the P frame that is shown after it, found {}",
                    gop.substr(0, 64))};
}

MadeMaker make_h264_maker(const MediaFormat& format, std::uint64_t frames) {
    const H264Flavour* const flavour = flavour_named(kH264Flavours, format.profile);
    STREAMSIM_CHECK(flavour != nullptr, "unmakable formats do not come here");
    auto maker = std::make_unique<H264Maker>(format, *flavour);
    if (auto coded = maker->code(frames); !coded) return coded.error();
    return std::unique_ptr<FrameMaker>(std::move(maker));
}

std::uint64_t h264_bytes_min(const MediaFormat& format) {
    // Size of a flat picture: about 2 bytes a macroblock with CAVLC, as intra classes use it; far less with
    // CABAC.
    return format.profile == "long-gop" ? 1536 + macroblocks(format) / 4 : 4096 + macroblocks(format) * 3;
}

}  // namespace

const Codec kH264{"h264", make_h264_maker, h264_bytes_min, why_no_h264};

}  // namespace streamsim::media
