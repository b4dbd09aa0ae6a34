#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/byte_order.h"
#include "media/image/image_readers.h"

namespace streamsim::media {
namespace {

constexpr std::uint32_t kExrMagic = 20000630;  // little-endian: 76 2f 31 01
// Flags of the version field.
constexpr std::uint32_t kTiled = 0x200;
constexpr std::uint32_t kDeep = 0x800;
constexpr std::uint32_t kMultipart = 0x1000;

constexpr std::size_t kNameMax = 256;  // attribute name with its end; 32 without the long-names flag
constexpr std::size_t kPartsMax = 1024;
constexpr std::uint32_t kNegative = 0x80000000;

constexpr const char* kCompressions[] = {"none", "rle",  "zips", "zip",  "piz",  "pxr24",
                                         "b44",  "b44a", "dwaa", "dwab", "htj2k"};

/// Lines in a chunk, by compression; unknown for later compressions.
constexpr int kChunkLines[] = {1, 1, 1, 16, 32, 16, 32, 32, 32, 256};
/// Limit of the table of chunks; no frame has so many lines.
constexpr std::uint64_t kTableBytesMax = std::uint64_t{256} << 10;

struct Channel {
    int type = 0;  // 0 uint, 1 half, 2 float
    std::int64_t x_sampling = 1;
    std::int64_t y_sampling = 1;
};

struct Part {
    std::int64_t x_min = 0;
    std::int64_t y_min = 0;
    std::int64_t width = 0;
    std::int64_t height = 0;
    std::uint64_t window_at = 0;  // 0: not seen
    int compression = -1;         // -1: not seen
    std::vector<Channel> channels;
    std::uint64_t tile_width = 0;  // 0: scan lines
    std::uint64_t tile_height = 0;
    int level_mode = 0;  // 0 one level, 1 each half of the one before, 2 each combination of halves
    bool round_up = false;
    bool deep = false;
    std::optional<FrameRate> rate;
    std::string timecode;
};

/// Bytes of a value whose type says how long it is.
std::optional<std::uint32_t> fixed_bytes(std::string_view type) {
    constexpr std::pair<std::string_view, std::uint32_t> kTypes[] = {
        {"box2f", 16},      {"box2i", 16},   {"chromaticities", 32},
        {"compression", 1}, {"double", 8},   {"envmap", 1},
        {"float", 4},       {"int", 4},      {"keycode", 28},
        {"lineOrder", 1},   {"m33d", 72},    {"m33f", 36},
        {"m44d", 128},      {"m44f", 64},    {"rational", 8},
        {"tiledesc", 9},    {"timecode", 8}, {"v2d", 16},
        {"v2f", 8},         {"v2i", 8},      {"v3d", 24},
        {"v3f", 12},        {"v3i", 12}};
    for (const auto& [name, bytes] : kTypes) {
        if (name == type) return bytes;
    }
    return std::nullopt;
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
    return a / b - (a % b < 0 ? 1 : 0);
}

/// Number of coordinates in [min, min + count) are multiples of `sampling`.
std::uint64_t samples(std::int64_t min, std::int64_t count, std::int64_t sampling) {
    return static_cast<std::uint64_t>(floor_div(min + count - 1, sampling) - floor_div(min - 1, sampling));
}

std::uint64_t sample_bytes(const Channel& channel) {
    return channel.type == 1 ? 2 : 4;
}

/// The sizes of one side in each level of detail, the whole first.
std::vector<std::uint64_t> level_sizes(std::uint64_t size, std::uint64_t longest, bool round_up) {
    std::vector<std::uint64_t> sizes{size};
    const std::uint64_t halved = round_up ? (longest > 1 ? longest - 1 : 0) : longest >> 1;
    const auto more = static_cast<int>(std::bit_width(halved));  // levels after the first
    for (int level = 1; level <= more; ++level) {
        const std::uint64_t up = round_up ? (std::uint64_t{1} << level) - 1 : 0;
        sizes.push_back(std::max<std::uint64_t>(1, (size + up) >> level));
    }
    return sizes;
}

/// Offset table and chunks of an uncompressed part.
Wide part_bytes(const Part& part, bool multipart) {
    const Wide part_number = multipart ? 4 : 0;
    if (part.tile_width == 0) {
        Wide bytes = 0;
        for (const Channel& channel : part.channels) {
            bytes += Wide{samples(part.x_min, part.width, channel.x_sampling)} *
                     samples(part.y_min, part.height, channel.y_sampling) * sample_bytes(channel);
        }
        return bytes + (8 + 4 + 4 + part_number) * static_cast<std::uint64_t>(part.height);
    }
    std::uint64_t pixel = 0;
    for (const Channel& channel : part.channels) pixel += sample_bytes(channel);
    const auto width = static_cast<std::uint64_t>(part.width);
    const auto height = static_cast<std::uint64_t>(part.height);
    const bool ripmap = part.level_mode == 2;
    auto widths = level_sizes(width, ripmap ? width : std::max(width, height), part.round_up);
    auto heights = level_sizes(height, ripmap ? height : std::max(width, height), part.round_up);
    if (part.level_mode == 0) {
        widths.resize(1);
        heights.resize(1);
    }
    Wide bytes = 0;
    const auto add = [&](std::uint64_t w, std::uint64_t h) {
        const Wide tiles =
            Wide{(w + part.tile_width - 1) / part.tile_width} * ((h + part.tile_height - 1) / part.tile_height);
        bytes += Wide{w} * h * pixel + tiles * (8 + 16 + 4 + part_number);
    };
    for (std::size_t y = 0; y < heights.size(); ++y) {
        if (!ripmap) {
            add(widths[y], heights[y]);
            continue;
        }
        for (const std::uint64_t w : widths) add(w, heights[y]);
    }
    return bytes;
}

std::string type_name(const Part& part) {
    if (part.channels.empty()) return "no channels";
    const int type = part.channels.front().type;
    for (const Channel& channel : part.channels) {
        if (channel.type != type) return "mixed";
    }
    constexpr const char* kTypes[] = {"uint", "half", "float"};
    return kTypes[type];
}

class ExrReader {
public:
    ExrReader(HeaderBytes& bytes, ImageHeader& header) : bytes_(bytes), header_(header) {}

    void read() {
        const auto begin = bytes_.all_of(0, 8, "the beginning of an OpenEXR file");
        flags_ = load<std::uint32_t>(begin, 4, false);
        if (load<std::uint32_t>(begin, 0, false) != kExrMagic) {
            return fail(0, "expected 76 2f 31 01, the beginning of an OpenEXR file, found {:08x}",
                        load<std::uint32_t>(begin, 0, true));
        }
        if ((flags_ & 0xff) != 2) return fail(4, "expected version 2 of OpenEXR, found {}", flags_ & 0xff);
        at_ = 8;
        const bool multipart = (flags_ & kMultipart) != 0;
        for (bool more = true; more;) {
            Part part;
            part.deep = (flags_ & kDeep) != 0;
            read_part(part);
            parts_.push_back(std::move(part));
            if (!multipart) break;
            if (parts_.size() > kPartsMax) fail(at_, "expected no more than {} parts", kPartsMax);
            more = bytes_.all_of(at_, 1, "another part, or the end of the list of parts")[0] != std::byte{0};
            if (!more) ++at_;
        }
        if (!bytes_.error()) describe(multipart);
        if (!bytes_.error() && !multipart && header_.expected_bytes == 0) find_cut(parts_.front());
    }

private:
    template <typename... Args>
    void fail(std::uint64_t byte, fmt::format_string<Args...> what, Args&&... args) {
        bytes_.fail(byte, fmt::format(what, std::forward<Args>(args)...));
    }

    /// A table lists the chunks of compressed lines; the last chunk shows whether the file is whole. A check
    /// beyond the part of the header that was read is skipped without an error.
    void find_cut(const Part& part) {
        const bool known = part.compression < static_cast<int>(std::size(kChunkLines));
        if (!known || part.deep || part.tile_width > 0) return;
        const auto lines = static_cast<std::uint64_t>(kChunkLines[part.compression]);
        const std::uint64_t table_bytes = (static_cast<std::uint64_t>(part.height) + lines - 1) / lines * 8;
        if (table_bytes > kTableBytesMax || at_ >= bytes_.file_bytes()) return;
        const auto table = bytes_.look(at_, static_cast<std::size_t>(table_bytes));
        if (!table) return keep_unless_bad_input(table.error());
        std::uint64_t last = at_ + table_bytes;
        for (std::size_t at = 0; at + 8 <= table->size(); at += 8)
            last = std::max(last, load<std::uint64_t>(*table, at, false));
        const auto chunk = bytes_.look(last, 8);
        if (!chunk) return keep_unless_bad_input(chunk.error());
        const bool whole =
            chunk->size() == 8 && load<std::uint32_t>(*chunk, 4, false) <= bytes_.file_bytes() - last - 8;
        if (whole) return;
        header_.cut = bytes_.problem(
            bytes_.file_bytes(),
            fmt::format("the file ends here, expected the chunk of lines at byte {} by its table", last));
    }

    void keep_unless_bad_input(const Error& error) {
        if (error.kind != ErrorKind::bad_input) bytes_.fail(error);
    }

    /// A text that ends with a zero; empty after an error.
    std::string text(const char* what) {
        const auto have = bytes_.up_to(at_, kNameMax);
        const auto end = std::find(have.begin(), have.end(), std::byte{0});
        if (end == have.end()) {
            if (have.size() < kNameMax) {
                fail(bytes_.file_bytes(), "the file ends here, expected {}", what);
            } else {
                fail(at_, "expected {} of at most {} letters", what, kNameMax - 1);
            }
            return "";
        }
        std::string out(reinterpret_cast<const char*>(have.data()),
                        static_cast<std::size_t>(end - have.begin()));
        at_ += out.size() + 1;
        return out;
    }

    void read_part(Part& part) {
        const std::uint64_t begin = at_;
        for (;;) {
            const std::uint64_t attribute_at = at_;
            const std::string name = text("the name of an attribute");
            if (name.empty()) break;
            const std::string type = text("the type of an attribute");
            const auto written =
                load<std::uint32_t>(bytes_.all_of(at_, 4, "the size of an attribute"), 0, false);
            const std::uint64_t value = at_ + 4;
            if (written >= kNegative) {
                return fail(at_, "the attribute at byte {} has a negative size, {}", attribute_at,
                            static_cast<std::int32_t>(written));
            }
            // Values whose kind implies a length are read by that length, as all readers do, because some files
            // state wrong sizes.
            if (type == "chlist") {
                at_ = value;
                read_channels(part);
                continue;
            }
            const std::uint32_t size = fixed_bytes(type).value_or(written);
            if (size > bytes_.file_bytes() || value > bytes_.file_bytes() - size) {
                return fail(at_,
                            "the attribute at byte {} has {} bytes, more than there are up to the end "
                            "of the file at {}",
                            attribute_at, size, bytes_.file_bytes());
            }
            at_ = value;
            read_attribute(name, type, size, part);
            at_ = value + size;
        }
        check_part(part, begin);
    }

    void check_part(const Part& part, std::uint64_t begin) {
        const bool tiled = (flags_ & kTiled) != 0 && (flags_ & kMultipart) == 0;
        if (part.window_at == 0) {
            fail(begin, "expected a header with the attribute dataWindow");
        } else if (part.compression < 0) {
            fail(begin, "expected a header with the attribute compression");
        } else if (part.channels.empty()) {
            fail(begin, "expected a header with at least one channel");
        } else if (tiled && part.tile_width == 0) {
            fail(begin, "expected a header with the attribute tiles");
        }
    }

    void read_attribute(const std::string& name, const std::string& type, std::uint32_t size, Part& part) {
        const auto value = [&](std::size_t bytes) { return bytes_.all_of(at_, bytes, name); };
        if (name == "compression" && type == "compression") {
            part.compression = std::to_integer<int>(value(1)[0]);
        } else if (name == "dataWindow" && type == "box2i") {
            read_window(value(16), part);
        } else if (name == "tiles" && type == "tiledesc") {
            read_tiles(value(9), part);
        } else if (name == "type" && type == "string" && size < kNameMax) {
            const auto field = value(size);
            const std::string kind(reinterpret_cast<const char*>(field.data()), field.size());
            part.deep = part.deep || kind.starts_with("deep");
        } else if (name == "framesPerSecond" && type == "rational") {
            const auto field = value(8);
            const auto num = static_cast<std::int32_t>(load<std::uint32_t>(field, 0, false));
            const auto den = load<std::uint32_t>(field, 4, false);
            if (num > 0 && den > 0) part.rate = rate_from(static_cast<double>(num) / static_cast<double>(den));
        } else if (name == "timeCode" && type == "timecode") {
            part.timecode = time_code(load<std::uint32_t>(value(8), 0, false));
        }
    }

    /// SMPTE: two digits a byte, flags above them: frames, seconds, minutes, hours from the low end.
    static std::string time_code(std::uint32_t field) {
        const auto two = [&](unsigned shift, unsigned tens_mask) {
            return (field >> (shift + 4) & tens_mask) * 10 + (field >> shift & 15);
        };
        const unsigned hours = two(24, 3);
        const unsigned minutes = two(16, 7);
        const unsigned seconds = two(8, 7);
        if (field == 0 || hours > 23 || minutes > 59 || seconds > 59) return "";
        return fmt::format("{:02}:{:02}:{:02}:{:02}", hours, minutes, seconds, two(0, 3));
    }

    void read_window(std::span<const std::byte> field, Part& part) {
        const auto i32 = [&](std::size_t offset) {
            return std::int64_t{static_cast<std::int32_t>(load<std::uint32_t>(field, offset, false))};
        };
        part.window_at = at_;
        part.x_min = i32(0);
        part.y_min = i32(4);
        part.width = i32(8) - i32(0) + 1;
        part.height = i32(12) - i32(4) + 1;
        if (part.width >= 1 && part.height >= 1) return;
        fail(at_, "expected a data window of one pixel at least, found ({}, {}) to ({}, {})", i32(0), i32(4),
             i32(8), i32(12));
    }

    void read_tiles(std::span<const std::byte> field, Part& part) {
        part.tile_width = load<std::uint32_t>(field, 0, false);
        part.tile_height = load<std::uint32_t>(field, 4, false);
        const auto mode = std::to_integer<unsigned>(field[8]);
        part.level_mode = static_cast<int>(mode & 15);
        part.round_up = mode >> 4 != 0;
        if (part.tile_width > 0 && part.tile_height > 0 && part.level_mode <= 2) return;
        fail(at_, "expected tiles with a size and a level mode of 0 to 2, found {} x {}, mode {}",
             part.tile_width, part.tile_height, part.level_mode);
    }

    void read_channels(Part& part) {
        while (!text("the name of a channel").empty()) {
            const auto field = bytes_.all_of(at_, 16, "a channel");
            const auto type = load<std::uint32_t>(field, 0, false);
            Channel channel;
            channel.type = static_cast<int>(type & 0xff);
            channel.x_sampling = static_cast<std::int32_t>(load<std::uint32_t>(field, 8, false));
            channel.y_sampling = static_cast<std::int32_t>(load<std::uint32_t>(field, 12, false));
            if (type > 2) return fail(at_, "expected pixel type 0, 1 or 2, found {}", type);
            if (channel.x_sampling < 1 || channel.y_sampling < 1) {
                return fail(at_ + 8, "expected a sampling of 1 or more, found {} and {}", channel.x_sampling,
                            channel.y_sampling);
            }
            part.channels.push_back(channel);
            at_ += 16;
        }
    }

    void describe(bool multipart) {
        const Part& first = parts_.front();
        header_.width = static_cast<std::uint64_t>(first.width);
        header_.height = static_cast<std::uint64_t>(first.height);
        header_.raster_at = first.window_at;
        header_.rate = first.rate;
        header_.timecode = first.timecode;
        Wide bytes = at_;
        bool by_size = false;
        for (const Part& part : parts_) {
            by_size = by_size || part.deep || part.compression != 0;
            if (by_size) break;
            bytes += part_bytes(part, multipart);
            if (bytes > kImageBytesMax) {
                return fail(part.window_at, "an image of {} x {} with {} channels would be larger than a TiB",
                            part.width, part.height, part.channels.size());
            }
        }
        if (!by_size) header_.expected_bytes = static_cast<std::uint64_t>(bytes);
        header_.image_begins = at_;
        header_.image_begins_at = 8;
        const auto known = static_cast<int>(std::size(kCompressions));
        const std::string compression = first.compression < known
                                            ? kCompressions[first.compression]
                                            : fmt::format("compression {}", first.compression);
        header_.format =
            fmt::format("exr {}{} {}{} {}x{}", first.deep ? "deep " : "", type_name(first), compression,
                        first.tile_width > 0 ? " tiled" : "", first.width, first.height);
        if (parts_.size() > 1) header_.format += fmt::format(", {} parts", parts_.size());
    }

    HeaderBytes& bytes_;
    ImageHeader& header_;
    std::uint32_t flags_ = 0;
    std::uint64_t at_ = 0;
    std::vector<Part> parts_;
};

}  // namespace

void read_exr_header(HeaderBytes& bytes, ImageHeader& header) {
    ExrReader(bytes, header).read();
}

}  // namespace streamsim::media
