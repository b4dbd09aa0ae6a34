#include "media/prores.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"
#include "media/byte_order.h"
#include "media/payload.h"

namespace streamsim {
namespace {

// SMPTE RDD 36, sizes in bytes.
constexpr std::size_t kFrameBegin = 8;     // frame size, "icpf"
constexpr std::size_t kFrameHeader = 148;  // with both quantisation matrices
constexpr std::size_t kMatrixBytes = 64;
constexpr std::size_t kPictureHeader = 8;
constexpr std::size_t kSliceHeader = 6;
constexpr std::size_t kTableEntry = 2;
constexpr std::uint64_t kSliceBytesMax = 0xffff;
constexpr std::uint32_t kFrameIdentifier = 0x69637066;  // "icpf"
constexpr int kMacroblock = 16;                         // pixels, both ways
/// A slice has 8 macroblocks of a row; what is left of the row is cut into powers of two.
constexpr int kLog2SliceMacroblocks = 3;

std::uint64_t macroblocks(std::uint64_t pixels) {
    return (pixels + kMacroblock - 1) / kMacroblock;
}

/// Slices of one frame when the largest has 2^log2 macroblocks.
std::uint64_t slices_of(std::uint64_t width, std::uint64_t height, int log2) {
    const std::uint64_t across = macroblocks(width);
    const std::uint64_t rest = across & ((1u << log2) - 1);
    return ((across >> log2) + static_cast<unsigned>(std::popcount(rest))) * macroblocks(height);
}

/// The largest slices whose number can still hold the frame: a slice has less than 64 KiB, so a frame much
/// larger than its raster is used to needs more of them.
int slice_width_for(std::uint64_t width, std::uint64_t height, std::uint64_t bytes) {
    int log2 = kLog2SliceMacroblocks;
    while (log2 > 0 && slices_of(width, height, log2) * kSliceBytesMax < bytes) {
        --log2;
        if (bytes < kFrameBegin + kFrameHeader + kPictureHeader +
                        slices_of(width, height, log2) * (kTableEntry + kSliceHeader)) {
            return log2 + 1;
        }
    }
    return log2;
}

void write_frame_header(std::span<std::byte> out, const MediaFormat& format) {
    constexpr bool kBig = true;
    const bool four = format.prores_fourcc.starts_with("ap4");
    store<std::uint32_t>(out, 0, kBig, static_cast<std::uint32_t>(out.size()));
    store<std::uint32_t>(out, 4, kBig, kFrameIdentifier);
    const auto header = out.subspan(kFrameBegin, kFrameHeader);
    std::fill(header.begin(), header.end(), std::byte{0});
    store<std::uint16_t>(header, 0, kBig, kFrameHeader);
    store<std::uint8_t>(header, 3, kBig, four ? 1 : 0);  // bitstream version
    std::memcpy(header.data() + 4, "ssim", 4);           // encoder identifier
    store<std::uint16_t>(header, 8, kBig, static_cast<std::uint16_t>(format.width));
    store<std::uint16_t>(header, 10, kBig, static_cast<std::uint16_t>(format.height));
    header[12] = std::byte{static_cast<unsigned char>(four ? 0xc0 : 0x80)};  // 4:4:4 or 4:2:2, progressive
    header[13] = std::byte{0};                                       // aspect ratio and rate: not said here
    for (std::size_t i = 14; i < 17; ++i) header[i] = std::byte{1};  // primaries, transfer, matrix: BT.709
    header[19] = std::byte{3};                                       // both matrices follow
    std::fill_n(header.begin() + 20, 2 * kMatrixBytes, std::byte{4});
}

/// Where the slices are: all of one length, the first ones a byte longer.
struct Slices {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    std::uint64_t longer = 0;
    std::uint64_t of(std::uint64_t slice) const { return bytes + (slice < longer ? 1 : 0); }
};

Slices cut(std::uint64_t room, std::uint64_t count) {
    const std::uint64_t bytes = room / count;
    if (bytes >= kSliceBytesMax)
        return {count, kSliceBytesMax, 0};  // more than slices can have: stuffing follows
    return {count, bytes, room % count};
}

}  // namespace

std::uint64_t prores_frame_bytes_min(std::uint64_t width, std::uint64_t height) {
    return kFrameBegin + kFrameHeader + kPictureHeader +
           slices_of(width, height, kLog2SliceMacroblocks) * (kTableEntry + kSliceHeader);
}

void build_prores_frame(std::span<std::byte> into, const MediaFormat& format, std::uint64_t key) {
    const auto width = static_cast<std::uint64_t>(format.width);
    const auto height = static_cast<std::uint64_t>(format.height);
    STREAMSIM_CHECK(into.size() >= prores_frame_bytes_min(width, height) && into.size() <= UINT32_MAX,
                    "a ProRes frame has room for its headers");
    fill_payload(into, key, {});
    write_frame_header(into, format);
    const int log2 = slice_width_for(width, height, into.size());
    const std::uint64_t count = slices_of(width, height, log2);
    const auto picture = into.subspan(kFrameBegin + kFrameHeader);
    const std::size_t data = kPictureHeader + count * kTableEntry;
    const Slices slices = cut(picture.size() - data, count);
    const std::uint64_t picture_bytes = data + slices.bytes * count + slices.longer;
    store<std::uint8_t>(picture, 0, true, kPictureHeader << 3);
    store<std::uint32_t>(picture, 1, true, static_cast<std::uint32_t>(picture_bytes));
    store<std::uint16_t>(picture, 5, true, static_cast<std::uint16_t>(std::min<std::uint64_t>(count, 0xffff)));
    store<std::uint8_t>(picture, 7, true, static_cast<std::uint8_t>(log2 << 4));
    std::size_t at = data;
    for (std::uint64_t slice = 0; slice < count; ++slice) {
        const std::uint64_t bytes = slices.of(slice);
        store<std::uint16_t>(picture, kPictureHeader + slice * kTableEntry, true,
                             static_cast<std::uint16_t>(bytes));
        // Half of the data is luma, a quarter each of the colour differences: the share of samples in 4:2:2.
        const std::uint64_t coded = bytes - kSliceHeader;
        store<std::uint8_t>(picture, at, true, kSliceHeader << 3);
        store<std::uint8_t>(picture, at + 1, true, 4);  // quantisation index
        store<std::uint16_t>(picture, at + 2, true, static_cast<std::uint16_t>(coded / 2));
        store<std::uint16_t>(picture, at + 4, true, static_cast<std::uint16_t>(coded / 4));
        at += bytes;
    }
}

}  // namespace streamsim
