// DPX, TIFF, Cineon and v210: samples are random, filler bits and padding zero, so that the storage finds
// nothing to compress beyond what the format itself wastes.
#include <algorithm>
#include <bit>
#include <cstring>

#include "base/byte_order.h"
#include "base/check.h"
#include "base/units.h"
#include "media/frames/codec_makers.h"
#include "media/image/dpx.h"
#include "media/libav/libav.h"

namespace streamsim::media {

namespace field = dpx_fields;

namespace {

class FieldWriter {
public:
    FieldWriter(std::span<std::byte> into, bool big_endian) : into_(into), big_endian_(big_endian) {}

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
    void text(std::size_t offset, std::size_t capacity, std::string_view value) {
        std::memcpy(into_.data() + offset, value.data(), std::min(value.size(), capacity - 1));
    }

private:
    std::span<std::byte> into_;
    bool big_endian_;
};

std::uint64_t width_of(const MediaFormat& format) {
    return static_cast<std::uint64_t>(format.width);
}
std::uint64_t height_of(const MediaFormat& format) {
    return static_cast<std::uint64_t>(format.height);
}

/// `into` without its header, which is cleared: images stand at the end of the file.
std::span<std::byte> image_behind_header(std::span<std::byte> into, std::uint64_t image_bytes) {
    const std::size_t header = into.size() - image_bytes;
    std::fill_n(into.begin(), header, std::byte{0});
    return into.subspan(header);
}

// DPX (SMPTE ST 268).
constexpr std::uint8_t kRgb = 50;
constexpr std::uint8_t kRec709 = 6;  // transfer and colorimetric

void write_elements(FieldWriter& out, const DpxLayout& layout) {
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

std::uint64_t dpx_bytes_min(const MediaFormat& format) {
    return format.dpx.image_offset +
           dpx_image_bytes(width_of(format), height_of(format), format.dpx.bits, format.dpx.packing);
}

class DpxMaker final : public EqualFramesMaker {
public:
    explicit DpxMaker(const MediaFormat& format)
        : EqualFramesMaker(format, {dpx_bytes_min(format), dpx_bytes_min(format)}) {}
    void make(std::span<std::byte> into, const FrameToMake& at) const override {
        STREAMSIM_CHECK(into.size() == limits_.min, "a DPX frame has the bytes of its raster");
        const auto header = into.first(format_.dpx.image_offset);
        write_dpx_header(header, format_, std::string(at.file), at.number, at.number - at.frame);
        const auto image = into.subspan(header.size());
        fill_payload(image, at.key, dpx_payload_mask(format_.dpx));
        zero_dpx_line_ends(image, 0, format_);
    }
    std::vector<std::byte> beginning(std::uint64_t /*bytes*/, const FrameToMake& at) const override {
        if (format_.dpx.image_offset < kDpxHeaderBytes) return {};
        std::vector<std::byte> header(format_.dpx.image_offset);
        write_dpx_header(header, format_, std::string(at.file), at.number, at.number - at.frame);
        header.resize(kDpxHeaderBytes);
        return header;
    }
};

// TIFF 6.0, little-endian. The image is cut into strips, as readers expect it of large images.
constexpr std::uint64_t kTiffDirectory = 8;
constexpr std::uint64_t kTiffEntries = 15;
constexpr std::uint64_t kTiffEntryBytes = 12;
constexpr std::uint64_t kTiffRowsPerStrip = 16;

std::uint64_t tiff_image_bytes(const MediaFormat& format) {
    return width_of(format) * height_of(format) * 6;
}
std::uint64_t tiff_strips(const MediaFormat& format) {
    return (height_of(format) + kTiffRowsPerStrip - 1) / kTiffRowsPerStrip;
}

std::uint64_t tiff_bytes_min(const MediaFormat& format) {
    constexpr std::uint64_t kOutside = 8 + 8 + 12;  // depths, resolution, software
    const std::uint64_t strips = tiff_strips(format);
    return kTiffDirectory + 2 + kTiffEntries * kTiffEntryBytes + 4 + kOutside + (strips > 1 ? 8 * strips : 0) +
           tiff_image_bytes(format);
}

class TiffMaker final : public EqualFramesMaker {
public:
    explicit TiffMaker(const MediaFormat& format) : EqualFramesMaker(format, {.min = tiff_bytes_min(format)}) {}
    void make(std::span<std::byte> into, const FrameToMake& at) const override {
        STREAMSIM_CHECK(into.size() >= limits_.min, "a TIFF frame has room for its directory and its image");
        const auto image = image_behind_header(into, tiff_image_bytes(format_));
        fill_payload(image, at.key, {});
        write_header(into, into.size() - image.size());
    }
    std::vector<std::byte> beginning(std::uint64_t bytes, const FrameToMake& /*at*/) const override {
        const std::uint64_t image = tiff_image_bytes(format_);
        std::vector<std::byte> header(limits_.min - image);
        write_header(header, std::max(bytes, limits_.min) - image);
        return header;
    }

private:
    enum Type : std::uint16_t { kAscii = 2, kShort = 3, kLong = 4, kRational = 5 };
    struct Entry {
        std::uint16_t tag;
        Type type;
        std::uint32_t count;
        std::uint32_t value;
    };

    /// `image`: where the image begins.
    void write_header(std::span<std::byte> into, std::uint64_t image) const {
        FieldWriter out(into, false);
        out.u32(0, 0x002a4949);  // "II", 42
        out.u32(4, kTiffDirectory);
        write_directory(out, static_cast<std::uint32_t>(image));
    }

    /// The directory, and behind it what does not fit an entry.
    void write_directory(FieldWriter& out, std::uint32_t image) const {
        const auto strips = static_cast<std::uint32_t>(tiff_strips(format_));
        std::size_t more = kTiffDirectory + 2 + kTiffEntries * kTiffEntryBytes + 4;
        const auto outside = [&](std::size_t bytes) {
            const std::size_t where = more;
            more += (bytes + 3) / 4 * 4;
            return static_cast<std::uint32_t>(where);
        };
        const std::uint32_t depths = outside(6);
        const std::uint32_t resolution = outside(8);
        const std::uint32_t software = outside(10);
        const std::uint32_t offsets = strips > 1 ? outside(std::size_t{4} * strips) : image;
        const auto image_bytes = static_cast<std::uint32_t>(tiff_image_bytes(format_));
        const std::uint32_t counts = strips > 1 ? outside(std::size_t{4} * strips) : image_bytes;
        const Entry entries[] = {
            {256, kLong, 1, static_cast<std::uint32_t>(format_.width)},
            {257, kLong, 1, static_cast<std::uint32_t>(format_.height)},
            {258, kShort, 3, depths},
            {259, kShort, 1, 1},  // not compressed
            {262, kShort, 1, 2},  // RGB
            {273, kLong, strips, offsets},
            {274, kShort, 1, 1},  // the first line on top
            {277, kShort, 1, 3},  // components
            {278, kLong, 1, static_cast<std::uint32_t>(kTiffRowsPerStrip)},
            {279, kLong, strips, counts},
            {282, kRational, 1, resolution},
            {283, kRational, 1, resolution},
            {284, kShort, 1, 1},  // components side by side
            {296, kShort, 1, 2},  // unit: inch
            {305, kAscii, 10, software},
        };
        static_assert(std::size(entries) == kTiffEntries, "the directory has as many entries as were planned");
        out.put<std::uint16_t>(kTiffDirectory, kTiffEntries);
        for (std::size_t at = kTiffDirectory + 2; const Entry& entry : entries) {
            out.put(at, entry.tag);
            out.put<std::uint16_t>(at + 2, entry.type);
            out.put(at + 4, entry.count);
            out.put(at + 8, entry.value);
            at += kTiffEntryBytes;
        }
        for (std::size_t i = 0; i < 3; ++i) out.put<std::uint16_t>(depths + 2 * i, 16);
        out.u32(resolution, 72);
        out.u32(resolution + 4, 1);
        out.text(software, 10, "streamsim");
        const auto strip = static_cast<std::uint32_t>(width_of(format_) * 6 * kTiffRowsPerStrip);
        for (std::uint32_t i = 0; strips > 1 && i < strips; ++i) {
            out.u32(offsets + std::size_t{4} * i, image + i * strip);
            out.u32(counts + std::size_t{4} * i, std::min(strip, image_bytes - i * strip));
        }
    }
};

// Cineon 4.5, big-endian: a generic and a film header, then three 10-bit components in each 32-bit word, as DPX
// has them filled by method A.
constexpr std::uint64_t kCineonHeaderBytes = 2048;
constexpr std::uint32_t kCineonMagic = 0x802a5fd7;
constexpr std::uint32_t kUndefinedReal = 0x7f800000;  // infinity

std::uint64_t cineon_image_bytes(const MediaFormat& format) {
    return dpx_image_bytes(width_of(format), height_of(format), 10, 1);
}

std::uint64_t cineon_bytes_min(const MediaFormat& format) {
    return kCineonHeaderBytes + cineon_image_bytes(format);
}

class CineonMaker final : public EqualFramesMaker {
public:
    explicit CineonMaker(const MediaFormat& format)
        : EqualFramesMaker(format, {.min = cineon_bytes_min(format)}) {}
    void make(std::span<std::byte> into, const FrameToMake& at) const override {
        STREAMSIM_CHECK(into.size() >= limits_.min, "a Cineon frame has room for its headers and its image");
        const auto image = image_behind_header(into, cineon_image_bytes(format_));
        fill_payload(image, at.key, dpx_payload_mask({.bits = 10, .packing = 1, .big_endian = true}));
        write_header(into, into.size(), at);
    }
    std::vector<std::byte> beginning(std::uint64_t bytes, const FrameToMake& at) const override {
        std::vector<std::byte> header(kCineonHeaderBytes);
        write_header(header, std::max(bytes, limits_.min), at);
        return header;
    }

private:
    void write_header(std::span<std::byte> into, std::uint64_t bytes, const FrameToMake& at) const {
        FieldWriter out(into, true);
        out.u32(0, kCineonMagic);
        out.u32(4, bytes - cineon_image_bytes(format_));
        out.u32(8, 1024);   // generic header
        out.u32(12, 1024);  // industry header
        out.u32(20, bytes);
        out.text(24, 8, "V4.5");
        out.text(32, 100, at.file);
        out.put<std::uint8_t>(193, 3);  // channels
        for (std::uint8_t channel = 0; channel < 3; ++channel) {
            const std::size_t base = 196 + std::size_t{28} * channel;
            out.put(base + 1, static_cast<std::uint8_t>(channel + 1));  // R, G, B
            out.put<std::uint8_t>(base + 2, 10);
            out.u32(base + 4, width_of(format_));
            out.u32(base + 8, height_of(format_));
            out.real(base + 16, 0);  // the lowest code value and its density, the highest and its
            out.real(base + 20, 1023);
            out.real(base + 24, 2.048);
        }
        for (std::size_t where = 420; where < 452; where += 4) out.u32(where, kUndefinedReal);  // primaries
        out.put<std::uint8_t>(681, 5);  // three components a 32-bit word, at its upper end
        out.u32(716, 0);
        for (std::size_t where = 972; where < 984; where += 4) out.u32(where, kUndefinedReal);  // pitch, gamma
        out.u32(1068, at.number);
        out.real(1072, format_.rate.per_second());
    }
};

// v210: 4:2:2, three 10-bit samples a 32-bit word, little-endian; a line is filled up to 128 bytes.
std::uint64_t v210_line_bytes(const MediaFormat& format) {
    return (width_of(format) + 47) / 48 * 128;
}

std::uint64_t v210_bytes_min(const MediaFormat& format) {
    return v210_line_bytes(format) * height_of(format);
}

class V210Maker final : public EqualFramesMaker {
public:
    explicit V210Maker(const MediaFormat& format)
        : EqualFramesMaker(format, {v210_bytes_min(format), v210_bytes_min(format)}) {}
    void make(std::span<std::byte> into, const FrameToMake& at) const override {
        STREAMSIM_CHECK(into.size() == limits_.min, "a v210 frame has the bytes of its raster");
        fill_payload(into, at.key, {0x3fffffff});
        const std::uint64_t line = v210_line_bytes(format_);
        const std::uint64_t samples = (width_of(format_) + 1) / 2 * 4;  // Cb Y Cr Y for two pixels
        const std::uint64_t used = (samples + 2) / 3 * 4;
        const std::uint32_t keep = samples % 3 == 0 ? 0x3fffffff : (1U << samples % 3 * 10) - 1;
        for (std::uint64_t begin = 0; begin < into.size(); begin += line) {
            const std::uint64_t last = begin + used - 4;
            store<std::uint32_t>(into, last, false, load<std::uint32_t>(into, last, false) & keep);
            std::fill_n(into.begin() + static_cast<std::ptrdiff_t>(begin + used), line - used, std::byte{0});
        }
    }
    void describe(AVCodecParameters& track) const override {
        track.codec_id = AV_CODEC_ID_V210;
        track.format = AV_PIX_FMT_YUV422P10;
        track.bits_per_coded_sample = 20;
    }
};

template <typename Maker>
MadeMaker made(const MediaFormat& format, std::uint64_t /*frames*/) {
    return std::unique_ptr<FrameMaker>(std::make_unique<Maker>(format));
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
    FieldWriter out(into, layout.big_endian);
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

const Codec kDpx{"dpx", made<DpxMaker>, dpx_bytes_min};
const Codec kTiff{"tiff", made<TiffMaker>, tiff_bytes_min};
const Codec kCineon{"cineon", made<CineonMaker>, cineon_bytes_min};
const Codec kV210{"v210", made<V210Maker>, v210_bytes_min};

}  // namespace streamsim::media
