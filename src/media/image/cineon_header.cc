#include <fmt/format.h>

#include <bit>

#include "base/byte_order.h"
#include "media/image/image_readers.h"

namespace streamsim::media {
namespace {

// Offsets of fields, in bytes from the beginning of the file; raster and depth are those of the first channel.
constexpr std::size_t kImageOffset = 4;
constexpr std::size_t kChannels = 193;
constexpr std::size_t kBits = 198;
constexpr std::size_t kWidth = 200;
constexpr std::size_t kHeight = 204;

constexpr std::size_t kGenericBytes = 1024;
constexpr std::size_t kHeaderBytes = 2048;
constexpr std::uint32_t kCineonMagic = 0x802a5fd7;
constexpr std::uint32_t kUndefined = 0xffffffff;
constexpr unsigned kChannelsMax = 8;

// Further fields: how components lie, and the film industry's part.
constexpr std::size_t kInterleave = 680;
constexpr std::size_t kPacking = 681;
constexpr std::size_t kLinePadding = 684;
constexpr std::size_t kChannelPadding = 688;
constexpr std::size_t kIndustryLength = 12;
constexpr std::size_t kFrameRate = 1072;

/// Bytes of so many components one after the other; nothing for a packing that is not known.
std::optional<Wide> run_bytes(Wide components, unsigned bits, unsigned packing) {
    if (packing == 0) return (components * bits + 31) / 32 * 4;
    if (bits == 8) return components;
    if (bits == 10 && (packing == 5 || packing == 6)) return (components + 2) / 3 * 4;
    if (bits <= 16 && packing <= 4) return components * 2;
    return std::nullopt;
}

}  // namespace

void read_cineon_header(HeaderBytes& bytes, ImageHeader& header) {
    const auto begin = bytes.all_of(0, 4, "the beginning of a Cineon file");
    const auto magic = load<std::uint32_t>(begin, 0, true);
    const bool big_endian = magic == kCineonMagic;
    if (!big_endian && load<std::uint32_t>(begin, 0, false) != kCineonMagic) {
        return bytes.fail(
            0,
            fmt::format("expected 802a5fd7 or d75f2a80, the beginning of a Cineon file, found {:08x}", magic));
    }
    const auto generic = bytes.all_of(0, kGenericBytes, "a Cineon header of 1024 bytes");
    const auto u32 = [&](std::size_t at) { return load<std::uint32_t>(generic, at, big_endian); };
    const auto u8 = [&](std::size_t at) { return std::to_integer<unsigned>(generic[at]); };

    header.raster_at = kWidth;
    header.image_begins = u32(kImageOffset);
    header.image_begins_at = kImageOffset;
    header.width = u32(kWidth);
    header.height = u32(kHeight);
    const unsigned channels = u8(kChannels);
    const unsigned bits = u8(kBits);
    if (header.image_begins < kGenericBytes || header.image_begins == kUndefined) {
        return bytes.fail(kImageOffset, fmt::format("expected the offset of the image, {} or more, found {}",
                                                    kGenericBytes, header.image_begins));
    }
    if (channels < 1 || channels > kChannelsMax)
        return bytes.fail(kChannels,
                          fmt::format("expected 1 to {} channels, found {}", kChannelsMax, channels));
    if (bits < 1 || bits > 32)
        return bytes.fail(kBits, fmt::format("expected 1 to 32 bits a pixel, found {}", bits));
    if (header.width == 0 || header.width == kUndefined) return bytes.fail(kWidth, "the image has no width");
    if (header.height == 0 || header.height == kUndefined)
        return bytes.fail(kHeight, "the image has no height");

    // Bit 7 of the packing says that a cell holds as many components as fit; everybody writes 5 and means that.
    const unsigned packing = u8(kPacking) & 0x7f;
    const bool planes = u8(kInterleave) == 2;
    const auto padding = [&](std::size_t at) { return Wide{u32(at) == kUndefined ? 0 : u32(at)}; };
    const Wide line_padding = padding(kLinePadding);
    const Wide channel_padding = padding(kChannelPadding);
    const auto line = run_bytes(Wide{header.width} * (planes ? 1 : channels), bits, packing);
    if (line) {
        Wide image = (*line + line_padding) * header.height + channel_padding;
        if (planes) image *= channels;
        if (image > kImageBytesMax) {
            return bytes.fail(kWidth, fmt::format("an image of {} x {} with {} bits would be larger than a TiB",
                                                  header.width, header.height, bits));
        }
        header.expected_bytes = static_cast<std::uint64_t>(header.image_begins + image);
    }
    header.format = fmt::format("cineon {} bit {}x{}", bits, header.width, header.height);
    if (channels != 3) header.format += fmt::format(", {} channels", channels);

    const std::uint32_t industry_length = u32(kIndustryLength);
    if (header.image_begins < kHeaderBytes || industry_length == 0) return;
    const auto rate = bytes.up_to(kFrameRate, 4);
    if (rate.size() < 4) return;
    const auto value = std::bit_cast<float>(load<std::uint32_t>(rate, 0, big_endian));
    header.rate = rate_from(static_cast<double>(value));
}

}  // namespace streamsim::media
