// ProRes frames (SMPTE RDD 36) of exactly the length that was planned. A frame holds a small, valid picture:
// flat grey blocks, a little different in each frame, which decoders show without complaint. The rest of the
// frame, nearly all of it, is stuffing behind the picture, and random: the sizes are those of real footage, and
// nothing in the storage can compress them.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/byte_order.h"
#include "base/check.h"
#include "media/frames/codec_makers.h"
#include "media/frames/payload.h"
#include "media/libav/libav.h"

namespace streamsim::media {
namespace {

// SMPTE RDD 36, sizes in bytes.
constexpr std::size_t kFrameBegin = 8;     // frame size, "icpf"
constexpr std::size_t kFrameHeader = 148;  // with both quantisation matrices
constexpr std::size_t kMatrixBytes = 64;
constexpr std::size_t kPictureHeader = 8;
constexpr std::size_t kSliceHeader = 6;
constexpr std::size_t kTableEntry = 2;
constexpr std::uint32_t kFrameIdentifier = 0x69637066;  // "icpf"
/// A slice has 8 macroblocks of a row; what is left of a row is cut into powers of two.
constexpr unsigned kLog2SliceMacroblocks = 3;
constexpr unsigned kLumaBlocks = 4;  // luma blocks of a macroblock

bool is_444(const MediaFormat& format) {
    return format.profile.starts_with("ap4");
}

unsigned chroma_blocks(const MediaFormat& format) {
    return is_444(format) ? 4 : 2;
}

/// The coefficients of a flat component: the DC of the first block in 6 bits, that the second does not differ
/// from it in 4, and one bit for each block more. Nothing follows, so there are no AC coefficients.
constexpr unsigned flat_bits(unsigned blocks) {
    return 6 + 4 + (blocks - 2);
}
constexpr unsigned flat_bytes(unsigned blocks) {
    return (flat_bits(blocks) + 7) / 8;
}
static_assert(flat_bits(kLumaBlocks << kLog2SliceMacroblocks) <= 64,
              "a component of a slice fits the word it is made in");

void write_flat(std::span<std::byte> out, unsigned blocks, std::uint64_t level) {
    std::uint64_t bits = 1u << 5 | (level & 31);  // the first DC: "1" and five bits
    bits = bits << 4 | 1u << 3;                   // no difference: "1000"
    bits = (bits << (blocks - 2)) | ((std::uint64_t{1} << (blocks - 2)) - 1);  // no difference: "1", each
    bits <<= out.size() * 8 - flat_bits(blocks);
    for (std::size_t i = out.size(); i-- > 0; bits >>= 8) out[i] = static_cast<std::byte>(bits & 0xff);
}

/// Calls visit(macroblocks) for each slice of one row.
template <typename Visit>
void for_slices_of_row(const MediaFormat& format, Visit visit) {
    unsigned size = 1u << kLog2SliceMacroblocks;
    for (auto left = static_cast<unsigned>(macroblocks(format.width)); left > 0; left -= size) {
        while (size > left) size /= 2;
        visit(size);
    }
}

struct PictureSize {
    std::uint64_t slices = 0;
    std::uint64_t bytes = 0;  // header and table included
};

std::size_t slice_bytes(const MediaFormat& format, unsigned size) {
    return kSliceHeader + flat_bytes(kLumaBlocks * size) +
           std::size_t{2} * flat_bytes(chroma_blocks(format) * size);
}

PictureSize picture_size(const MediaFormat& format) {
    PictureSize row;
    for_slices_of_row(format, [&](unsigned size) {
        ++row.slices;
        row.bytes += kTableEntry + slice_bytes(format, size);
    });
    const std::uint64_t rows = macroblocks(format.height);
    return {row.slices * rows, kPictureHeader + row.bytes * rows};
}

void write_frame_header(std::span<std::byte> out, const MediaFormat& format) {
    constexpr bool kBig = true;
    store<std::uint32_t>(out, 0, kBig, static_cast<std::uint32_t>(out.size()));
    store<std::uint32_t>(out, 4, kBig, kFrameIdentifier);
    const auto header = out.subspan(kFrameBegin, kFrameHeader);
    std::fill(header.begin(), header.end(), std::byte{0});
    store<std::uint16_t>(header, 0, kBig, kFrameHeader);
    store<std::uint8_t>(header, 3, kBig, is_444(format) ? 1 : 0);  // bitstream version
    std::memcpy(header.data() + 4, "ssim", 4);                     // encoder identifier
    store<std::uint16_t>(header, 8, kBig, static_cast<std::uint16_t>(format.width));
    store<std::uint16_t>(header, 10, kBig, static_cast<std::uint16_t>(format.height));
    store<std::uint8_t>(header, 12, kBig, is_444(format) ? 0xc0 : 0x80);  // 4:4:4 or 4:2:2, progressive
    store<std::uint8_t>(header, 13, kBig, 0);                        // aspect ratio and rate: the container's
    for (std::size_t i = 14; i < 17; ++i) header[i] = std::byte{1};  // primaries, transfer, matrix: BT.709
    store<std::uint8_t>(header, 19, kBig, 3);                        // both matrices follow
    std::fill_n(header.begin() + 20, 2 * kMatrixBytes, std::byte{4});
}

/// One slice over bytes that are random: they choose its greys.
void write_slice(std::span<std::byte> out, const MediaFormat& format, unsigned size) {
    const unsigned luma = kLumaBlocks * size;
    const unsigned chroma = chroma_blocks(format) * size;
    const auto greys = load<std::uint16_t>(out, 0, true);
    store<std::uint8_t>(out, 0, true, kSliceHeader << 3);
    store<std::uint8_t>(out, 1, true, 4);  // quantisation index
    store<std::uint16_t>(out, 2, true, static_cast<std::uint16_t>(flat_bytes(luma)));
    store<std::uint16_t>(out, 4, true, static_cast<std::uint16_t>(flat_bytes(chroma)));
    const auto data = out.subspan(kSliceHeader);
    write_flat(data.first(flat_bytes(luma)), luma, greys);
    write_flat(data.subspan(flat_bytes(luma), flat_bytes(chroma)), chroma, greys >> 5);
    write_flat(data.subspan(flat_bytes(luma) + flat_bytes(chroma), flat_bytes(chroma)), chroma, greys >> 10);
}

/// The code of the profile as QuickTime's sample descriptions hold it.
std::uint32_t tag_of(const std::string& fourcc) {
    std::uint32_t tag = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(fourcc.size(), 4); ++i)
        tag |= static_cast<std::uint32_t>(static_cast<unsigned char>(fourcc[i])) << 8 * i;
    return tag;
}

class ProresMaker final : public EqualFramesMaker {
public:
    explicit ProresMaker(const MediaFormat& format)
        : EqualFramesMaker(format, {.min = prores_frame_bytes_min(format)}) {}
    void make(std::span<std::byte> into, const FrameToMake& at) const override {
        build_prores_frame(into, format_, at.key);
    }
    void describe(AVCodecParameters& track) const override {
        track.codec_id = AV_CODEC_ID_PRORES;
        track.codec_tag = format_.container == MediaFormat::Container::mxf ? 0 : tag_of(format_.profile);
        track.profile = profile();
        track.format = is_444(format_) ? AV_PIX_FMT_YUV444P10 : AV_PIX_FMT_YUV422P10;
    }

private:
    int profile() const {
        constexpr std::pair<const char*, int> kProfiles[] = {
            {"apco", FF_PROFILE_PRORES_PROXY},    {"apcs", FF_PROFILE_PRORES_LT},
            {"apcn", FF_PROFILE_PRORES_STANDARD}, {"apch", FF_PROFILE_PRORES_HQ},
            {"ap4h", FF_PROFILE_PRORES_4444},     {"ap4x", FF_PROFILE_PRORES_XQ}};
        for (const auto& [name, profile] : kProfiles)
            if (format_.profile == name) return profile;
        return FF_PROFILE_UNKNOWN;
    }
};

MadeMaker make_prores_maker(const MediaFormat& format, std::uint64_t /*frames*/) {
    return std::unique_ptr<FrameMaker>(std::make_unique<ProresMaker>(format));
}

}  // namespace

const Codec kProres{"prores", make_prores_maker, prores_frame_bytes_min};

std::uint64_t prores_frame_bytes_min(const MediaFormat& format) {
    return kFrameBegin + kFrameHeader + picture_size(format).bytes;
}

void build_prores_frame(std::span<std::byte> into, const MediaFormat& format, std::uint64_t key) {
    STREAMSIM_CHECK(into.size() >= prores_frame_bytes_min(format) && into.size() <= UINT32_MAX,
                    "a ProRes frame has room for its headers and its picture");
    fill_payload(into, key, {});
    write_frame_header(into, format);
    const PictureSize size = picture_size(format);
    const auto picture = into.subspan(kFrameBegin + kFrameHeader, size.bytes);
    store<std::uint8_t>(picture, 0, true, kPictureHeader << 3);
    store<std::uint32_t>(picture, 1, true, static_cast<std::uint32_t>(size.bytes));
    // Decoders count the slices from the raster; the field is too small for the largest rasters.
    store<std::uint16_t>(picture, 5, true,
                         static_cast<std::uint16_t>(std::min<std::uint64_t>(size.slices, 0xffff)));
    store<std::uint8_t>(picture, 7, true, kLog2SliceMacroblocks << 4);
    std::size_t entry = kPictureHeader;
    std::size_t at = kPictureHeader + size.slices * kTableEntry;
    for (std::uint64_t row = 0; row < macroblocks(format.height); ++row) {
        for_slices_of_row(format, [&](unsigned macroblocks_in_slice) {
            const std::size_t bytes = slice_bytes(format, macroblocks_in_slice);
            store<std::uint16_t>(picture, entry, true, static_cast<std::uint16_t>(bytes));
            write_slice(picture.subspan(at, bytes), format, macroblocks_in_slice);
            entry += kTableEntry;
            at += bytes;
        });
    }
}

}  // namespace streamsim::media
