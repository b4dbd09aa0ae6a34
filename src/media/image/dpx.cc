#include "media/image/dpx.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "base/byte_order.h"
#include "media/image/image_readers.h"

namespace streamsim::media {

namespace field = dpx_fields;

namespace {

/// 0: the descriptor is not known.
int components_of(int descriptor) {
    struct Descriptors {
        int first;
        int last;
        int components;
    };
    constexpr Descriptors kDescriptors[] = {
        {1, 4, 1},      // red, green, blue, alpha
        {6, 9, 1},      // luma, colour difference, depth, composite
        {50, 50, 3},    // RGB
        {51, 52, 4},    // RGBA, ABGR
        {100, 100, 2},  // CbYCrY: two a pixel on average
        {101, 102, 3},  // CbYACrYA, CbYCr
        {103, 103, 4},  // CbYCrA
    };
    if (descriptor >= 150 && descriptor <= 156) return descriptor - 148;  // two to eight of the user's own
    for (const Descriptors& each : kDescriptors) {
        if (descriptor >= each.first && descriptor <= each.last) return each.components;
    }
    return 0;
}

bool known_depth(int bits) {
    constexpr int kDepths[] = {1, 8, 10, 12, 16, 32, 64};
    return std::find(std::begin(kDepths), std::end(kDepths), bits) != std::end(kDepths);
}

struct LineBytes {
    Wide by_rule = 0;
    Wide otherwise = 0;  // by the padding that other writers use for the same header
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

/// Binary coded decimals, two digits a byte: hours, minutes, seconds, frames. Empty for other values and for
/// zero: the field is seldom set, and zero is seldom meant.
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

class DpxReader {
public:
    DpxReader(std::span<const std::byte> bytes, const std::string& file) : bytes_(bytes), file_(file) {}

    Result<DpxHeader> read() {
        if (auto begun = read_generic(); !begun) return begun.error();
        if (auto image = read_element(0); !image) return image.error();
        end_ = element_end_;
        for (std::size_t k = 1; k < elements_; ++k) {
            if (!defined(u32(field::kElement + k * field::kElementBytes + field::kDataOffset))) continue;
            DpxHeader first = header_;
            if (auto image = read_element(k); !image) return image.error();
            first.run_length = header_.run_length;
            header_ = first;
            end_ = std::max(end_, element_end_);
        }
        const std::uint32_t declared = u32(field::kFileSize);
        if (elements_ == 1 && otherwise_end_ == declared) end_ = declared;
        header_.declared_bytes = declared == field::kUndefined ? 0 : declared;
        header_.expected_bytes = saturated(end_);
        read_industry();
        header_.format = header_.describe();
        return header_;
    }

private:
    template <typename T>
    T get(std::size_t offset) const {
        return load<T>(bytes_, offset, header_.big_endian);
    }
    std::uint32_t u32(std::size_t offset) const { return get<std::uint32_t>(offset); }
    static bool defined(std::uint32_t value) { return value != field::kUndefined && value != 0; }
    template <typename... Args>
    Error wrong(std::size_t byte, fmt::format_string<Args...> what, Args&&... args) const {
        return bad_input(
            fmt::format("{}: byte {}: {}", file_, byte, fmt::format(what, std::forward<Args>(args)...)));
    }

    Result<void> read_generic() {
        constexpr std::size_t kEnough = field::kElement + field::kElementBytes;
        if (bytes_.size() < kEnough) {
            return wrong(bytes_.size(), "the file ends here, inside the DPX header of {} bytes",
                         kDpxHeaderBytes);
        }
        const auto magic = load<std::uint32_t>(bytes_, field::kMagic, true);
        header_.big_endian = magic == field::kMagicNumber;
        if (!header_.big_endian && load<std::uint32_t>(bytes_, field::kMagic, false) != field::kMagicNumber) {
            return wrong(field::kMagic, "expected SDPX or XPDS, the beginning of a DPX file, found {:08x}",
                         magic);
        }
        header_.image_offset = u32(field::kImageOffset);
        if (header_.image_offset < kEnough || header_.image_offset == field::kUndefined) {
            return wrong(field::kImageOffset, "expected the offset of the image, {} or more, found {}", kEnough,
                         header_.image_offset);
        }
        elements_ = get<std::uint16_t>(field::kElements);
        header_.width = u32(field::kWidth);
        header_.height = u32(field::kHeight);
        header_.raster_at = field::kWidth;
        if (!defined(u32(field::kWidth))) return wrong(field::kWidth, "the image has no width");
        if (!defined(u32(field::kHeight))) return wrong(field::kHeight, "the image has no height");
        if (elements_ < 1 || elements_ > field::kElementsMax) {
            return wrong(field::kElements, "expected 1 to {} image elements, found {}", field::kElementsMax,
                         elements_);
        }
        if (bytes_.size() < field::kElement + elements_ * field::kElementBytes) {
            return wrong(bytes_.size(), "the file ends here, inside its list of image elements");
        }
        return {};
    }

    Result<void> read_element(std::size_t k) {
        const std::size_t base = field::kElement + k * field::kElementBytes;
        header_.descriptor = get<std::uint8_t>(base + field::kDescriptor);
        header_.components = components_of(header_.descriptor);
        header_.bits = get<std::uint8_t>(base + field::kBits);
        const std::uint32_t packing = get<std::uint16_t>(base + field::kPacking);
        const std::uint32_t encoding = get<std::uint16_t>(base + field::kEncoding);
        if (header_.components == 0)
            return wrong(base + field::kDescriptor, "image descriptor {} is not known", header_.descriptor);
        if (!known_depth(header_.bits)) {
            return wrong(base + field::kBits, "expected 1, 8, 10, 12, 16, 32 or 64 bits a component, found {}",
                         header_.bits);
        }
        const bool packing_matters = header_.bits == 10 || header_.bits == 12;
        if (packing_matters && packing > 2)
            return wrong(base + field::kPacking, "expected packing 0, 1 or 2, found {}", packing);
        header_.packing = packing_matters ? static_cast<int>(packing) : 0;
        if (encoding > 1 && encoding != 0xffff) {
            return wrong(base + field::kEncoding, "expected encoding 0 (none) or 1 (run-length), found {}",
                         encoding);
        }
        header_.run_length = header_.run_length || encoding == 1;
        return place_image(base);
    }

    Result<void> place_image(std::size_t base) {
        const std::uint32_t own_offset = u32(base + field::kDataOffset);
        const bool own =
            own_offset != field::kUndefined && own_offset >= field::kElement + field::kElementBytes;
        const Wide offset = own ? own_offset : header_.image_offset;
        header_.image_begins = static_cast<std::uint64_t>(offset);
        header_.image_begins_at = own ? base + field::kDataOffset : field::kImageOffset;
        const std::uint32_t padding = u32(base + field::kLinePadding);
        const Wide line_end = padding == field::kUndefined ? 0 : padding;
        const LineBytes line = line_bytes(header_.width, header_.bits, header_.packing, header_.components);
        element_end_ = offset + (line.by_rule + line_end) * header_.height;
        otherwise_end_ = offset + (line.otherwise + line_end) * header_.height;
        if (element_end_ > kImageBytesMax) {
            return wrong(field::kWidth,
                         "an image of {} x {} with {} bits a component and {} bytes after each line would be "
                         "larger than a TiB",
                         header_.width, header_.height, header_.bits, saturated(line_end));
        }
        return {};
    }

    /// Reads the film and television headers. Not every writer has them: FFmpeg's image data begins at their
    /// offset.
    void read_industry() {
        const bool there = header_.image_offset >= kDpxHeaderBytes && bytes_.size() >= kDpxHeaderBytes &&
                           u32(field::kIndustryLength) != 0;
        if (!there) return;
        header_.rate = rate_field(u32(field::kFilmFrameRate));
        if (!header_.rate) header_.rate = rate_field(u32(field::kTelevisionFrameRate));
        const std::uint32_t position = u32(field::kFilmFramePosition);
        if (position != field::kUndefined) header_.frame_number = position;
        header_.timecode = time_code_text(u32(field::kTimeCode), header_.rate);
    }

    std::span<const std::byte> bytes_;
    const std::string& file_;
    DpxHeader header_;
    std::size_t elements_ = 0;
    Wide element_end_ = 0;
    Wide otherwise_end_ = 0;
    Wide end_ = 0;
};

}  // namespace

std::string DpxHeader::describe() const {
    constexpr const char* kFills[] = {" packed", " filled", " filled B"};
    const char* fill = bits == 10 || bits == 12 ? kFills[packing] : "";
    std::string more = components == 3 ? "" : fmt::format(", {} components", components);
    if (run_length) more += ", run-length encoded";
    return fmt::format("dpx {} bit{} {}x{}{}", bits, fill, width, height, more);
}

Result<DpxHeader> parse_dpx_header(std::span<const std::byte> bytes, const std::string& file) {
    return DpxReader(bytes, file).read();
}

std::uint64_t dpx_line_bytes(std::uint64_t width, int bits, int packing, int components) {
    return saturated(line_bytes(width, bits, packing, components).by_rule);
}

std::uint64_t dpx_image_bytes(
    std::uint64_t width, std::uint64_t height, int bits, int packing, int components) {
    return saturated(Wide{dpx_line_bytes(width, bits, packing, components)} * height);
}

}  // namespace streamsim::media
