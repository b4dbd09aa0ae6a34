// DPX, TIFF, Cineon and v210: samples are random, filler bits and padding zero, so that the storage finds
// nothing to compress beyond what the format itself wastes.
#include <algorithm>
#include <cstring>

#include "base/byte_order.h"
#include "base/check.h"
#include "media/frames/codec_makers.h"
#include "media/frames/dpx_writer.h"
#include "media/frames/payload.h"
#include "media/image/dpx.h"
#include "media/libav/libav.h"

namespace streamsim::media {
namespace {

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

void put_text(std::span<std::byte> into, std::size_t at, std::size_t room, std::string_view text) {
    std::memcpy(into.data() + at, text.data(), std::min(text.size(), room - 1));
}

class DpxMaker final : public FrameMaker {
public:
    explicit DpxMaker(const MediaFormat& format) : format_(format), bytes_(dpx_bytes_min(format)) {}
    FrameLimits limits(std::uint64_t /*frame*/) const override { return {bytes_, bytes_}; }
    void make(std::span<std::byte> into, const FrameToMake& at) const override {
        STREAMSIM_CHECK(into.size() == bytes_, "a DPX frame has the bytes of its raster");
        const auto header = into.first(format_.dpx.image_offset);
        write_dpx_header(header, format_, std::string(at.file), at.number, at.number - at.frame);
        const auto image = into.subspan(header.size());
        fill_payload(image, at.key, dpx_payload_mask(format_.dpx));
        zero_dpx_line_ends(image, 0, format_);
    }

private:
    MediaFormat format_;
    std::uint64_t bytes_;
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

class TiffMaker final : public FrameMaker {
public:
    explicit TiffMaker(const MediaFormat& format) : format_(format), bytes_min_(tiff_bytes_min(format)) {}
    FrameLimits limits(std::uint64_t /*frame*/) const override { return {bytes_min_, UINT32_MAX}; }
    void make(std::span<std::byte> into, const FrameToMake& at) const override {
        STREAMSIM_CHECK(into.size() >= bytes_min_, "a TIFF frame has room for its directory and its image");
        const auto image = image_behind_header(into, tiff_image_bytes(format_));
        fill_payload(image, at.key, {});
        std::memcpy(into.data(), "II*\0", 4);
        store<std::uint32_t>(into, 4, false, kTiffDirectory);
        write_directory(into, static_cast<std::uint32_t>(into.size() - image.size()));
    }

private:
    enum Type : std::uint16_t { kAscii = 2, kShort = 3, kLong = 4, kRational = 5 };

    /// The directory, and behind it what does not fit an entry.
    void write_directory(std::span<std::byte> into, std::uint32_t image) const {
        const auto strips = static_cast<std::uint32_t>(tiff_strips(format_));
        std::size_t entry = kTiffDirectory + 2;
        std::size_t more = kTiffDirectory + 2 + kTiffEntries * kTiffEntryBytes + 4;
        std::uint32_t entries = 0;
        const auto put = [&](std::uint16_t tag, Type type, std::uint32_t count, std::uint32_t value) {
            store<std::uint16_t>(into, entry, false, tag);
            store<std::uint16_t>(into, entry + 2, false, type);
            store<std::uint32_t>(into, entry + 4, false, count);
            store<std::uint32_t>(into, entry + 8, false, value);
            entry += kTiffEntryBytes;
            ++entries;
        };
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
        put(256, kLong, 1, static_cast<std::uint32_t>(format_.width));
        put(257, kLong, 1, static_cast<std::uint32_t>(format_.height));
        put(258, kShort, 3, depths);
        put(259, kShort, 1, 1);  // not compressed
        put(262, kShort, 1, 2);  // RGB
        put(273, kLong, strips, offsets);
        put(274, kShort, 1, 1);  // the first line on top
        put(277, kShort, 1, 3);  // components
        put(278, kLong, 1, static_cast<std::uint32_t>(kTiffRowsPerStrip));
        put(279, kLong, strips, counts);
        put(282, kRational, 1, resolution);
        put(283, kRational, 1, resolution);
        put(284, kShort, 1, 1);  // components side by side
        put(296, kShort, 1, 2);  // unit: inch
        put(305, kAscii, 10, software);
        STREAMSIM_CHECK(entries == kTiffEntries, "the directory has as many entries as were planned");
        store<std::uint16_t>(into, kTiffDirectory, false, static_cast<std::uint16_t>(entries));
        for (std::size_t i = 0; i < 3; ++i) store<std::uint16_t>(into, depths + 2 * i, false, 16);
        store<std::uint32_t>(into, resolution, false, 72);
        store<std::uint32_t>(into, resolution + 4, false, 1);
        put_text(into, software, 10, "streamsim");
        const auto strip = static_cast<std::uint32_t>(width_of(format_) * 6 * kTiffRowsPerStrip);
        for (std::uint32_t i = 0; strips > 1 && i < strips; ++i) {
            store<std::uint32_t>(into, offsets + std::size_t{4} * i, false, image + i * strip);
            store<std::uint32_t>(into, counts + std::size_t{4} * i, false,
                                 std::min(strip, image_bytes - i * strip));
        }
    }

    MediaFormat format_;
    std::uint64_t bytes_min_;
};

// Cineon 4.5, big-endian: a generic and a film header, then three 10-bit components in each 32-bit word, as DPX
// has them filled by method A.
constexpr std::uint64_t kCineonHeaderBytes = 2048;
constexpr std::uint32_t kCineonMagic = 0x802a5fd7;
constexpr std::uint32_t kUndefinedReal = 0x7f800000;  // infinity

std::uint64_t cineon_image_bytes(const MediaFormat& format) {
    return dpx_image_bytes(width_of(format), height_of(format), 10, 1);
}

void put_real(std::span<std::byte> into, std::size_t at, float value) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    store<std::uint32_t>(into, at, true, bits);
}

class CineonMaker final : public FrameMaker {
public:
    explicit CineonMaker(const MediaFormat& format) : format_(format), bytes_min_(cineon_bytes_min(format)) {}
    FrameLimits limits(std::uint64_t /*frame*/) const override { return {bytes_min_, UINT32_MAX}; }
    void make(std::span<std::byte> into, const FrameToMake& at) const override {
        STREAMSIM_CHECK(into.size() >= bytes_min_, "a Cineon frame has room for its headers and its image");
        const auto image = image_behind_header(into, cineon_image_bytes(format_));
        fill_payload(image, at.key, dpx_payload_mask({.bits = 10, .packing = 1, .big_endian = true}));
        const auto put = [&](std::size_t where, std::uint64_t value) {
            store<std::uint32_t>(into, where, true, static_cast<std::uint32_t>(value));
        };
        put(0, kCineonMagic);
        put(4, into.size() - image.size());
        put(8, 1024);   // generic header
        put(12, 1024);  // industry header
        put(20, into.size());
        put_text(into, 24, 8, "V4.5");
        put_text(into, 32, 100, at.file);
        store<std::uint8_t>(into, 193, true, 3);  // channels
        for (std::uint8_t channel = 0; channel < 3; ++channel) {
            const std::size_t base = 196 + std::size_t{28} * channel;
            store<std::uint8_t>(into, base + 1, true, static_cast<std::uint8_t>(channel + 1));  // R, G, B
            store<std::uint8_t>(into, base + 2, true, 10);
            put(base + 4, width_of(format_));
            put(base + 8, height_of(format_));
            put_real(into, base + 16, 0);  // the lowest code value and its density, the highest and its
            put_real(into, base + 20, 1023);
            put_real(into, base + 24, 2.048F);
        }
        for (std::size_t where = 420; where < 452; where += 4) put(where, kUndefinedReal);  // primaries
        store<std::uint8_t>(into, 681, true, 5);  // three components a 32-bit word, at its upper end
        put(716, 0);
        for (std::size_t where = 972; where < 984; where += 4)
            put(where, kUndefinedReal);  // device pitch, gamma
        put(1068, at.number);
        put_real(into, 1072, static_cast<float>(format_.rate.per_second()));
    }

private:
    MediaFormat format_;
    std::uint64_t bytes_min_;
};

// v210: 4:2:2, three 10-bit samples a 32-bit word, little-endian; a line is filled up to 128 bytes.
std::uint64_t v210_line_bytes(const MediaFormat& format) {
    return (width_of(format) + 47) / 48 * 128;
}

class V210Maker final : public FrameMaker {
public:
    explicit V210Maker(const MediaFormat& format) : format_(format), bytes_(v210_bytes_min(format)) {}
    FrameLimits limits(std::uint64_t /*frame*/) const override { return {bytes_, bytes_}; }
    void make(std::span<std::byte> into, const FrameToMake& at) const override {
        STREAMSIM_CHECK(into.size() == bytes_, "a v210 frame has the bytes of its raster");
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

private:
    MediaFormat format_;
    std::uint64_t bytes_;
};

}  // namespace

MadeMaker make_dpx_maker(const MediaFormat& format) {
    return std::unique_ptr<FrameMaker>(std::make_unique<DpxMaker>(format));
}
MadeMaker make_tiff_maker(const MediaFormat& format) {
    return std::unique_ptr<FrameMaker>(std::make_unique<TiffMaker>(format));
}
MadeMaker make_cineon_maker(const MediaFormat& format) {
    return std::unique_ptr<FrameMaker>(std::make_unique<CineonMaker>(format));
}
MadeMaker make_v210_maker(const MediaFormat& format) {
    return std::unique_ptr<FrameMaker>(std::make_unique<V210Maker>(format));
}

std::uint64_t dpx_bytes_min(const MediaFormat& format) {
    return format.dpx.image_offset +
           dpx_image_bytes(width_of(format), height_of(format), format.dpx.bits, format.dpx.packing);
}
std::uint64_t tiff_bytes_min(const MediaFormat& format) {
    constexpr std::uint64_t kOutside = 8 + 8 + 12;  // depths, resolution, software
    const std::uint64_t strips = tiff_strips(format);
    return kTiffDirectory + 2 + kTiffEntries * kTiffEntryBytes + 4 + kOutside + (strips > 1 ? 8 * strips : 0) +
           tiff_image_bytes(format);
}
std::uint64_t cineon_bytes_min(const MediaFormat& format) {
    return kCineonHeaderBytes + cineon_image_bytes(format);
}
std::uint64_t v210_bytes_min(const MediaFormat& format) {
    return v210_line_bytes(format) * height_of(format);
}

}  // namespace streamsim::media
