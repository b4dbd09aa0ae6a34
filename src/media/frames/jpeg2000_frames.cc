// JPEG 2000 (ISO/IEC 15444-1): a flat picture; its main header is lengthened by comments (COM), which decoders
// skip by their length.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/byte_order.h"
#include "base/check.h"
#include "media/frames/codec_makers.h"
#include "media/frames/flat_picture.h"
#include "media/frames/payload.h"

namespace streamsim::media {
namespace {

constexpr std::uint16_t kStartOfTile = 0xff90;
constexpr std::uint16_t kComment = 0xff64;
constexpr int kSideMin = 32;
constexpr std::size_t kCommentHeader = 6;       // marker, length, kind
constexpr std::size_t kCommentMax = 2 + 65535;  // the length counts from itself
constexpr std::size_t kCommentMin = kCommentHeader + 2;

/// Fills `into` with comments. REQUIRES: at least kCommentMin bytes.
void write_comments(std::span<std::byte> into, std::uint64_t key) {
    fill_mark_free(into, key);
    while (!into.empty()) {
        std::size_t bytes = std::min(into.size(), kCommentMax);
        if (bytes < into.size() && into.size() - bytes < kCommentMin) bytes -= kCommentMin;
        store<std::uint16_t>(into, 0, true, kComment);
        store<std::uint16_t>(into, 2, true, static_cast<std::uint16_t>(bytes - 2));
        store<std::uint16_t>(into, 4, true, 0);  // binary
        into = into.subspan(bytes);
    }
}

class Jpeg2000Maker final : public EqualFramesMaker {
public:
    Jpeg2000Maker(const MediaFormat& format,
                  AVPixelFormat pixels,
                  std::vector<std::byte> header,
                  std::vector<std::byte> tiles)
        : EqualFramesMaker(format, {.min = header.size() + kCommentMin + tiles.size()}),
          pixels_(pixels),
          header_(std::move(header)),
          tiles_(std::move(tiles)) {}
    void make(std::span<std::byte> into, const FrameToMake& at) const override {
        STREAMSIM_CHECK(into.size() >= limits_.min, "a JPEG 2000 frame has room for its picture");
        std::copy(header_.begin(), header_.end(), into.begin());
        write_comments(into.subspan(header_.size(), into.size() - header_.size() - tiles_.size()), at.key);
        std::copy(tiles_.begin(), tiles_.end(), into.end() - static_cast<std::ptrdiff_t>(tiles_.size()));
    }
    void describe(AVCodecParameters& track) const override {
        track.codec_id = AV_CODEC_ID_JPEG2000;
        track.format = pixels_;
    }

private:
    AVPixelFormat pixels_;
    std::vector<std::byte> header_;
    std::vector<std::byte> tiles_;
};

/// Offset of the first tile, found by walking the marker segments of the main header by their lengths.
std::size_t first_tile(std::span<const std::byte> coded) {
    std::size_t at = 2;  // behind the start of the codestream
    while (at + 4 <= coded.size() && load<std::uint16_t>(coded, at, true) != kStartOfTile)
        at += 2 + std::size_t{load<std::uint16_t>(coded, at + 2, true)};
    return at;
}

/// The rasters of digital cinema, whose pictures are X'Y'Z' and keep to a profile of their own.
const char* cinema_profile(const MediaFormat& format) {
    const auto is = [&](int width, int height) { return format.width == width && format.height == height; };
    if (is(2048, 1080) || is(1998, 1080) || is(2048, 858)) return "cinema2k";
    if (is(4096, 2160) || is(3996, 2160) || is(4096, 1716)) return "cinema4k";
    return nullptr;
}

std::optional<Unmakable> why_no_jpeg2000(const MediaFormat& format) {
    if (format.width >= kSideMin && format.height >= kSideMin) return std::nullopt;
    return Unmakable{"/raster",
                     fmt::format("expected {0} x {0} pixels at least for the five wavelet levels of its "
                                 "pictures, found {1}x{2}",
                                 kSideMin, format.width, format.height)};
}

MadeMaker make_jpeg2000_maker(const MediaFormat& format, std::uint64_t /*frames*/) {
    FlatPictures wanted{.encoder = "libopenjpeg", .pixels = AV_PIX_FMT_GBRP12, .options = {{"format", "j2k"}}};
    if (const char* const cinema = cinema_profile(format)) {
        wanted.pixels = AV_PIX_FMT_XYZ12;
        wanted.options.emplace_back("profile", cinema);
    }
    auto coded = code_flat(format, wanted);
    if (!coded) return coded.error();
    const std::vector<std::byte>& bytes = coded->front().bytes;
    const std::size_t tiles = first_tile(bytes);
    if (tiles >= bytes.size())
        return environment_error(format.name + ": the JPEG 2000 encoder made a codestream without a tile");
    const auto middle = bytes.begin() + static_cast<std::ptrdiff_t>(tiles);
    return std::unique_ptr<FrameMaker>(
        std::make_unique<Jpeg2000Maker>(format, wanted.pixels, std::vector<std::byte>(bytes.begin(), middle),
                                        std::vector<std::byte>(middle, bytes.end())));
}

std::uint64_t jpeg2000_bytes_min(const MediaFormat& format) {
    // Mostly packet headers, a bit or two for each precinct and code block: measured below a byte for 250
    // pixels.
    return 4096 + static_cast<std::uint64_t>(format.width) * static_cast<std::uint64_t>(format.height) / 200;
}

}  // namespace

const Codec kJpeg2000{"jpeg2000", make_jpeg2000_maker, jpeg2000_bytes_min, why_no_jpeg2000};

}  // namespace streamsim::media
