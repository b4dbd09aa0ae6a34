#include "media/frames/dpx_writer.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/byte_order.h"
#include "base/check.h"
#include "base/units.h"
#include "media/image/dpx.h"
#include "media/image/dpx_fields.h"

namespace streamsim::media {

namespace field = dpx_fields;

namespace {

constexpr std::uint8_t kRgb = 50;
constexpr std::uint8_t kRec709 = 6;  // transfer and colorimetric

/// Writes the fields of one header.
class Writer {
public:
    Writer(std::span<std::byte> into, bool big_endian) : into_(into), big_endian_(big_endian) {}

    template <typename T>
    void put(std::size_t offset, T value) {
        store<T>(into_, offset, big_endian_, value);
    }
    void u32(std::size_t offset, std::uint64_t value) { put(offset, static_cast<std::uint32_t>(value)); }
    void real(std::size_t offset, double value) {
        put(offset, std::bit_cast<std::uint32_t>(static_cast<float>(value)));
    }
    /// The standard's mark for "not set", in every numeric field of the range.
    void undefined(std::size_t offset, std::size_t bytes) {
        std::fill_n(into_.begin() + static_cast<std::ptrdiff_t>(offset), bytes, std::byte{0xff});
    }
    /// At most capacity - 1 characters; the rest stays zero.
    void text(std::size_t offset, std::size_t capacity, const std::string& value) {
        std::memcpy(into_.data() + offset, value.data(), std::min(value.size(), capacity - 1));
    }

private:
    std::span<std::byte> into_;
    bool big_endian_;
};

void write_elements(Writer& out, const DpxLayout& layout) {
    for (std::size_t k = 0; k < field::kElementsMax; ++k)
        out.undefined(field::kElement + k * field::kElementBytes, field::kDescription);
    out.u32(field::kElement, 0);      // unsigned
    out.u32(field::kElement + 4, 0);  // lowest code
    out.u32(field::kElement + field::kHighData, (1u << layout.bits) - 1);
    out.put<std::uint8_t>(field::kElement + field::kDescriptor, kRgb);
    out.put<std::uint8_t>(field::kElement + field::kTransfer, kRec709);
    out.put<std::uint8_t>(field::kElement + field::kColorimetric, kRec709);
    out.put<std::uint8_t>(field::kElement + field::kBits, static_cast<std::uint8_t>(layout.bits));
    out.put<std::uint16_t>(field::kElement + field::kPacking, static_cast<std::uint16_t>(layout.packing));
    out.put<std::uint16_t>(field::kElement + field::kEncoding, 0);
    out.u32(field::kElement + field::kDataOffset, layout.image_offset);
    out.u32(field::kElement + field::kLinePadding, 0);
    out.u32(field::kElement + field::kImagePadding, 0);
    out.text(field::kElement + field::kDescription, 32, "RGB");
}

/// Binary-coded decimal hours, minutes, seconds and frames. Left unset where the labels skip numbers (drop
/// frame) or two digits do not hold the frames of a second.
std::uint32_t time_code_field(std::uint64_t frame, FrameRate rate) {
    const std::string label = timecode(frame, rate);  // "HH:MM:SS:FF"
    if (label.size() != 11 || label[8] != ':') return field::kUndefined;
    std::uint32_t value = 0;
    for (const char c : label) {
        if (c != ':') value = value << 4 | static_cast<std::uint32_t>(c - '0');
    }
    return value;
}

}  // namespace

PayloadMask dpx_payload_mask(const DpxLayout& layout) {
    std::uint32_t word = 0xffffffff;  // in the byte order of the file
    if (layout.bits == 10 && layout.packing == 1) word = 0xfffffffc;
    if (layout.bits == 10 && layout.packing == 2) word = 0x3fffffff;
    if (layout.bits == 12 && layout.packing == 1) word = 0xfff0fff0;
    if (layout.bits == 12 && layout.packing == 2) word = 0x0fff0fff;
    return {layout.big_endian ? __builtin_bswap32(word) : word};
}

void zero_dpx_line_ends(std::span<std::byte> piece, std::uint64_t position, const MediaFormat& format) {
    const DpxLayout& layout = format.dpx;
    const bool tight = layout.bits == 16 || (layout.packing != 0 && layout.bits != 8);
    const std::uint64_t used_bits =
        static_cast<std::uint64_t>(format.width) * 3 * static_cast<unsigned>(layout.bits) % 32;
    if (tight || used_bits == 0) return;
    // Bytes are kept in the order of the file, packed components from the low end of the word.
    std::uint32_t keep = (1u << used_bits) - 1;
    if (layout.bits != 8 && layout.big_endian) keep = __builtin_bswap32(keep);
    const std::uint64_t line =
        dpx_line_bytes(static_cast<std::uint64_t>(format.width), layout.bits, layout.packing);
    std::uint64_t last_word = (position / line + 1) * line - 4;
    for (; last_word + 4 <= position + piece.size(); last_word += line) {
        std::uint32_t word = 0;
        std::byte* const at = piece.data() + (last_word - position);
        std::memcpy(&word, at, sizeof word);
        word &= keep;
        std::memcpy(at, &word, sizeof word);
    }
}

void write_dpx_header(std::span<std::byte> into,
                      const MediaFormat& format,
                      const std::string& file,
                      std::uint64_t number,
                      std::uint64_t first) {
    const DpxLayout& layout = format.dpx;
    STREAMSIM_CHECK(into.size() == layout.image_offset && into.size() >= kDpxHeaderBytes,
                    "a DPX header fills the file up to its image");
    std::fill(into.begin(), into.end(), std::byte{0});
    Writer out(into, layout.big_endian);
    const auto width = static_cast<std::uint64_t>(format.width);
    const auto height = static_cast<std::uint64_t>(format.height);
    out.u32(field::kMagic, field::kMagicNumber);
    out.u32(field::kImageOffset, layout.image_offset);
    out.text(field::kVersion, 8, "V2.0");
    out.u32(field::kFileSize,
            layout.image_offset + dpx_image_bytes(width, height, layout.bits, layout.packing));
    out.u32(field::kDittoKey, 1);  // this header is not the one of the frame before
    out.u32(field::kGenericLength, 1664);
    out.u32(field::kIndustryLength, 384);
    out.text(field::kFileName, 100, file);
    out.text(field::kCreator, 100, "streamsim");
    out.undefined(field::kEncryptionKey, 4);
    out.put<std::uint16_t>(field::kElements, 1);
    out.u32(field::kWidth, width);
    out.u32(field::kHeight, height);
    write_elements(out, layout);

    out.undefined(field::kOrigination + 8, 8);  // centre
    out.u32(field::kOrigination + 16, width);
    out.u32(field::kOrigination + 20, height);
    out.undefined(field::kOrigination + 212, 8);  // border
    out.u32(field::kOrigination + 220, 1);        // pixel aspect ratio
    out.u32(field::kOrigination + 224, 1);
    out.undefined(field::kOrigination + 228, 8);  // scanned size

    out.u32(field::kFilmFramePosition, number);
    out.undefined(field::kFilmFramePosition + 4, 4);  // frames in the sequence
    out.u32(field::kFilmHeldCount, 1);
    out.real(field::kFilmFrameRate, format.rate.per_second());
    out.undefined(field::kFilmFrameRate + 4, 4);  // shutter angle

    out.u32(field::kTimeCode, time_code_field(number - first, format.rate));
    out.undefined(field::kTimeCode + 4, 4);  // user bits
    out.undefined(field::kTimeCode + 9, 2);  // field number, video signal; interlace 0 before them: progressive
    out.undefined(field::kTimeCode + 12, 8);  // sampling rates
    out.real(field::kTelevisionFrameRate, format.rate.per_second());
    out.undefined(field::kTelevisionFrameRate + 4, 28);  // time offset to integration time
}

}  // namespace streamsim::media
