#include "unit/media/image_samples.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace streamsim::testing {

std::string in_order(std::uint64_t value, int bytes, bool big_endian) {
    std::string out;
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
    if (big_endian) std::reverse(out.begin(), out.end());
    return out;
}
std::string be(std::uint64_t value, int bytes) {
    return in_order(value, bytes, true);
}
std::string le(std::uint64_t value, int bytes) {
    return in_order(value, bytes, false);
}

void put(std::string& file, std::size_t at, const std::string& text) {
    if (file.size() < at + text.size()) file.resize(at + text.size());
    file.replace(at, text.size(), text);
}

namespace {

std::uint64_t dpx_line(int width, int bits, int packing) {
    const auto samples = static_cast<std::uint64_t>(width) * 3;
    if (bits == 10 && packing != 0) return (samples + 2) / 3 * 4;
    if (bits == 16 || (bits == 12 && packing != 0)) return samples * 2;
    return (samples * static_cast<std::uint64_t>(bits) + 31) / 32 * 4;
}

}  // namespace

std::string dpx_sample(int width, int height, int bits, int packing, std::uint32_t offset, bool big_endian) {
    std::string file(offset, '\0');
    const auto u = [&](std::size_t at, std::uint64_t value, int bytes) {
        put(file, at, in_order(value, bytes, big_endian));
    };
    u(0, 0x53445058, 4);
    u(4, offset, 4);
    put(file, 8, "V1.0");
    u(24, 1664, 4);
    u(28, offset >= 2048 ? 384 : 0, 4);
    u(770, 1, 2);
    u(772, static_cast<std::uint64_t>(width), 4);
    u(776, static_cast<std::uint64_t>(height), 4);
    u(800, 50, 1);
    u(803, static_cast<std::uint64_t>(bits), 1);
    u(804, static_cast<std::uint64_t>(packing), 2);
    u(808, offset, 4);
    if (offset >= 2048) {
        u(1724, std::bit_cast<std::uint32_t>(25.0f), 4);
        u(1940, 0xffffffff, 4);
    }
    file.resize(offset + dpx_line(width, bits, packing) * static_cast<std::uint64_t>(height));
    return file;
}

std::string exr_attribute(const std::string& name, const std::string& type, const std::string& value) {
    return name + '\0' + type + '\0' + le(value.size(), 4) + value;
}

std::string exr_sample(const ExrSample& sample) {
    std::string channels;
    for (int i = 0; i < sample.channels; ++i)
        channels +=
            std::string(1, static_cast<char>('A' + i)) + '\0' + le(1, 4) + le(0, 4) + le(1, 4) + le(1, 4);
    const auto w = static_cast<std::uint64_t>(sample.width);
    const auto h = static_cast<std::uint64_t>(sample.height);
    const std::string window = le(0, 8) + le(w - 1, 4) + le(h - 1, 4);
    std::string file = "\x76\x2f\x31\x01" + le(sample.tile > 0 ? 0x202 : 2, 4);
    file += exr_attribute("channels", "chlist", channels + '\0');
    file += exr_attribute("compression", "compression", le(static_cast<std::uint64_t>(sample.compression), 1));
    file += exr_attribute("dataWindow", "box2i", window);
    file += exr_attribute("displayWindow", "box2i", window);
    file += exr_attribute("lineOrder", "lineOrder", le(0, 1));
    if (sample.tile > 0) {
        const auto side = le(static_cast<std::uint64_t>(sample.tile), 4);
        file += exr_attribute("tiles", "tiledesc",
                              side + side + le(static_cast<std::uint64_t>(sample.level_mode), 1));
    }
    file += sample.more;
    file += '\0';
    if (sample.compression != 0) {
        const std::uint64_t chunks = sample.compression <= 2 ? h : 1;  // of at most 16 lines
        const std::uint64_t table = 8 * chunks;
        const std::uint64_t chunk_at = file.size() + table;
        for (std::uint64_t i = 0; i < chunks; ++i) file += le(chunk_at, 8);
        return file + le(0, 4) + le(92 - table, 4) + std::string(92 - table, 'z');
    }
    const auto pixel = static_cast<std::uint64_t>(sample.channels) * 2;
    if (sample.tile == 0) return file + std::string(h * (8 + 8 + w * pixel), 'x');
    const auto tile = static_cast<std::uint64_t>(sample.tile);
    std::uint64_t bytes = 0;
    for (std::uint64_t lw = w, lh = h;;) {
        bytes += lw * lh * pixel + (lw + tile - 1) / tile * ((lh + tile - 1) / tile) * (8 + 20);
        if (sample.level_mode == 0 || (lw == 1 && lh == 1)) break;
        lw = std::max<std::uint64_t>(1, lw / 2);
        lh = std::max<std::uint64_t>(1, lh / 2);
    }
    return file + std::string(bytes, 'x');
}

std::string tiff_sample(const TiffSample& sample) {
    const int offset_bytes = sample.big ? 8 : 4;
    const auto u = [&](std::uint64_t value, int bytes) { return in_order(value, bytes, sample.big_endian); };
    const auto w = static_cast<std::uint64_t>(sample.width);
    const auto h = static_cast<std::uint64_t>(sample.height);
    const auto rows = static_cast<std::uint64_t>(sample.rows_per_strip);
    const std::uint64_t strips = (h + rows - 1) / rows;
    const std::uint64_t line = w * 6;
    constexpr std::uint64_t kEntries = 8;
    const std::uint64_t head = sample.big ? 16 : 8;
    const std::uint64_t directory =
        static_cast<std::uint64_t>(sample.big ? 8 + 20 * kEntries + 8 : 2 + 12 * kEntries + 4);
    const std::uint64_t lists = 6 + 2 * strips * static_cast<std::uint64_t>(offset_bytes);
    const std::uint64_t image = h * line;
    const std::uint64_t directory_at = sample.directory_last ? head + image : head;
    const std::uint64_t image_at = sample.directory_last ? head : head + directory + lists;
    const std::uint64_t bits_at = directory_at + directory;
    const std::uint64_t offsets_at = bits_at + 6;
    const std::uint64_t sizes_at = offsets_at + strips * static_cast<std::uint64_t>(offset_bytes);

    std::string begin = sample.big_endian ? "MM" : "II";
    begin += sample.big ? u(43, 2) + u(8, 2) + u(0, 2) : u(42, 2);
    begin += u(directory_at, offset_bytes);
    std::string table = u(kEntries, sample.big ? 8 : 2);
    const auto entry = [&](std::uint64_t tag, std::uint64_t type, std::uint64_t count, std::uint64_t value,
                           int bytes) {
        std::string field = u(value, bytes);
        field.resize(static_cast<std::size_t>(offset_bytes));
        table += u(tag, 2) + u(type, 2) + u(count, offset_bytes) + field;
    };
    const std::uint64_t offset_type = sample.big ? 16 : 4;
    entry(256, 3, 1, w, 2);
    entry(257, 4, 1, h, 4);
    if (sample.big) {
        table += u(258, 2) + u(3, 2) + u(3, 8) + u(16, 2) + u(16, 2) + u(16, 2) + u(0, 2);  // they fit
    } else {
        entry(258, 3, 3, bits_at, offset_bytes);
    }
    entry(259, 3, 1, static_cast<std::uint64_t>(sample.compression), 2);
    entry(273, offset_type, strips, offsets_at, offset_bytes);
    entry(277, 3, 1, 3, 2);
    entry(278, 3, 1, rows, 2);
    entry(279, offset_type, strips, sizes_at, offset_bytes);
    table += u(0, offset_bytes);
    table += u(16, 2) + u(16, 2) + u(16, 2);
    for (std::uint64_t i = 0; i < strips; ++i) table += u(image_at + i * rows * line, offset_bytes);
    for (std::uint64_t i = 0; i < strips; ++i) table += u(std::min(rows, h - i * rows) * line, offset_bytes);
    const std::string pixels(image, 'p');
    return sample.directory_last ? begin + pixels + table : begin + table + pixels;
}

std::string dng_sample(int num, int den, bool big_endian) {
    const auto u = [&](int value, int bytes) {
        return in_order(static_cast<std::uint64_t>(value), bytes, big_endian);
    };
    const std::string begin = (big_endian ? "MM" : "II") + u(42, 2) + u(8, 4) + u(1, 2);
    const std::string rate = u(51044, 2) + u(10, 2) + u(1, 4) + u(26, 4);
    return begin + rate + u(0, 4) + u(num, 4) + u(den, 4);
}

std::string cineon_sample(int width, int height, std::uint32_t offset, bool big_endian) {
    std::string file(std::max<std::uint32_t>(offset, 1024), '\0');
    const auto u = [&](std::size_t at, std::uint64_t value, int bytes) {
        put(file, at, in_order(value, bytes, big_endian));
    };
    u(0, 0x802a5fd7, 4);
    u(4, offset, 4);
    u(8, 1024, 4);
    u(12, offset >= 2048 ? 1024 : 0, 4);
    put(file, 24, "V4.5");
    u(193, 3, 1);
    for (std::size_t channel = 0; channel < 3; ++channel) {
        const std::size_t at = 196 + channel * 28;
        u(at + 2, 10, 1);
        u(at + 4, static_cast<std::uint64_t>(width), 4);
        u(at + 8, static_cast<std::uint64_t>(height), 4);
    }
    u(680, 0, 1);
    u(681, 5, 1);
    if (offset >= 2048) u(1072, std::bit_cast<std::uint32_t>(24.0f), 4);
    file.resize(offset + static_cast<std::size_t>(width) * 4 * static_cast<std::size_t>(height));
    return file;
}

}  // namespace streamsim::testing
