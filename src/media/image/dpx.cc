#include "media/image/dpx.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "base/units.h"
#include "base/wide.h"
#include "media/image/byte_order.h"
#include "media/image/image_rate.h"

namespace streamsim::media {
namespace {

// Offsets of the fields that are used here, in bytes from the beginning of the file.
constexpr std::size_t kMagic = 0;
constexpr std::size_t kImageOffset = 4;
constexpr std::size_t kVersion = 8;
constexpr std::size_t kFileSize = 16;
constexpr std::size_t kDittoKey = 20;
constexpr std::size_t kGenericLength = 24;
constexpr std::size_t kIndustryLength = 28;
constexpr std::size_t kFileName = 36;
constexpr std::size_t kCreator = 160;
constexpr std::size_t kEncryptionKey = 660;
constexpr std::size_t kElements = 770;
constexpr std::size_t kWidth = 772;
constexpr std::size_t kHeight = 776;
constexpr std::size_t kElement = 780;  // the first of eight
constexpr std::size_t kElementBytes = 72;
constexpr std::size_t kOrigination = 1408;
constexpr std::size_t kFilmFramePosition = 1712;
constexpr std::size_t kFilmHeldCount = 1720;
constexpr std::size_t kFilmFrameRate = 1724;
constexpr std::size_t kTimeCode = 1920;
constexpr std::size_t kTelevisionFrameRate = 1940;

// Offsets inside an element.
constexpr std::size_t kHighData = 12;
constexpr std::size_t kDescriptor = 20;
constexpr std::size_t kTransfer = 21;
constexpr std::size_t kColorimetric = 22;
constexpr std::size_t kBits = 23;
constexpr std::size_t kPacking = 24;
constexpr std::size_t kEncoding = 26;
constexpr std::size_t kDataOffset = 28;
constexpr std::size_t kLinePadding = 32;
constexpr std::size_t kImagePadding = 36;
constexpr std::size_t kDescription = 40;

constexpr std::uint32_t kMagicNumber = 0x53445058;  // "SDPX"
constexpr std::uint32_t kUndefined = 0xffffffff;
constexpr std::size_t kElementsMax = 8;
constexpr std::uint8_t kRgb = 50;
constexpr std::uint8_t kRec709 = 6;  // transfer and colorimetric
/// No image has a TiB; a header that says so is damaged.
constexpr std::uint64_t kImageBytesMax = 1ull << 40;

int components_of(int descriptor) {
    switch (descriptor) {
        case 1:  // one component: red, green, blue, alpha, luma, colour difference, depth, composite
        case 2:
        case 3:
        case 4:
        case 6:
        case 7:
        case 8:
        case 9: return 1;
        case 100:  // CbYCrY: two a pixel on average
            return 2;
        case 50:   // RGB
        case 101:  // CbYACrYA
        case 102:  // CbYCr
            return 3;
        case 51:   // RGBA
        case 52:   // ABGR
        case 103:  // CbYCrA
            return 4;
        default:  // 150 to 156: two to eight of the user's own
            return descriptor >= 150 && descriptor <= 156 ? descriptor - 148 : 0;
    }
}

bool known_depth(int bits) {
    constexpr int kDepths[] = {1, 8, 10, 12, 16, 32, 64};
    return std::find(std::begin(kDepths), std::end(kDepths), bits) != std::end(kDepths);
}

struct LineBytes {
    Wide by_rule = 0;
    Wide otherwise = 0;  // what the other school of writers makes of the same header
};

LineBytes line_bytes(std::uint64_t width, int bits, int packing, int components) {
    const Wide samples = Wide{width} * static_cast<unsigned>(components);
    if (bits == 10 && packing != 0) {
        const Wide words = (samples + 2) / 3 * 4;
        return {words, words};
    }
    const bool two_bytes = bits == 16 || (bits == 12 && packing != 0);
    const Wide tight = two_bytes ? samples * 2 : (samples * static_cast<unsigned>(bits) + 7) / 8;
    const Wide words = (tight + 3) / 4 * 4;
    if (two_bytes) return {tight, words};
    return {words, bits == 8 ? tight : words};
}

std::uint64_t saturated(Wide value) {
    return value > UINT64_MAX ? UINT64_MAX : static_cast<std::uint64_t>(value);
}

std::optional<FrameRate> rate_field(std::uint32_t bits) {
    return rate_from(static_cast<double>(std::bit_cast<float>(bits)));
}

/// Binary coded decimals, two digits a byte: hours, minutes, seconds, frames. Empty where they are not: the
/// field is seldom set, and zero is seldom meant.
std::string time_code_text(std::uint32_t field, std::optional<FrameRate> rate) {
    if (field == 0) return "";
    std::array<unsigned, 4> parts{};
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned byte = field >> (24 - 8 * i) & 0xff;
        if (byte >> 4 > 9 || (byte & 15) > 9) return "";
        parts[i] = (byte >> 4) * 10 + (byte & 15);
    }
    const double frames = rate ? std::ceil(rate->per_second()) : 100;
    if (parts[0] > 23 || parts[1] > 59 || parts[2] > 59 || parts[3] >= frames) return "";
    return fmt::format("{:02}:{:02}:{:02}:{:02}", parts[0], parts[1], parts[2], parts[3]);
}

/// Reads one header. Every failure is kept with the byte where it is; only the first is reported.
class Reader {
public:
    Reader(std::span<const std::byte> bytes, const std::string& file) : bytes_(bytes), file_(file) {}

    Result<DpxHeader> read() {
        if (auto begun = read_generic(); !begun) return begun.error();
        if (auto image = read_element(0); !image) return image.error();
        end_ = element_end_;
        for (std::size_t k = 1; k < elements_; ++k) {
            if (!defined(u32(kElement + k * kElementBytes + kDataOffset))) continue;
            DpxHeader first = header_;
            if (auto image = read_element(k); !image) return image.error();
            first.run_length = header_.run_length;
            header_ = first;
            end_ = std::max(end_, element_end_);
        }
        const std::uint32_t declared = u32(kFileSize);
        if (elements_ == 1 && otherwise_end_ == declared) end_ = declared;
        header_.declared_bytes = declared == kUndefined ? 0 : declared;
        header_.expected_bytes = saturated(end_);
        read_industry();
        return header_;
    }

private:
    template <typename T>
    T get(std::size_t offset) const {
        return load<T>(bytes_, offset, header_.big_endian);
    }
    std::uint32_t u32(std::size_t offset) const { return get<std::uint32_t>(offset); }
    static bool defined(std::uint32_t value) { return value != kUndefined && value != 0; }
    Error wrong(std::size_t byte, const std::string& what) const {
        return bad_input(fmt::format("{}: byte {}: {}", file_, byte, what));
    }

    Result<void> read_generic() {
        constexpr std::size_t kEnough = kElement + kElementBytes;
        if (bytes_.size() < kEnough) {
            return wrong(bytes_.size(),
                         fmt::format("the file ends here, inside the DPX header of {} bytes", kDpxHeaderBytes));
        }
        const auto magic = load<std::uint32_t>(bytes_, kMagic, true);
        header_.big_endian = magic == kMagicNumber;
        if (!header_.big_endian && load<std::uint32_t>(bytes_, kMagic, false) != kMagicNumber) {
            return wrong(
                kMagic, fmt::format("expected SDPX or XPDS, the beginning of a DPX file, found {:08x}", magic));
        }
        header_.image_offset = u32(kImageOffset);
        if (header_.image_offset < kEnough || header_.image_offset == kUndefined) {
            return wrong(kImageOffset, fmt::format("expected the offset of the image, {} or more, found {}",
                                                   kEnough, header_.image_offset));
        }
        elements_ = get<std::uint16_t>(kElements);
        header_.width = u32(kWidth);
        header_.height = u32(kHeight);
        if (!defined(header_.width)) return wrong(kWidth, "the image has no width");
        if (!defined(header_.height)) return wrong(kHeight, "the image has no height");
        if (elements_ < 1 || elements_ > kElementsMax) {
            return wrong(kElements,
                         fmt::format("expected 1 to {} image elements, found {}", kElementsMax, elements_));
        }
        if (bytes_.size() < kElement + elements_ * kElementBytes) {
            return wrong(bytes_.size(), "the file ends here, inside its list of image elements");
        }
        return {};
    }

    Result<void> read_element(std::size_t k) {
        const std::size_t base = kElement + k * kElementBytes;
        header_.descriptor = get<std::uint8_t>(base + kDescriptor);
        header_.components = components_of(header_.descriptor);
        header_.bits = get<std::uint8_t>(base + kBits);
        const std::uint32_t packing = get<std::uint16_t>(base + kPacking);
        const std::uint32_t encoding = get<std::uint16_t>(base + kEncoding);
        if (header_.components == 0) {
            return wrong(base + kDescriptor,
                         fmt::format("image descriptor {} is not known", header_.descriptor));
        }
        if (!known_depth(header_.bits)) {
            return wrong(
                base + kBits,
                fmt::format("expected 1, 8, 10, 12, 16, 32 or 64 bits a component, found {}", header_.bits));
        }
        const bool packing_matters = header_.bits == 10 || header_.bits == 12;
        if (packing_matters && packing > 2) {
            return wrong(base + kPacking, fmt::format("expected packing 0, 1 or 2, found {}", packing));
        }
        header_.packing = packing_matters ? static_cast<int>(packing) : 0;
        if (encoding > 1 && encoding != 0xffff) {
            return wrong(base + kEncoding,
                         fmt::format("expected encoding 0 (none) or 1 (run-length), found {}", encoding));
        }
        header_.run_length = header_.run_length || encoding == 1;
        return place_image(base);
    }

    Result<void> place_image(std::size_t base) {
        const std::uint32_t own_offset = u32(base + kDataOffset);
        const bool own = own_offset != kUndefined && own_offset >= kElement + kElementBytes;
        const Wide offset = own ? own_offset : header_.image_offset;
        header_.data_offset = static_cast<std::uint64_t>(offset);
        header_.data_offset_at = own ? base + kDataOffset : kImageOffset;
        const std::uint32_t padding = u32(base + kLinePadding);
        const Wide line_end = padding == kUndefined ? 0 : padding;
        const LineBytes line = line_bytes(header_.width, header_.bits, header_.packing, header_.components);
        element_end_ = offset + (line.by_rule + line_end) * header_.height;
        otherwise_end_ = offset + (line.otherwise + line_end) * header_.height;
        if (element_end_ > kImageBytesMax) {
            return wrong(
                kWidth, fmt::format("an image of {} x {} with {} bits a component and {} bytes after each line "
                                    "would be larger than a TiB",
                                    header_.width, header_.height, header_.bits, saturated(line_end)));
        }
        return {};
    }

    /// The film and television headers, which not every writer makes: FFmpeg's image data begins where they
    /// would be.
    void read_industry() {
        const bool there = header_.image_offset >= kDpxHeaderBytes && bytes_.size() >= kDpxHeaderBytes &&
                           u32(kIndustryLength) != 0;
        if (!there) return;
        header_.rate = rate_field(u32(kFilmFrameRate));
        if (!header_.rate) header_.rate = rate_field(u32(kTelevisionFrameRate));
        const std::uint32_t position = u32(kFilmFramePosition);
        if (position != kUndefined) header_.frame_number = position;
        header_.timecode = time_code_text(u32(kTimeCode), header_.rate);
    }

    std::span<const std::byte> bytes_;
    const std::string& file_;
    DpxHeader header_;
    std::size_t elements_ = 0;
    Wide element_end_ = 0;
    Wide otherwise_end_ = 0;
    Wide end_ = 0;
};

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
    for (std::size_t k = 0; k < kElementsMax; ++k) out.undefined(kElement + k * kElementBytes, kDescription);
    out.u32(kElement, 0);      // unsigned
    out.u32(kElement + 4, 0);  // lowest code
    out.u32(kElement + kHighData, (1u << layout.bits) - 1);
    out.put<std::uint8_t>(kElement + kDescriptor, kRgb);
    out.put<std::uint8_t>(kElement + kTransfer, kRec709);
    out.put<std::uint8_t>(kElement + kColorimetric, kRec709);
    out.put<std::uint8_t>(kElement + kBits, static_cast<std::uint8_t>(layout.bits));
    out.put<std::uint16_t>(kElement + kPacking, static_cast<std::uint16_t>(layout.packing));
    out.put<std::uint16_t>(kElement + kEncoding, 0);
    out.u32(kElement + kDataOffset, layout.image_offset);
    out.u32(kElement + kLinePadding, 0);
    out.u32(kElement + kImagePadding, 0);
    out.text(kElement + kDescription, 32, "RGB");
}

/// Binary-coded decimal hours, minutes, seconds and frames. Left unset where the labels skip numbers (drop
/// frame) or two digits do not hold the frames of a second.
std::uint32_t time_code_field(std::uint64_t frame, FrameRate rate) {
    const std::string label = timecode(frame, rate);  // "HH:MM:SS:FF"
    if (label.size() != 11 || label[8] != ':') return kUndefined;
    std::uint32_t value = 0;
    for (const char c : label) {
        if (c != ':') value = value << 4 | static_cast<std::uint32_t>(c - '0');
    }
    return value;
}

}  // namespace

std::string DpxHeader::describe() const {
    constexpr const char* kFills[] = {" packed", " filled", " filled B"};
    const char* fill = bits == 10 || bits == 12 ? kFills[packing] : "";
    std::string more = components == 3 ? "" : fmt::format(", {} components", components);
    if (run_length) more += ", run-length encoded";
    return fmt::format("dpx {} bit{} {}x{}{}", bits, fill, width, height, more);
}

Result<DpxHeader> parse_dpx_header(std::span<const std::byte> bytes, const std::string& file) {
    return Reader(bytes, file).read();
}

std::uint64_t dpx_line_bytes(std::uint64_t width, int bits, int packing, int components) {
    return saturated(line_bytes(width, bits, packing, components).by_rule);
}

std::uint64_t dpx_image_bytes(
    std::uint64_t width, std::uint64_t height, int bits, int packing, int components) {
    return saturated(Wide{dpx_line_bytes(width, bits, packing, components)} * height);
}

PayloadMask dpx_payload_mask(const DpxLayout& layout) {
    std::uint32_t word = 0xffffffff;  // as a 32-bit word of the file
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
    out.u32(kMagic, kMagicNumber);
    out.u32(kImageOffset, layout.image_offset);
    out.text(kVersion, 8, "V2.0");
    out.u32(kFileSize, layout.image_offset + dpx_image_bytes(width, height, layout.bits, layout.packing));
    out.u32(kDittoKey, 1);  // this header is not the one of the frame before
    out.u32(kGenericLength, 1664);
    out.u32(kIndustryLength, 384);
    out.text(kFileName, 100, file);
    out.text(kCreator, 100, "streamsim");
    out.undefined(kEncryptionKey, 4);
    out.put<std::uint16_t>(kElements, 1);
    out.u32(kWidth, width);
    out.u32(kHeight, height);
    write_elements(out, layout);

    out.undefined(kOrigination + 8, 8);  // centre
    out.u32(kOrigination + 16, width);
    out.u32(kOrigination + 20, height);
    out.undefined(kOrigination + 212, 8);  // border
    out.u32(kOrigination + 220, 1);        // pixel aspect ratio
    out.u32(kOrigination + 224, 1);
    out.undefined(kOrigination + 228, 8);  // scanned size

    out.u32(kFilmFramePosition, number);
    out.undefined(kFilmFramePosition + 4, 4);  // frames in the sequence
    out.u32(kFilmHeldCount, 1);
    out.real(kFilmFrameRate, format.rate.per_second());
    out.undefined(kFilmFrameRate + 4, 4);  // shutter angle

    out.u32(kTimeCode, time_code_field(number - first, format.rate));
    out.undefined(kTimeCode + 4, 4);   // user bits
    out.undefined(kTimeCode + 9, 2);   // field number, video signal; interlace 0 before them: progressive
    out.undefined(kTimeCode + 12, 8);  // sampling rates
    out.real(kTelevisionFrameRate, format.rate.per_second());
    out.undefined(kTelevisionFrameRate + 4, 28);  // time offset to integration time
}

}  // namespace streamsim::media
